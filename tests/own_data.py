"""What apps store about an account, as the export of its data has it."""

import json
from typing import Any

import pytest

from tests.trips.access import endpoints
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.api.serializers import camel_case
from tripcompanion.compiled import serialize
from tripcompanion.plugin import plugins

PATH = "/api/users/me/export"
#: For tests of its files, which only the archive has.
archived = pytest.mark.skipif(
    all(end.route != PATH for end in endpoints()), reason="without the export of an account"
)


def own_data(user: Any) -> dict[str, list[Any]]:
    """The rows of all lists of `Plugin.personal_data`, by their names."""
    lists = [rows for app in plugins() for rows in app.personal_data()]
    found = {
        camel_case(each.name): [serialize(each.shape, row, {}) for row in each.of(user)]
        for each in lists
    }
    return json.loads(ExactJSONRenderer().render(found))
