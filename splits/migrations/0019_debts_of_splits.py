from django.db import migrations, models

from tripcompanion.database.operations import AddIndexWithoutLock, RemoveForeignKeyIndex


class Migration(migrations.Migration):
    """Finds the debts of a split by trip and split, as the statements name them."""

    atomic = False

    dependencies = [
        ('splits', '0018_closings'),
    ]

    operations = [
        AddIndexWithoutLock('debt', models.Index(fields=['trip', 'split'], name='debt_of_split')),
        RemoveForeignKeyIndex('debt', 'trip'),
    ]
