"""What closes a trip is allocations, not a period.

A closed period becomes allocations that name the settlement that closed it, which the previous
release reads as well. While it still runs, triggers do the same with each period that it closes,
and keep every period open. A later release drops them, with the tables and columns of periods.
"""

import json

from django.db import migrations, transaction

#: For one row of `splits_closedperiod`: its trip, number, settlement and time.
_CLOSE = (
    "INSERT INTO splits_allocation (trip_id, debt_id, settlement_id, closed_by_id, amount_minor) "
    "SELECT trip_id, id, NULL, {settlement}, open_minor FROM splits_debt "
    "WHERE trip_id = {trip} AND period = {number} AND open_minor > 0",
    "INSERT INTO splits_allocation (trip_id, debt_id, settlement_id, closed_by_id, amount_minor) "
    "SELECT trip_id, NULL, id, {settlement}, credit_minor FROM splits_settlement "
    "WHERE trip_id = {trip} AND period = {number} AND credit_minor > 0",
    "UPDATE splits_debt SET open_minor = 0, covered_at = {at} "
    "WHERE trip_id = {trip} AND period = {number} AND open_minor > 0",
    "UPDATE splits_settlement SET credit_minor = 0 "
    "WHERE trip_id = {trip} AND period = {number} AND credit_minor > 0",
    "DELETE FROM splits_closedperiod WHERE trip_id = {trip} AND number = {number}",
)
_OF_NEW = {"trip": "NEW.trip_id", "number": "NEW.number", "settlement": "NEW.settlement_id", "at": "NEW.closed_at"}
_TRIGGERS = {
    "splits_close_period": (
        "AFTER INSERT ON splits_closedperiod",
        "; ".join(_CLOSE).format(**_OF_NEW) + "; RETURN NULL",
    ),
    "splits_no_closed_sum": ("BEFORE INSERT ON splits_closedsum", "RETURN NULL"),
    "trips_period_stays_open": (
        "BEFORE UPDATE OF oldest_open_period ON trips_trip",
        "NEW.oldest_open_period := 0; RETURN NEW",
    ),
}


def drop_foreign_keys(apps, schema_editor):
    """Of the tables that no model describes any more: nothing else would know of their rows."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with transaction.atomic(), schema_editor.connection.cursor() as cursor:
        # In the order in which commands use them, and all before the first change.
        cursor.execute(
            "LOCK TABLE trips_trip, trips_member, splits_settlement, splits_closedperiod, splits_closedsum"
        )
        cursor.execute(
            "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'f' "
            "AND conrelid IN ('splits_closedperiod'::regclass, 'splits_closedsum'::regclass)"
        )
        for table, constraint in cursor.fetchall():
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"')


def add_triggers(apps, schema_editor):
    if _may_run_beside_the_previous_release(schema_editor.connection):
        for name, (event, body) in _TRIGGERS.items():
            schema_editor.execute(
                f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {body}; END$$"
            )
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {name} ON {event.split()[-1]}")
            schema_editor.execute(
                f"CREATE TRIGGER {name} {event} FOR EACH ROW EXECUTE FUNCTION {name}()"
            )


def _may_run_beside_the_previous_release(connection):
    """SQLite has one host, and Citus no triggers: all hosts are updated at once there."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'")
        return cursor.fetchone() is None


def close_by_allocations(apps, schema_editor):
    connection = schema_editor.connection
    ClosedPeriod = apps.get_model("splits", "ClosedPeriod")
    ClosedSum = apps.get_model("splits", "ClosedSum")
    for trip_id in ClosedPeriod.objects.order_by("trip").values_list("trip", flat=True).distinct():
        with transaction.atomic(), connection.cursor() as cursor:
            # Locks the trip.
            cursor.execute("UPDATE trips_trip SET oldest_open_period = 0 WHERE id = %s", [trip_id])
            for number, settlement, at in ClosedPeriod.objects.filter(trip=trip_id).values_list(
                "number", "settlement", "closed_at"
            ):
                values = {"trip": trip_id, "number": number, "settlement": settlement, "at": at}
                places = {name: f"%({name})s" for name in values}
                for statement in _CLOSE:
                    cursor.execute(statement.format(**places), values)
            ClosedSum.objects.filter(settlement__trip=trip_id).delete()


def name_merged_guests(apps, schema_editor):
    """Where an expense names one of two merged people, their rank is all that is to keep.

    Where it named both, its parts are no division any more.
    """
    Expense = apps.get_model("splits", "Expense")
    for row in Expense.objects.exclude(merged="").filter(merged_guests="").iterator():
        merged = json.loads(row.merged)
        users = [user for user, *_rest in merged]
        if len(users) == len(set(users)):
            row.merged_guests = "".join(f" {user}:{person}" for user, person, *_ in merged if user != person)
        else:
            row.divided = False
        row.save(update_fields=["merged_guests", "divided"])


class Migration(migrations.Migration):

    atomic = False

    replaces = [
        ('splits', '0018_closings'), ('splits', '0020_webhooks_leave'), ('splits', '0029_no_snapshot'),
        ('splits', '0034_saved_filters_leave'), ('splits', '0035_comments_leave'),
        ('splits', '0027_saved_filters'),
    ]

    dependencies = [
        ('splits', '0016_expenses_and_rates'),
        ('trips', '0001_tables_of_1_0_0'),
    ]

    operations = [
        migrations.RunPython(add_triggers, migrations.RunPython.noop),
        migrations.RunPython(close_by_allocations, migrations.RunPython.noop),
        migrations.RunPython(name_merged_guests, migrations.RunPython.noop),
        migrations.RunPython(drop_foreign_keys, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveIndex('debt', 'debt_open_since'),
                migrations.RemoveIndex('settlement', 'settlement_credit_since'),
                migrations.RemoveField('debt', 'period'),
                migrations.RemoveField('settlement', 'period'),
                migrations.RemoveField('expense', 'merged'),
                migrations.RemoveField('auditrun', 'snapshot'),
                migrations.DeleteModel('ClosedSum'),
                migrations.DeleteModel('ClosedPeriod'),
                # The tables of plugins stay as they are; these models belong to them.
                migrations.DeleteModel('WebhookPosition'),
                migrations.DeleteModel('WebhookDelivery'),
                migrations.DeleteModel('Webhook'),
                migrations.DeleteModel('Comment'),
            ],
        ),
    ]
