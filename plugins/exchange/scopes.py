"""The scopes that a token needs for the file of a trip, which has objects of all areas."""

from plugins.exchange.own_file import OwnFile
from plugins.exchange.tables import TABLES
from trips.models.events import trip_objects
from users.models import User
from users.models.token import require_scopes


def require_to_export(by: User) -> None:
    """Raise `InsufficientScope` unless the token of `by` may read all that a file has."""
    require_scopes(by, {f"{kind.area}:read" for kind in trip_objects().values()})


def require_to_import(file: OwnFile, by: User) -> None:
    """Raise `InsufficientScope` if the file has objects that the token of `by` may not write."""
    areas = {kind.rows().model: kind.area for kind in trip_objects().values()}
    tables = [table for table in TABLES if table.model in areas]
    with_rows = [table for table in tables if next(file.items(f"{table.name}.item"), None)]
    require_scopes(by, {f"{areas[table.model]}:write" for table in with_rows})
