from django.db import migrations


class Migration(migrations.Migration):
    """The columns stay as long as a release may run that uses them."""

    dependencies = [
        ('trips', '0008_index_of_deleted_trips'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint('trip', 'trip_periods_in_order'),
                migrations.RemoveField('trip', 'period'),
                migrations.RemoveField('trip', 'oldest_open_period'),
            ],
        ),
    ]
