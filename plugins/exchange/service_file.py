"""The whole service as a file, with ids, to move it between SQLite and PostgreSQL.

A ZIP archive with a file for each table, which has a row as a JSON array on each line, and
`manifest.json`, which says what is in it. It has password hashes, so only its owner may read it.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import chain, islice
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

import orjson
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model
from django.utils import timezone

from splits.reports.audit import Difference, differences
from tripcompanion.database.snapshots import snapshot
from users.models import User

FORMAT, VERSION = "trip-companion-service", 1
CHUNK_ROWS = 5000
#: Rows per INSERT: with one for each row, PostgreSQL takes several times as long.
STATEMENT_ROWS = 500
#: Tables that each service fills itself, and those that are useless in another one.
_LEFT_OUT = {"auth.Permission", "kit.SchemaFloor", "kit.ThrottleCounter", "sessions.Session"}
#: Fields whose values JSON has as the database has them.
_PLAIN = (models.IntegerField, models.BooleanField, models.CharField, models.TextField)

#: Passes rows on and shows how many, as `Progress` does.
Watch = Callable[..., Iterable[Any]]


class Unusable(Exception):
    """The file cannot be imported here; the text says why."""


def moved_models() -> list[type[Model]]:
    """The models whose tables are in the file."""
    found = apps.get_models(include_auto_created=True)
    moved = [model for model in found if not model._meta.proxy and model._meta.managed]
    return [model for model in moved if model._meta.label not in _LEFT_OUT]


def export_service(file: IO[bytes], watch: Watch) -> dict[str, int]:
    """Write the whole service as it is at this moment; returns the rows of each table."""
    counts: dict[str, int] = {}
    with snapshot(), ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for model in moved_models():
            label = model._meta.label
            with archive.open(f"{label}.jsonl", "w", force_zip64=True) as table:
                counts[label] = _write_table(model, table, watch)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "exportedAt": str(timezone.now()),
            "migrations": _migrations(),
            "columns": {model._meta.label: _names(model) for model in moved_models()},
            "rows": counts,
        }
        archive.writestr("manifest.json", json.dumps(manifest, indent=1))
    return counts


def import_service(file: IO[bytes], watch: Watch) -> tuple[int, list[Difference]]:
    """Write all rows of `file` into this empty service, if an audit of them finds nothing wrong.

    Returns the number of rows, and the differences; with some, nothing is written. Raises
    `Unusable`.
    """
    with ZipFile(file) as archive, transaction.atomic():
        manifest = json.loads(archive.read("manifest.json"))
        _require_usable(manifest)
        empty_tables()
        for model in moved_models():
            label = model._meta.label
            with archive.open(f"{label}.jsonl") as table:
                count = _read_table(model, table, manifest["rows"][label], watch)
            if count != manifest["rows"][label]:
                raise Unusable(f"{label} has {count} rows instead of {manifest['rows'][label]}.")
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), moved_models()):
                cursor.execute(statement)
            cursor.execute("ANALYZE")
        found = list(differences(watch=watch))
        transaction.set_rollback(bool(found))
    return sum(manifest["rows"].values()), found


def empty_tables() -> None:
    """Delete all rows: those that migrations make have other ids elsewhere.

    Permissions, which nobody has here, refer to some of them; the next migration makes them again.
    """
    for model in (apps.get_model("auth", "Permission"), *reversed(moved_models())):
        model._base_manager.all()._raw_delete(connection.alias)


def _require_usable(manifest: dict[str, Any]) -> None:
    if (manifest["format"], manifest["version"]) != (FORMAT, VERSION):
        raise Unusable("This is not the file of a service.")
    if User.objects.exists():
        raise Unusable("This service has accounts already; import into an empty database.")
    columns = {model._meta.label: _names(model) for model in moved_models()}
    if (manifest["migrations"], manifest["columns"]) != (_migrations(), columns):
        raise Unusable("The file is of another release; export and import with the same one.")


def _migrations() -> list[list[str]]:
    """The applied migrations of the installed apps."""
    installed = {app.label for app in apps.get_app_configs()}
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted([app, name] for app, name in applied if app in installed)


def _names(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


def _write_table(model: type[Model], table: IO[bytes], watch: Watch) -> int:
    rows = model._base_manager.order_by("pk").values_list(*_names(model))
    label, count = model._meta.label, 0
    for row in watch(rows.iterator(CHUNK_ROWS), desc=label, total=rows.count()):
        table.write(orjson.dumps(row, default=_text, option=orjson.OPT_APPEND_NEWLINE))
        count += 1
    return count


def _text(value: Any) -> str:
    """A value that JSON does not have: bytes in base 64, decimals by their digits."""
    is_bytes = isinstance(value, bytes | memoryview)
    return b64encode(value).decode() if is_bytes else format(value, "f")


def _read_table(model: type[Model], table: IO[bytes], total: int, watch: Watch) -> int:
    quote, fields = connection.ops.quote_name, model._meta.concrete_fields
    columns = ", ".join(quote(str(field.column)) for field in fields)
    row_sql = f"({', '.join(['%s'] * len(fields))})"
    sql = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES "  # noqa: S608 -- names
    readers = [_reader(field) for field in fields]
    lines, count = iter(watch(table, desc=model._meta.label, total=total)), 0
    with connection.cursor() as cursor:
        while rows := [_stored(line, readers) for line in islice(lines, STATEMENT_ROWS)]:
            values = ", ".join([row_sql] * len(rows))
            cursor.execute(sql + values, [*chain.from_iterable(rows)])
            count += len(rows)
    return count


def _stored(line: bytes, readers: list[Callable[[Any], Any]]) -> list[Any]:
    values = orjson.loads(line)
    return [
        None if value is None else read(value) for read, value in zip(readers, values, strict=True)
    ]


def _reader(field: Any) -> Callable[[Any], Any]:
    """Turns a value of the file into one that the database takes."""
    kind = field.target_field if field.is_relation else field
    if isinstance(kind, models.BinaryField):
        return lambda text: kind.get_db_prep_save(b64decode(text), connection)
    if isinstance(kind, _PLAIN):
        return lambda value: value
    if isinstance(kind, models.DateTimeField):
        return lambda text: connection.ops.adapt_datetimefield_value(datetime.fromisoformat(text))
    return lambda value: kind.get_db_prep_save(kind.to_python(value), connection)
