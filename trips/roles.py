"""Who may do what in a trip: the table that the permissions, the docs and the tests read."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy


class TripRole(TextChoices):
    """A member's role, strongest first. What each may do is its column in `TABLE`."""

    OWNER = "OWNER", gettext_lazy("owner")
    EDITOR = "EDITOR", gettext_lazy("editor")
    VIEWER = "VIEWER", gettext_lazy("viewer")

    @classmethod
    def _missing_(cls, _value: object) -> "TripRole":
        """A role of a newer release may do what the weakest one may."""
        return [*cls][-1]


class Capability(Enum):
    """A capability in a trip; each app has an enumeration of its own, and rows in the table."""


class Can(Capability):
    """A capability of the core."""

    READ = "read everything of the trip"
    LEAVE = "leave the trip"
    SETTLE = "pay or unpay a split, record a settlement"
    ADD_MEMBERS = "add members"
    RECORD = "create expenses and splits"
    CHANGE_EXPENSES = "change or delete expenses"
    DELETE_SPLITS = "delete splits"
    DELETE_SETTLEMENTS = "delete settlements"
    MANAGE_MEMBERS = "change roles, remove members"
    MANAGE_TRIP = "change or delete the trip, renew its code"


class Access(Enum):
    """Which objects a role may use a capability on.

    Own objects are: a split or settlement to which the caller is a party (`SETTLE`), an expense
    that they created or paid, with its splits, a settlement that they recorded. A trip is
    nobody's own.
    """

    ANY = "any"
    OWN = "own"
    NONE = "none"


ANY, OWN, NONE = Access

Table = Mapping[Capability, Mapping[TripRole, Access]]


def rows(accesses: Mapping[Any, tuple[Access, ...]]) -> dict[Capability, Mapping[TripRole, Access]]:
    """Rows of the table, from the accesses of each role in the order of `TripRole`."""
    return {can: dict(zip(TripRole, each, strict=True)) for can, each in accesses.items()}


#: What each role may do; once the apps are loaded, it has the rows of the plugins, too.
TABLE = rows(
    {
        #                        OWNER  EDITOR VIEWER
        Can.READ:               (ANY,   ANY,   ANY),
        Can.LEAVE:              (ANY,   ANY,   ANY),
        Can.SETTLE:             (ANY,   OWN,   OWN),
        Can.ADD_MEMBERS:        (ANY,   ANY,   NONE),
        Can.RECORD:             (ANY,   ANY,   NONE),
        Can.CHANGE_EXPENSES:    (ANY,   OWN,   NONE),
        Can.DELETE_SPLITS:      (ANY,   OWN,   NONE),
        Can.DELETE_SETTLEMENTS: (ANY,   OWN,   NONE),
        Can.MANAGE_MEMBERS:     (ANY,   NONE,  NONE),
        Can.MANAGE_TRIP:        (ANY,   NONE,  NONE),
    }
)  # fmt: skip


#: The length of a column that stores a role.
MAX_ROLE_LENGTH = max(map(len, TripRole.values))
#: The role of whoever creates a trip, and of an ADMIN in every trip.
CREATOR_ROLE = TripRole.OWNER
#: The role of those for whom nobody chose another one, and of guests.
DEFAULT_ROLE = TripRole.VIEWER
#: The roles that lead a trip, which always has a member with one of them.
OWNER_ROLES = [role for role in TripRole if TABLE[Can.MANAGE_TRIP][role] is ANY]


def access_of(role: str, can: Capability) -> Access:
    """The access that `can` gives `role`."""
    return TABLE[can][TripRole(role)]


def may(role: str, can: Capability, is_own: Callable[[], bool]) -> bool:
    """Whether `role` may do `can` to an object; `is_own` is called only if the access is own."""
    access = access_of(role, can)
    return access is ANY or (access is OWN and is_own())


def may_grant(own: str, granted: str) -> bool:
    """Whether a member with role `own` may grant the role `granted`: none above their own."""
    order = list(TripRole)
    return order.index(TripRole(granted)) >= order.index(TripRole(own))


#: The roles that the code of a trip may give: none that leads it.
JOIN_ROLE_CHOICES = [(role.value, role.label) for role in TripRole if role not in OWNER_ROLES]
