"""Everything in the database, to compare it before and after a request."""

from typing import Any

from django.apps import apps
from django.db import connection


def everything_stored() -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables; read past the ORM, which would take most of the suite's time."""
    stored = {}
    with connection.cursor() as cursor:
        for model in apps.get_models():
            meta = model._meta
            cursor.execute(f'SELECT * FROM "{meta.db_table}" ORDER BY "{meta.pk.column}"')  # noqa: S608 -- names only
            names = [column[0] for column in cursor.description]
            stored[meta.label] = [dict(zip(names, row, strict=True)) for row in cursor]
    return stored
