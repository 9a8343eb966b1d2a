from django.db import migrations, transaction

from splits.offsets import offset_closings


def add_offsets(apps, schema_editor):
    """Trip by trip, each under its lock."""
    connection = schema_editor.connection
    is_postgresql = connection.vendor == "postgresql"
    halves = apps.get_model("splits", "Allocation").objects.filter(closed_by__isnull=False)
    for trip_id in list(halves.order_by("trip").values_list("trip", flat=True).distinct()):
        with transaction.atomic():
            if is_postgresql:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE", [trip_id])
            offset_closings(connection, trip_id)


class Migration(migrations.Migration):
    """What was closed before there were offsets."""

    atomic = False

    dependencies = [
        ('splits', '0032_indexes_and_constraints'),
    ]

    operations = [
        migrations.RunPython(add_offsets, migrations.RunPython.noop),
    ]
