from django.db import migrations

from tripcompanion.database.operations import RemoveForeignKeyIndex


class Migration(migrations.Migration):
    """Drops indexes whose columns are the first ones of another index."""

    atomic = False

    dependencies = [
        ('splits', '0008_audit_snapshot'),
    ]

    operations = [
        RemoveForeignKeyIndex('debt', 'split'),
        RemoveForeignKeyIndex('expense', 'trip'),
        RemoveForeignKeyIndex('payer', 'expense'),
        RemoveForeignKeyIndex('split', 'expense'),
    ]
