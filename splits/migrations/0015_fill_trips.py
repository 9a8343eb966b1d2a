from django.db import migrations

from tripcompanion.database.operations import fill_from_parent


class Migration(migrations.Migration):
    """Rows of before; those that the previous release inserts have their trip by a trigger."""

    atomic = False

    dependencies = [
        ('splits', '0014_comment_trip'),
    ]

    operations = [
        fill_from_parent('splits_payer', 'trip_id', {'expense_id': 'splits_expense'}),
        fill_from_parent('splits_split', 'trip_id', {'expense_id': 'splits_expense'}),
        fill_from_parent('splits_allocation', 'trip_id', {'debt_id': 'splits_debt', 'settlement_id': 'splits_settlement'}),
        fill_from_parent('splits_closedsum', 'trip_id', {'settlement_id': 'splits_settlement'}),
        fill_from_parent('splits_comment', 'trip_id', {'expense_id': 'splits_expense'}),
    ]
