"""The people and the trips of `manage.py demo`, as `data.yaml` describes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Person:
    """A person with an account, whose e-mail address is `key` at example.com."""

    key: str
    name: str
    currency: str
    is_admin: bool = False


@dataclass(frozen=True)
class Journey:
    """A trip with its expenses and settlements. The first member owns it."""

    #: The first letters of the trip code; the rest is the number of the copy.
    code: str
    title: str
    destination: str
    description: str
    start: date
    days: int
    currency: str
    budget: str
    #: Of those who join by the code or by an invitation.
    join_role: str
    members: Mapping[str, str]
    expenses: str
    #: Guests who stay guests: names by key.
    guests: dict[str, str] = field(default_factory=dict)
    #: Members who were guests until they accepted an invitation, with the name they had.
    claimed: dict[str, str] = field(default_factory=dict)
    #: Splits marked as paid: (person, part of the expense's description).
    paid: Sequence[tuple[str, str]] = ()
    #: Comments: (person, part of the expense's description, text).
    comments: Sequence[tuple[str, str, str]] = ()
    #: Settlements: (from, to, amount, day, note).
    settlements: Sequence[tuple[str, str, str, int, str]] = ()
    #: Expenses that were deleted, and can be restored: (person, part of the description).
    deleted: Sequence[tuple[str, str]] = ()
    #: Notes of the invitations that are open.
    invitations: Sequence[str] = ()
    #: Whether the settle-up plan was recorded at the end.
    settled_up: bool = False


_DATA = yaml.safe_load(Path(__file__).with_name("data.yaml").read_text(encoding="utf-8"))
PEOPLE = tuple(Person(**person) for person in _DATA["people"])
JOURNEYS = tuple(Journey(**trip) for trip in _DATA["trips"])
