from django.db import migrations, models


class Migration(migrations.Migration):
    """The columns stay as long as a release may run that uses them."""

    replaces = [
        ('trips', '0009_no_periods'), ('trips', '0012_default_division'),
        ('trips', '0014_category_budgets'),
    ]

    dependencies = [
        ('trips', '0001_tables_of_1_0_0'),
    ]

    operations = [
        migrations.AddField(
            model_name='trip',
            name='stored_default_division',
            field=models.TextField(default=None, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='trip',
            name='stored_category_budgets',
            field=models.TextField(default=None, editable=False, null=True),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint('trip', 'trip_periods_in_order'),
                migrations.RemoveField('trip', 'period'),
                migrations.RemoveField('trip', 'oldest_open_period'),
            ],
        ),
    ]
