import django.db.models.deletion
from django.db import migrations, models

from tripcompanion.database.operations import SetFromParent


class Migration(migrations.Migration):

    dependencies = [
        ('splits', '0011_split_trip'),
    ]

    operations = [
        # The column stays NULL-able as long as a release may run that does not know it.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.AddField(
                    model_name='allocation',
                    name='trip',
                    field=models.ForeignKey(db_constraint=False, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip'),
                ),
            ],
            state_operations=[
                migrations.AddField(
                    model_name='allocation',
                    name='trip',
                    field=models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip'),
                ),
            ],
        ),
        SetFromParent('splits_allocation', 'trip_id', {'debt_id': 'splits_debt', 'settlement_id': 'splits_settlement'}),
    ]
