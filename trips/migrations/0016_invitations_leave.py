from django.db import migrations


class Migration(migrations.Migration):
    """The table of invitations stays as it is; the model belongs to the app `invitations`."""

    dependencies = [
        ('trips', '0015_events_of_apps'),
        # Before it, mails had a foreign key to the table.
        ('users', '0013_no_keys_upwards'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel('Invitation')],
        ),
    ]
