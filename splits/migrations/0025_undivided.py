from django.db import migrations, models

from tripcompanion.database.operations import AddIndexWithoutLock


class Migration(migrations.Migration):
    """Finds the few expenses that no longer follow their division, for statistics."""

    atomic = False

    dependencies = [
        ('splits', '0024_refunds'),
    ]

    operations = [
        AddIndexWithoutLock('expense', models.Index(condition=models.Q(('divided', False)), fields=['trip', 'expense_date'], name='expense_undivided')),
    ]
