"""Which compiled statements name the trip, so that one node of a distributed database is asked.

Not among them are those that fetch the row of a route: they know only the ids in the path.
"""

import re
import sys
from functools import partial

import pytest
from django.urls import get_resolver

from plugins.citus.management.commands.distribute import distributed_tables
from tests.compiled_only import compiled_only
from tests.sources import PACKAGES
from tests.walked import merged
from tripcompanion.compiled import CompiledQuery, CompiledUpdate
from trips.models import CompiledForViewer
from trips.models.visibility import ViewerParam

pytestmark = [compiled_only, pytest.mark.django_db]

#: Statements on tables of trips that do not name one, and why.
ACROSS = {
    "splits.models.reads.pending_of": "A person's open splits are of all their trips.",
    "splits.reports.balances._owed_sums": "What a person owes is of all their trips.",
    "trips.models.trip.trips_of": "A person's trips.",
    "splits.models.reads.splits_of": "By the expense, which the caller may see.",
    **merged("ACROSS"),
}

_NAMED = re.compile(r'"(?:\w*trip_id"|trips_trip"\."id") = \(?%s')


def compiled():
    """Every compiled statement of the project by its name."""
    # Imports all views, and so all statements.
    assert get_resolver().url_patterns
    seen = set()
    for module in list(sys.modules):
        if module.split(".")[0] not in PACKAGES:
            continue
        for name, found in vars(sys.modules[module]).items():
            if not isinstance(found, CompiledQuery | CompiledUpdate | CompiledForViewer):
                continue
            if id(found) in seen or found._build.__module__ != module:
                continue
            seen.add(id(found))
            if isinstance(found, CompiledForViewer):
                viewer = ViewerParam(is_admin=False, is_confined=False)
                yield f"{module}.{name}", CompiledQuery(partial(found._build, user=viewer))
            else:
                yield f"{module}.{name}", found


def test_statements_on_tables_of_trips_name_the_trip_or_are_listed():
    across = set()
    tables = distributed_tables()
    for name, query in compiled():
        sql = query._statement.sql
        if any(f'"{table}"' in sql for table in tables) and not _NAMED.search(sql):
            across.add(name)
    assert across == ACROSS.keys()
