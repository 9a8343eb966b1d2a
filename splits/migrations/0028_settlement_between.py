from django.db import migrations, models

from tripcompanion.database.operations import AddIndexWithoutLock, RemoveForeignKeyIndex


class Migration(migrations.Migration):
    """Finds what one person sent to another, with the amounts, for statistics."""

    atomic = False

    dependencies = [
        ('splits', '0027_saved_filters'),
    ]

    operations = [
        AddIndexWithoutLock('settlement', models.Index(fields=['sender', 'receiver', 'trip', 'amount_minor'], name='settlement_between')),
        RemoveForeignKeyIndex('settlement', 'sender'),
    ]
