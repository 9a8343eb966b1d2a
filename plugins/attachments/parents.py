"""Objects of other apps that have files; the models of such an app add its type to `PARENTS`.

The app has a table that says which file belongs to which object. A file names the type alone.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from django.db.models import Q

from trips.models.journal import Entry


class Parent(NamedTuple):
    """A type of objects that have files."""

    #: A scoped token sees the files with `area:read` and deletes them with `area:write`, besides
    #: the scopes for all files.
    area: str
    #: The condition on files whose object is not deleted.
    shown: Callable[[], Q]
    #: Locks the object of a file without a row for its uploader; at the end, the file has a row.
    attaching: Callable[[Any, Any], AbstractContextManager[Any]]
    #: What the journal says of an object that got a file or lost one: the ids before and after.
    changed: Callable[[Any, tuple[int | None, int | None]], Entry]
    #: Whether a file that others uploaded is this user's own.
    is_of: Callable[[Any, Any], bool]


#: By the names of the types in the API, such as `document`.
PARENTS: dict[str, Parent] = {}
