from django.db import migrations


class Migration(migrations.Migration):
    """The column stays as long as a release may run that uses it."""

    dependencies = [
        ('users', '0014_recurring_mail'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField('user', 'wal_position'),
            ],
        ),
    ]
