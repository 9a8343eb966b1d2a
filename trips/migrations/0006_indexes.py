from django.db import migrations

from tripcompanion.database.operations import RemoveForeignKeyIndex


class Migration(migrations.Migration):
    """Drops indexes whose columns are the first ones of another index."""

    atomic = False

    dependencies = [
        ('trips', '0005_journal'),
    ]

    operations = [
        RemoveForeignKeyIndex('member', 'trip'),
    ]
