import trips.models.events
from django.db import migrations, models


class Migration(migrations.Migration):
    """The table of invitations stays as it is; the model belongs to the app `invitations`."""

    replaces = [
        ('trips', '0011_imported_history'), ('trips', '0015_events_of_apps'),
        ('trips', '0016_invitations_leave'),
    ]

    dependencies = [
        ('trips', '0010_answers'),
        # Before it, mails had a foreign key to the table.
        ('users', '0010_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='journalentry',
            name='author_name',
            field=models.CharField(db_default='', default='', editable=False, max_length=50),
        ),
        migrations.AlterField(
            model_name='journalentry',
            name='via',
            field=models.CharField(choices=[('session', 'logged in'), ('token', 'scoped token'), ('admin', 'admin site'), ('service', 'service'), ('import', 'imported file')], max_length=7, verbose_name='via'),
        ),
        migrations.AlterField(
            model_name='journalentry',
            name='event',
            field=models.CharField(choices=trips.models.events.all_events, max_length=24, verbose_name='event'),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel('Invitation')],
        ),
    ]
