"""Who the people of a file are: the caller, other accounts, members of the trip, or new guests."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError as InvalidAddress
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from plugins.exchange.description import Note, Person
from plugins.exchange.formats.reading import plain
from plugins.exchange.models import Import
from tripcompanion.api.problems import LimitReached
from trips.models import JournalEntry, Member, Trip
from trips.models.conflicts import InviteInstead
from trips.models.events import Event
from users.emails import email_key
from users.models import User

#: Lengths of the names of guests.
_SHORTEST, _LONGEST = 2, 50


@dataclass(frozen=True)
class PlannedPerson:
    """A person of the file: an account or a member with `user_id`, or else a new guest."""

    key: str
    name: str
    user_id: int | None
    is_member: bool
    guest: bool
    #: The name and the address in the file.
    original: str
    email: str | None


def planned_people(
    people: Iterable[Person],
    caller: User,
    trip: Trip | None,
    mapping: Mapping[str, int | None],
    *,
    is_own: bool = False,
) -> list[PlannedPerson]:
    """Who each person is. `mapping` is the caller's: user ids by keys or names; None is a guest.

    Without it, the keys in a file of the trip itself (`is_own`) are the ids of its members, or of
    those whose place a member took. Somebody whom an earlier import into the trip made or found is
    the same again, the one who saved the file is the caller, and an address of the file leads to
    an account only if the caller shares a trip with it. Names never do.

    Raises `ValidationError` for an id of nobody, `InviteInstead`, and `LimitReached`.
    """
    rows = list(people)
    LimitReached.require_at_most(settings.QUOTA_MEMBERS, len(rows))
    members = _members(trip)
    successors = _successors(trip) if trip else {}
    earlier = _from_earlier_imports(trip, members, successors)
    own = {row.key: _member_for(int(row.key), members, successors) for row in rows if is_own}
    by_email = _companions(caller, rows)
    _require_named(rows, mapping)

    def account_of(row: Person) -> int | None:
        if row.key in mapping or row.name in mapping:
            return mapping.get(row.key, mapping.get(row.name))
        known = own.get(row.key) or earlier.get((row.key, row.name))
        saved_it = caller.pk if row.is_caller else None
        return known or by_email.get(_key_of(row.email or "")) or saved_it

    found = {row.key: account_of(row) for row in rows}
    _require_addable({*mapping.values()} - members.keys() - {caller.pk, None})
    _require_different(pk for key, pk in found.items() if own.get(key) != pk or key == str(pk))
    return [
        PlannedPerson(
            row.key,
            _name(row.name),
            found[row.key],
            found[row.key] in members or (trip is None and found[row.key] == caller.pk),
            members.get(found[row.key], found[row.key] is None),
            row.name,
            row.email,
        )
        for row in rows
    ]


def changed_names(people: Iterable[PlannedPerson]) -> list[Note]:
    """A note with the names in the file of new guests who get other ones."""
    names = [one.original for one in people if one.user_id is None and one.name != one.original]
    about = {"names": ", ".join(names)[:200], "shortest": _SHORTEST, "longest": _LONGEST}
    return [Note("names_changed", about)] if names else []


def _require_named(people: Iterable[Person], mapping: Iterable[str]) -> None:
    """Raise `ValidationError` unless the file has everybody for whom the caller chose somebody."""
    unknown = {*mapping}.difference(*((person.key, person.name) for person in people))
    if unknown:
        text = _("Not in the file: %(names)s.") % {"names": ", ".join(sorted(unknown))[:200]}
        raise ValidationError({"mapping": [text]})


def _name(name: str) -> str:
    """A name that a guest may have."""
    shown = plain(name).replace("\n", " ").replace("\t", " ")
    return shown[:_LONGEST].strip().ljust(_SHORTEST, ".")


def _members(trip: Trip | None) -> dict[int | None, bool]:
    """The members of the trip by their user ids, and whether each is a guest."""
    if trip is None:
        return {}
    present = Member.objects.present().filter(trip=trip.pk).order_by()
    return dict(present.values_list("user", "user__is_guest"))


def _from_earlier_imports(
    trip: Trip | None, members: Container[int | None], successors: Mapping[int, int]
) -> dict[tuple[str, str], int]:
    """Who people were in earlier imports into the trip, if they are members; by key and name."""
    if trip is None:
        return {}
    found = {}
    for row in Import.objects.recorded().filter(trip=trip.pk).order_by("pk"):
        for person in row.plan.people:
            if user_id := _member_for(person.user_id, members, successors):
                found[person.key, person.original] = user_id
    return found


def _member_for(
    user_id: int, members: Container[int | None], successors: Mapping[int, int]
) -> int | None:
    """The member who somebody is, or who took their place; None without one."""
    turns = len(successors)
    while user_id in successors and user_id not in members and turns:
        user_id, turns = successors[user_id], turns - 1
    return user_id if user_id in members else None


def _successors(trip: Trip) -> dict[int, int]:
    """Who took the place of whom, as the journal says it: of guests, and of those who left."""
    events = (Event.GUEST_CLAIMED, Event.GUEST_MERGED, Event.GUEST_ADDED)
    rows = JournalEntry.objects.filter(trip=trip.pk, event__in=events).order_by("number")
    pairs = ((row.changes.get("userId", {}).get("old"), row.object_id) for row in rows)
    return {before: after for before, after in pairs if before}


def _key_of(email: str) -> str:
    try:
        return email_key(email)
    except InvalidAddress:
        return ""


def _companions(caller: User, people: Iterable[Person]) -> dict[str, int]:
    """The accounts with these addresses that the caller knows from a trip, and the caller."""
    keys = {_key_of(person.email) for person in people if person.email} - {""}
    shared = Member.objects.sharing_a_trip_with(caller).known_to(caller)
    accounts = User.objects.active().filter(email_key__in=keys, may_be_added=True)
    found = accounts.filter(pk__in=shared.values("user"))
    own = {caller.email_key: caller.pk} if caller.email_key in keys else {}
    return {**dict(found.values_list("email_key", "pk")), **own}


def _require_addable(user_ids: set[Any]) -> None:
    """Raise `ValidationError` or `InviteInstead` unless they can be added by hand."""
    if not user_ids:
        return
    accounts = User.objects.active().filter(pk__in=user_ids, is_guest=False)
    found = dict(accounts.values_list("pk", "may_be_added"))
    if missing := user_ids - found.keys():
        ids = ", ".join(str(user_id) for user_id in sorted(missing))
        raise ValidationError({"mapping": [_("There are no such users: %(ids)s.") % {"ids": ids}]})
    if not all(found.values()):
        raise InviteInstead


def _require_different(found: Iterable[int | None]) -> None:
    used = [user_id for user_id in found if user_id is not None]
    if len(set(used)) < len(used):
        raise ValidationError({"mapping": [_("Two people of the file would be the same member.")]})
