from django.db import migrations, models

from tripcompanion.database.operations import AddIndexWithoutLock, RemoveForeignKeyIndex


class Migration(migrations.Migration):
    """Finds somebody's splits of a trip, with their amounts, for statistics."""

    atomic = False

    dependencies = [
        ('splits', '0025_undivided'),
    ]

    operations = [
        AddIndexWithoutLock('split', models.Index(fields=['participant', 'trip', 'expense', 'amount_minor'], name='split_of_participant')),
        RemoveForeignKeyIndex('split', 'participant'),
    ]
