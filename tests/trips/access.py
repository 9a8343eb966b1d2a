"""The endpoints of the URL map, what a row of `tests.trips.rows` says, and a trip to try it in."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.test.client import MULTIPART_CONTENT
from django.urls import URLResolver

from splits.models import Expense, Settlement
from splits.models.individual_splits import remove_split
from splits.reports.balances import Plan
from tests.factories import (
    PASSWORD,
    TripFactory,
    UserFactory,
    acting_as_owner,
    add_guest,
    join,
    settle,
    spend,
)
from tests.scoped import script_of
from tests.trips.bodies import lisbon
from tests.walked import answers, merged
from tripcompanion.urls import urlpatterns
from trips.models import Trip
from trips.roles import Can, Capability, TripRole
from users.mail_templates import MailTemplate
from users.models import EmailToken, Session, User
from users.scopes import Scope
from users.tokens import token_pair

#: The strongest first; none grants one above itself.
ROLES = ["OWNER", "EDITOR", "VIEWER"]
#: By capability; what plugins promise is in their modules `walked`.
PROMISED = {
    #                        OWNER  EDITOR  VIEWER
    Can.READ:               ("any", "any",  "any"),
    Can.LEAVE:              ("any", "any",  "any"),
    Can.SETTLE:             ("any", "own",  "own"),
    Can.ADD_MEMBERS:        ("any", "any",  "none"),
    Can.RECORD:             ("any", "any",  "none"),
    Can.CHANGE_EXPENSES:    ("any", "own",  "none"),
    Can.DELETE_SPLITS:      ("any", "own",  "none"),
    Can.DELETE_SETTLEMENTS: ("any", "own",  "none"),
    Can.MANAGE_MEMBERS:     ("any", "none", "none"),
    Can.MANAGE_TRIP:        ("any", "none", "none"),
}  # fmt: skip
MEMBERS = {role.lower(): role for role in TripRole}
CALLERS = (*MEMBERS, "stranger", "anonymous", "admin")

Statuses = Mapping[str, int]


@dataclass(frozen=True)
class Endpoint:
    """One method of one route of the URL map, and what serves it."""

    method: str
    route: str
    view: Any
    action: str | None

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


#: The root of the API, and everything under it.
API = [pattern for pattern in urlpatterns if str(pattern.pattern) in {"api", "api/"}]


def endpoints(patterns: list[Any] = API, prefix: str = "/") -> Iterator[Endpoint]:
    """Every endpoint of the API; HEAD goes with GET."""
    for pattern in patterns:
        route = prefix + re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from endpoints(pattern.url_patterns, route)
            continue
        view = getattr(pattern.callback, "cls", None) or pattern.callback.view_class
        actions = getattr(pattern.callback, "actions", None) or {
            name: None for name in view.http_method_names if hasattr(view, name)
        }
        for method, action in actions.items():
            if method not in {"head", "options"}:
                yield Endpoint(method.upper(), route, view, action)


@cache
def promised() -> dict[Capability, tuple[str, ...]]:
    """What OWNER, EDITOR and VIEWER may do to anybody's or to their own, by capability."""
    return {**PROMISED, **merged("PROMISED")}


class Scene:
    """Olga's, Ed's and Vera's trip as one caller finds it, with what a route needs in it.

    The expense or settlement is between two people, of whom `holder` recorded and paid it, and
    commented on it: the caller and another member if it is to be the caller's `own`, else two
    others.
    """

    def __init__(self, trip: Trip, caller: User | None, own: bool) -> None:
        self.trip, self.caller = trip, caller
        present = [member.user for member in trip.members.present().select_related("user")]
        others = [user for user in present if user != caller]
        self.holder, self.partner = (caller, others[0]) if own else others[:2]
        self.someone = caller if own else self.partner

    def ids(self, route: str) -> dict[str, Any]:
        """What stands for the placeholders of `route`; makes the rows."""
        self.route = route
        names = re.findall(r"{(\w+)}", route)
        ids: dict[str, Any] = {
            "trip_id": self.trip.pk,
            "email": self.partner.email,
            "user_id": self.partner.pk if "trip_id" in names else self.someone.pk,
        }
        if "/guests/" in route:
            ids["user_id"] = add_guest(self.trip).pk
        ids |= self._log_ins(names)
        if "expense_id" in names or route.endswith("settle-up"):
            ids |= self._expense_ids(route, names)
        for ids_of_app in answers("ids"):
            ids |= ids_of_app(self, names)
        if "settlement_id" in names:
            self.settlement = self._settlement()
            ids["settlement_id"] = self.settlement.pk
        if route == f"{TRIP}/restore":
            owners = self.trip.members.present().filter(role=TripRole.OWNER)
            self.trip.remove(by=owners.first().user)
        elif route.endswith("/restore") and {"expense_id", "settlement_id"} & {*names}:
            self._delete(self.settlement if "settlement_id" in names else self.expense)
        if route.endswith("/leave"):
            join(self.trip, UserFactory(), TripRole.OWNER)
        return {name: ids[name] for name in names}

    def _expense_ids(self, route: str, names: list[str]) -> dict[str, int]:
        """The ids of an expense and of what belongs to it."""
        self.expense = self._expense()
        ids = {"expense_id": self.expense.pk}
        if "split_id" in names:
            ids["split_id"] = self.expense.splits.get(participant=self.partner).pk
        elif "expense_id" in names and route.endswith("/splits"):
            # What no split covers can be given to somebody.
            split = self.expense.splits.get(participant=self.holder)
            with acting_as_owner(self.trip, self.holder):
                remove_split(split, by=self.holder)
        return ids

    def _log_ins(self, names: list[str]) -> dict[str, Any]:
        ids: dict[str, Any] = {}
        if "session_uuid" in names:
            ids["session_uuid"] = Session.start(self.someone).pk
        if "token_id" in names:
            ids["token_id"] = script_of(self.someone, Scope.TRIPS_READ).pk
        return ids

    def _delete(self, entry: Any) -> None:
        with acting_as_owner(self.trip, self.holder):
            entry.remove(by=self.holder)

    def _expense(self) -> Expense:
        among = [self.holder, self.partner]
        return spend(self.trip, 2000, paid_by=self.holder, among=among, tags=["beach"])

    def _settlement(self) -> Settlement:
        return settle(self.trip, self.holder, self.partner, 500)

    # -- Bodies ---------------------------------------------------------------------------------

    def trip_body(self) -> dict[str, Any]:
        return lisbon()

    def account(self) -> dict[str, Any]:
        return {"name": "Nina New", "email": "nina@example.com", "password": PASSWORD}

    def log_in(self) -> dict[str, Any]:
        return {"email": self.partner.email, "password": PASSWORD}

    def refresh_token(self) -> dict[str, Any]:
        return {"refreshToken": token_pair(Session.start(self.partner)).refresh_token}

    def lost_password(self) -> dict[str, Any]:
        return {"email": self.partner.email}

    def reset_link(self) -> dict[str, Any]:
        return {
            "token": EmailToken.make(self.partner, MailTemplate.RESET),
            "newPassword": "ten-odd-umbrellas",
        }

    def verify_link(self) -> dict[str, Any]:
        return {"token": EmailToken.make(self.partner, MailTemplate.VERIFY)}

    def other_member(self) -> dict[str, Any]:
        return {"userId": self.partner.pk}

    def new_member(self) -> dict[str, Any]:
        return {"userId": UserFactory().pk}

    def expense_body(self) -> dict[str, Any]:
        return {
            "description": "Tarts", "amount": 12.5, "expenseDate": "2026-05-15",
            "splitType": "EQUAL", "paidByUserId": self.holder.pk,
            "participantUserIds": [self.holder.pk, self.partner.pk],
        }  # fmt: skip

    def split_body(self) -> dict[str, Any]:
        return {"participantUserId": self.holder.pk, "amount": 5}

    def settlement_body(self) -> dict[str, Any]:
        return {"fromUserId": self.holder.pk, "toUserId": self.partner.pk, "amount": 5}

    def other_trip(self) -> dict[str, Any]:
        other = TripFactory()
        for user in {self.caller, self.holder, self.partner} - {None}:
            join(other, user, TripRole.OWNER)
        return {"tripId": other.pk}

    def rows(self) -> dict[str, Any]:
        return {"create": [self.expense_body()]}

    def plan_tag(self) -> dict[str, Any]:
        return {"tag": Plan(self.trip).tag}


def no_body(_scene: Scene) -> None:
    """Nothing is sent."""


def just(**body: Any) -> Callable[[Scene], dict[str, Any]]:
    """The same body in every scene."""
    return lambda _scene: body


@dataclass(frozen=True)
class Row:
    """Who may use an endpoint: `can` inside a trip, else `statuses` (and `own`, of oneself)."""

    method: str
    route: str
    success: int = 200
    can: Capability | None = None
    body: Callable[[Scene], dict[str, Any] | bytes | None] = no_body
    statuses: Statuses | None = None
    own: Statuses | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.route}"

    def has_own(self, caller: str) -> bool:
        """Whether it matters for this caller if the thing is their own."""
        if self.can is None:
            return self.own is not None and caller != "anonymous"
        return caller in MEMBERS and "own" in promised()[self.can]

    def cells(self) -> Iterator[tuple[str, bool]]:
        """Each caller, and whether the thing is their own if that matters."""
        for caller in CALLERS:
            yield caller, False
            if self.has_own(caller):
                yield caller, True

    def expected(self, caller: str, own: bool) -> int:
        """The status that this caller must get."""
        if self.can is None:
            return (self.own if own else self.statuses)[caller]
        if self.statuses and caller in self.statuses:
            return self.statuses[caller]
        if caller not in {*MEMBERS, "admin"}:
            return {"stranger": 404, "anonymous": 401}[caller]
        access = promised()[self.can][[*MEMBERS].index(caller) if caller in MEMBERS else 0]
        return self.success if access == "any" or (access == "own" and own) else 403


def everybody(status: int, **others: int) -> Statuses:
    return dict.fromkeys(CALLERS, status) | others


USER = everybody(200, anonymous=401)
#: What does not look at who is calling, or asks for any token.
OPEN = "open"
ADMIN = everybody(403, anonymous=401, admin=200)
ALIEN = everybody(404, anonymous=401)
ME = "/api/users/me"
TRIP = "/api/trips/{trip_id}"


def call(client: Any, method: str, url: str, body: Mapping[str, Any] | bytes | None) -> Any:
    """Send the request, as JSON or as a form."""
    if isinstance(body, bytes):
        return client.generic(method, url, body, content_type=MULTIPART_CONTENT)
    return getattr(client, method.lower())(url, body)
