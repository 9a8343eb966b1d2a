"""Every index earns its space: none begins like another one of its table."""

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from tripcompanion.database.operations import RemoveForeignKeyIndex

OURS = ("kit", "splits", "trips", "users")
#: Without this one, PostgreSQL reads the whole table for a page of settlements (test_plans.py).
NEEDED = {("splits_settlement", ("trip_id",))}

pytestmark = pytest.mark.django_db


def indexes():
    """The columns of the complete indexes of our tables, those of a constraint included."""
    found: dict[str, list[tuple[str, ...]]] = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if not table.startswith(OURS):
                continue
            constraints = connection.introspection.get_constraints(cursor, table)
            for name, one in constraints.items():
                is_index = one["index"] or one["unique"] or one["primary_key"]
                if is_index and one["columns"] and not is_special(name):
                    found.setdefault(table, []).append(tuple(one["columns"]))
    return found


def is_special(name):
    """Whether an index is partial, or only for LIKE."""
    if connection.vendor == "postgresql":
        query = "SELECT indexdef ~ ' WHERE |_pattern_ops' FROM pg_indexes WHERE indexname = %s"
    else:
        query = "SELECT sql LIKE '%% WHERE %%' FROM sqlite_master WHERE name = %s"
    with connection.cursor() as cursor:
        cursor.execute(query, [name])
        return bool((cursor.fetchone() or [False])[0])


def test_no_index_is_a_prefix_of_another():
    found = indexes()
    assert len(found) > 15
    for table, columns in found.items():
        for one in columns:
            if (table, one) in NEEDED:
                continue
            longer = [other for other in columns if other[: len(one)] == one and other != one]
            assert not longer, f"{table}: {one} is the beginning of {longer[0]}"


@pytest.mark.usefixtures("migrations")
@pytest.mark.django_db(transaction=True)
def test_the_index_of_a_foreign_key_can_be_dropped_and_made_again():
    before = MigrationLoader(None).project_state()
    after = before.clone()
    operation = RemoveForeignKeyIndex("Settlement", "receiver")
    operation.state_forwards("splits", after)
    assert not after.models["splits", "settlement"].fields["receiver"].db_index
    complete = sorted(indexes()["splits_settlement"])
    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards("splits", editor, before, after)
    assert ("receiver_id",) not in indexes()["splits_settlement"]
    with connection.schema_editor(atomic=False) as editor:
        operation.database_backwards("splits", editor, after, before)
    assert sorted(indexes()["splits_settlement"]) == complete
