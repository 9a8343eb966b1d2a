from django.db import migrations, models

from tripcompanion.database.operations import AddIndexWithoutLock


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('splits', '0016_merged_guests'),
    ]

    operations = [
        AddIndexWithoutLock(
            model_name='debt',
            index=models.Index(condition=models.Q(('open_minor__gt', 0)), fields=['trip', 'debtor', 'creditor'], name='debt_open'),
        ),
        AddIndexWithoutLock(
            model_name='settlement',
            index=models.Index(condition=models.Q(('credit_minor__gt', 0)), fields=['trip', 'sender', 'receiver'], name='settlement_credit'),
        ),
    ]
