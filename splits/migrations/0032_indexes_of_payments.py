from django.db import migrations, models
from django.db.models import Q

from tripcompanion.database.operations import AddIndexWithoutLock, RemoveIndexWithoutLock


class Migration(migrations.Migration):
    """The indexes of lists and sums of payments know offsets; they replace those that do not."""

    atomic = False

    dependencies = [
        ('splits', '0031_offsets'),
    ]

    operations = [
        AddIndexWithoutLock('settlement', models.Index(fields=['closing', 'sender', 'receiver'], condition=Q(closing__isnull=False), name='settlement_offsets')),
        AddIndexWithoutLock('settlement', models.Index(fields=['trip', '-settled_on', '-id'], condition=Q(closing=None), name='settlement_latest')),
        AddIndexWithoutLock('settlement', models.Index(fields=['sender', 'receiver', 'trip', 'closing', 'amount_minor'], name='settlement_sent')),
        RemoveIndexWithoutLock('settlement', 'settlement_newest'),
        RemoveIndexWithoutLock('settlement', 'settlement_between'),
    ]
