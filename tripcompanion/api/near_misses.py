"""Unknown names in bodies and queries: ignored, unless they are near misses of known ones.

Somebody who sends `categry` means `category`, and would not notice that it was ignored. What a
response has under a name may be sent back, so clients can change what they read. With
`Prefer: handling=strict` (RFC 7240), every unknown name is refused.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.serializers import BaseSerializer, Serializer

#: How similar a name has to be to a known one: a letter of seven may be missing or wrong.
_SIMILAR = 0.86
#: How many unknown names are compared, because comparing takes time.
_MOST_UNKNOWN = 50
#: How much of an unknown name is compared, and kept in memory.
_COMPARED_CHARS = 64
#: What follows the name of a person in a body: `paidBy` of a response is `paidByUserId` there.
_ID_SUFFIXES = ("UserId", "Id", "UserIds")


def refused_names(
    sent: Mapping[str, Any],
    known: Iterable[str],
    shown: Iterable[str] = (),
    *,
    strict: bool = False,
) -> dict[str, list[str]]:
    """The messages for unknown names in `sent`, by name.

    `known` are the names that are read, `shown` those of responses, which may be sent back.
    """
    known = tuple(known)
    errors = {}
    for name in islice(sent.keys() - set(known), _MOST_UNKNOWN):
        meant = _meant(str(name), sent[name], known, frozenset(shown))
        if meant:
            errors[name] = [_("There is no such field; did you mean %(name)s?") % {"name": meant}]
        elif strict:
            errors[name] = [_("There is no such field.")]
    return errors


def _meant(name: str, value: Any, known: tuple[str, ...], shown: frozenset[str]) -> str | None:
    """The known name that `name` is probably meant to be."""
    if isinstance(value, int | str) and not isinstance(value, bool):
        for suffix in _ID_SUFFIXES:
            if name + suffix in known:
                return name + suffix
    return None if name in shown else _similar(name[:_COMPARED_CHARS], known)


@lru_cache(maxsize=1024)
def _similar(name: str, known: tuple[str, ...]) -> str | None:
    names = {_plain(other): other for other in known}
    found = get_close_matches(_plain(name), names, n=1, cutoff=_SIMILAR)
    return names[found[0]] if found else None


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


@cache
def names_in(shapes: frozenset[type[BaseSerializer]]) -> frozenset[str]:
    """All names of some serializers and of those that are nested in them."""
    names: set[str] = set()
    for shape in shapes:
        if issubclass(shape, Serializer):
            fields = shape().fields
            names |= fields.keys()
            inner = (getattr(field, "child", field) for field in fields.values())
            nested = {type(field) for field in inner if isinstance(field, Serializer)}
            names |= names_in(frozenset(nested)) if nested else set()
    return frozenset(names)
