"""Names that a body or a query does not have. They are refused, with the names that there are.

Somebody who sends `payerId` means `paidByUserId`, and would not notice that it was ignored. What
only responses have may be sent back by PUT and PATCH with the value that it has.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django import forms
from django.utils.translation import gettext as _

#: The preference of clients whose unknown names are ignored (RFC 7240).
LENIENT = "handling=lenient"
#: How many unknown names of an object are told.
_MOST_TOLD = 20
#: How much of a name is compared and repeated.
_MAX_CHARS = 64
#: How short a name may be in which a letter is wrong.
_LEAST_CHARS = 4
#: What follows the name of a person in a body: `paidBy` of a response is `paidByUserId` there.
_ID_SUFFIXES = ("userid", "id", "userids")


def prefers_leniency(request: Any) -> bool:
    """Whether the client asks, by `Prefer: handling=lenient`, to ignore unknown names."""
    preferences = request.META.get("HTTP_PREFER", "").lower().split(",")
    tokens = (one.partition(";")[0].replace(" ", "").replace('"', "") for one in preferences)
    # Of a preference that is repeated, the first counts.
    return next((one for one in tokens if one.startswith("handling=")), "") == LENIENT


def refused_names(
    sent: Mapping[str, Any], known: Collection[str], answered: Iterable[Mapping[str, Any]] = ()
) -> dict[str, list[str]]:
    """The messages for the names in `sent` that are not `known`, by name.

    `answered` is what the response has in this place, of a list all rows.
    """
    errors: dict[str, list[str]] = {}
    for name, value in sent.items():
        if name in known:
            continue
        values = [place[name] for place in answered if name in place]
        if value not in values:
            errors[name[:_MAX_CHARS]] = [_text(name, tuple(known), bool(values))]
            if len(errors) == _MOST_TOLD:
                break
    return errors


def refused_parameters(
    sent: Mapping[str, Sequence[str]], known: Collection[str], filters: Mapping[str, Any]
) -> dict[str, list[str]]:
    """The messages for parameters of a query that are not `known`, or that are repeated, by name.

    Of a repeated one only the last value would count, but `filters` may take several.
    """
    errors = {} if sent.keys() <= set(known) else refused_names(sent, sorted(known))
    for name in sent.keys() & set(known):
        widget = filters[name].field.widget if name in filters else None
        if len(sent[name]) > 1 and not isinstance(widget, forms.MultipleHiddenInput):
            errors[name] = [_("Send this parameter once.")]
    return errors


def _text(name: str, known: tuple[str, ...], is_answered: bool) -> str:
    meant = _meant(name[:_MAX_CHARS], known)
    if is_answered:
        if meant:
            text = _("Only responses have this field, and its value differs: send %(name)s.")
            return text % {"name": meant}
        return _("Only responses have this field, and its value differs: leave it out.")
    if meant:
        return _("There is no such field; did you mean %(name)s?") % {"name": meant}
    if known:
        return _("There is no such field. There are: %(names)s.") % {"names": ", ".join(known)}
    return _("There is no such field; this operation takes none.")


def _meant(name: str, known: tuple[str, ...]) -> str | None:
    """The known name that `name` is probably meant to be."""
    forms = _forms_of(known)
    plain = _plain(name)
    return next((forms[form] for form in _near(plain) if form in forms), None)


@lru_cache(maxsize=256)
def _forms_of(known: tuple[str, ...]) -> dict[str, str]:
    """How each known name may be spelt."""
    names = {_plain(name): name for name in known}
    shortened = {
        plain.removesuffix(suffix): name
        for plain, name in names.items()
        for suffix in _ID_SUFFIXES
        if plain.endswith(suffix) and plain != suffix
    }
    wrong = {form: name for plain, name in names.items() for form in _near(plain)}
    return wrong | shortened | names


def _near(plain: str) -> Iterable[str]:
    """The name, and what it is without any one of its letters.

    Two names that have one of these in common differ by a letter that is missing, wrong or at
    another place.
    """
    yield plain
    if len(plain) >= _LEAST_CHARS:
        for place in range(len(plain)):
            yield plain[:place] + plain[place + 1 :]


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
