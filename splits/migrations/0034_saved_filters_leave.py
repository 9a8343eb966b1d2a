from django.db import migrations


class Migration(migrations.Migration):
    """The table of saved filters stays as it is; the model belongs to the app `saved_filters`."""

    dependencies = [
        ('splits', '0033_closings_of_before'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel('SavedFilter')],
        ),
    ]
