"""Every endpoint with who may use it, and a trip to try it in.

For what happens inside a trip a row names the capability, and `trips.roles` says the rest; for
everything else it names the status for every caller.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import URLResolver
from django.utils import timezone

from plugins.attachments.models import Attachment, State
from plugins.attachments.recognition import Kind
from plugins.attachments.rights import CanAttach
from plugins.attachments.storage import keep
from plugins.exchange.tests.reading import planned
from plugins.exchange.tests.samples import SPLITWISE_API
from plugins.recurring.models import Recurrence
from plugins.saved_filters.models import SavedFilter
from plugins.webhooks.models import Webhook, WebhookDelivery
from splits.models import Comment, Expense, Settlement
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
from tripcompanion.urls import urlpatterns
from trips.models import Invitation, Trip
from trips.roles import TABLE, Access, Can, Capability, TripRole
from users.mail_templates import MailTemplate
from users.models import EmailToken, Session, User
from users.scopes import Scope
from users.tokens import token_pair

MEMBERS = {role.lower(): role for role in TripRole}
#: A literal address, so that nobody asks a resolver.
PUBLIC_URL = "https://93.184.216.34/in"
CALLERS = (*MEMBERS, "stranger", "anonymous", "admin")

#: What an attachment needs besides trip and uploader.
FILE = {"name": "taxi.jpg", "type": Kind.JPEG, "size_bytes": 1, "file": "-"}

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
        names = re.findall(r"{(\w+)}", route)
        ids: dict[str, Any] = {
            "trip_id": self.trip.pk,
            "code": self.trip.code,
            "tag_name": "beach",
            "email": self.partner.email,
            "user_id": self.partner.pk if "trip_id" in names else self.someone.pk,
        }
        if "/guests/" in route:
            ids["user_id"] = add_guest(self.trip).pk
        if "token" in names or "invitation_id" in names:
            owner = self.trip.members.filter(role=TripRole.OWNER).first().user
            invitation = Invitation.issue(self.trip, owner, role=TripRole.VIEWER)
            ids |= {"token": invitation.token, "invitation_id": invitation.pk}
        ids |= self._log_ins(names)
        ids |= self._webhook(names)
        ids |= self._kept(names)
        if "import_id" in names:
            ids["import_id"] = planned(self.someone).pk
        if {"expense_id", "tag_name"} & {*names} or route.endswith("settle-up"):
            ids |= self._expense_ids(route, names)
        if "settlement_id" in names:
            self.settlement = self._settlement()
            ids["settlement_id"] = self.settlement.pk
        if route == f"{TRIP}/restore":
            owners = self.trip.members.present().filter(role=TripRole.OWNER)
            self.trip.remove(by=owners.first().user)
        elif route.endswith("/restore"):
            self._delete(self.settlement if "settlement_id" in names else self.expense)
        if route.endswith("/leave"):
            join(self.trip, UserFactory(), TripRole.OWNER)
        return {name: ids[name] for name in names}

    def _expense_ids(self, route: str, names: list[str]) -> dict[str, int]:
        """The ids of an expense and of what belongs to it."""
        self.expense = self._expense()
        ids = {"expense_id": self.expense.pk}
        if "comment_id" in names:
            ids["comment_id"] = Comment.write(self.expense, self.holder, "Tasty.").pk
        if "split_id" in names:
            ids["split_id"] = self.expense.splits.get(participant=self.partner).pk
        elif "expense_id" in names and route.endswith("/splits"):
            # What no split covers can be given to somebody.
            split = self.expense.splits.get(participant=self.holder)
            with acting_as_owner(self.trip, self.holder):
                remove_split(split, by=self.holder)
        return ids

    def _webhook(self, names: list[str]) -> dict[str, int]:
        if "webhook_id" not in names:
            return {}
        webhook = Webhook.register(self.someone, url=PUBLIC_URL, events=["*"])
        test = WebhookDelivery.test(self.someone, webhook.pk)
        return {"webhook_id": webhook.pk, "delivery_id": test.pk}

    def _attachment(self) -> int:
        """The id of a picture with a thumbnail that `holder` has attached to the trip."""
        with acting_as_owner(self.trip, self.holder):
            row = Attachment(trip=self.trip, created_by=self.holder, **FILE)
            row.add()
        file, thumbnail = keep(io.BytesIO(b"x")), keep(io.BytesIO(b"x"))
        Attachment.objects.update(state=State.READY, file=file, thumbnail=thumbnail)
        return row.pk

    def _kept(self, names: list[str]) -> dict[str, int]:
        rows = {"recurrence_id": self._recurrence, "attachment_id": self._attachment}
        return {name: made() for name, made in rows.items() if name in names}

    def _recurrence(self) -> int:
        """The id of an expense that `holder` has recorded every day."""
        expense = self.recurrence()["expense"] | {"amount": 12}
        fields = {"starts_on": tomorrow(), "time_zone": "UTC", "rule": "FREQ=DAILY"}
        with acting_as_owner(self.trip, self.holder):
            row = Recurrence.start(self.trip, self.holder, expense=expense, context={}, **fields)
        return row.pk

    def _log_ins(self, names: list[str]) -> dict[str, Any]:
        ids: dict[str, Any] = {}
        if "session_uuid" in names:
            ids["session_uuid"] = Session.start(self.someone).pk
        if "token_id" in names:
            ids["token_id"] = script_of(self.someone, Scope.TRIPS_READ).pk
        if "filter_id" in names:
            name = f"Food {SavedFilter.objects.count()}"
            saved = SavedFilter.save_for(self.someone, name=name, query="category=FOOD")
            ids["filter_id"] = saved.pk
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

    def trip_code(self) -> dict[str, Any]:
        return {"tripCode": self.trip.code}

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

    def recurrence(self) -> dict[str, Any]:
        expense = self.expense_body()
        del expense["expenseDate"]
        starts_on = tomorrow().isoformat()
        return {"rule": "FREQ=DAILY", "startsOn": starts_on, "expense": expense}

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

    def webhook(self) -> dict[str, Any]:
        return {"url": PUBLIC_URL, "tripId": self.trip.pk}

    def plan_tag(self) -> dict[str, Any]:
        return {"tag": Plan(self.trip).tag}


def tomorrow() -> date:
    return timezone.now().date() + timedelta(days=1)


def no_body(_scene: Scene) -> None:
    """Nothing is sent."""


def just(**body: Any) -> Callable[[Scene], dict[str, Any]]:
    """The same body in every scene."""
    return lambda _scene: body


def form(_scene: Scene) -> bytes:
    """A form with a file."""
    return encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("bill.pdf", b"%PDF-1.7\n")})


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
        return caller in MEMBERS and Access.OWN in TABLE[self.can].values()

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
        access = TABLE[self.can][MEMBERS.get(caller, TripRole.OWNER)]
        return self.success if access is Access.ANY or (access is Access.OWN and own) else 403


def everybody(status: int, **others: int) -> Statuses:
    return dict.fromkeys(CALLERS, status) | others


USER = everybody(200, anonymous=401)
ADMIN = everybody(403, anonymous=401, admin=200)
ALIEN = everybody(404, anonymous=401)
ME = "/api/users/me"
TRIP = "/api/trips/{trip_id}"
MEMBER = TRIP + "/members/{user_id}"
EXPENSE, SETTLEMENT = TRIP + "/expenses/{expense_id}", TRIP + "/settlements/{settlement_id}"
SPLITS = "/api/expenses/{expense_id}/splits"
SPLIT = SPLITS + "/{split_id}"
COMMENTS = "/api/expenses/{expense_id}/comments"
COMMENT = COMMENTS + "/{comment_id}"
RECURRING = TRIP + "/recurring"
RECURRENCE = RECURRING + "/{recurrence_id}"
ATTACHMENTS = "/api/expenses/{expense_id}/attachments"
ATTACHMENT = "/api/attachments/{attachment_id}"
ACCOUNT = "/api/users/{user_id}"
WEBHOOK = "/api/webhooks/{webhook_id}"
IMPORT = "/api/imports/{import_id}"
ROWS = [
    Row("POST", "/api/users/register", body=Scene.account, statuses=everybody(201)),
    Row("POST", "/api/users/login", body=Scene.log_in, statuses=everybody(200)),
    Row("POST", "/api/users/token/refresh", body=Scene.refresh_token, statuses=everybody(200)),
    Row("POST", "/api/users/logout", body=Scene.refresh_token, statuses=everybody(204)),
    Row("POST", "/api/users/password-reset", body=Scene.lost_password, statuses=everybody(202)),
    Row("POST", "/api/users/password-reset/confirm", body=Scene.reset_link,
        statuses=everybody(204)),
    Row("POST", "/api/users/verify-email", body=Scene.verify_link, statuses=everybody(204)),
    Row("GET", "/api/users/me", statuses=USER),
    Row("DELETE", "/api/users/me", body=just(password=PASSWORD),
        statuses=everybody(204, owner=409, anonymous=401, admin=409)),
    Row("POST", "/api/users/me/verify-email", statuses=everybody(202, anonymous=401)),
    Row("GET", "/api/users/me/export", statuses=USER),
    Row("GET", "/api/users/me/statistics", statuses=USER),
    Row("GET", "/api/users/me/statistics.svg", statuses=USER),
    Row("GET", "/api/users/me/between/{user_id}",
        statuses=everybody(200, stranger=404, anonymous=401, admin=404),
        own=everybody(200, stranger=404, admin=404)),
    Row("POST", ME + "/logout-everywhere", statuses=everybody(204, anonymous=401)),
    Row("GET", ME + "/sessions", statuses=USER),
    Row("DELETE", ME + "/sessions/{session_uuid}", statuses=ALIEN, own=everybody(204)),
    Row("GET", ME + "/tokens", statuses=USER),
    Row("POST", ME + "/tokens", body=just(name="Import", scopes=["trips:read"]),
        statuses=everybody(201, anonymous=401)),
    Row("GET", ME + "/tokens/{token_id}", statuses=ALIEN, own=USER),
    Row("DELETE", ME + "/tokens/{token_id}", statuses=ALIEN, own=everybody(204)),
    Row("GET", ME + "/filters", statuses=USER),
    Row("POST", ME + "/filters", body=just(name="Open", query="paid=false"),
        statuses=everybody(201, anonymous=401)),
    Row("GET", ME + "/filters/{filter_id}", statuses=ALIEN, own=USER),
    Row("PUT", ME + "/filters/{filter_id}", body=just(name="Open", query="paid=false"),
        statuses=ALIEN, own=USER),
    Row("DELETE", ME + "/filters/{filter_id}", statuses=ALIEN, own=everybody(204)),
    Row("GET", "/api/users/email/{email}", statuses=USER),
    Row("GET", ACCOUNT, statuses=USER, own=USER),
    Row("PUT", ACCOUNT, body=Scene.account, statuses=ADMIN, own=USER),
    Row("PUT", ACCOUNT + "/profile", body=just(currency="JPY"), statuses=ADMIN, own=USER),
    Row("DELETE", ACCOUNT, statuses=everybody(403, anonymous=401, admin=204),
        own=everybody(403, admin=409)),
    Row("GET", ACCOUNT + "/pending-debts", statuses=ADMIN, own=USER),
    Row("GET", ACCOUNT + "/total-debt", statuses=ADMIN, own=USER),
    Row("GET", "/api/expenses/users/{user_id}/pending-debts", statuses=ADMIN, own=USER),
    Row("GET", "/api/expenses/users/{user_id}/total-debt", statuses=ADMIN, own=USER),
    Row("GET", "/api/trips", statuses=USER),
    Row("POST", "/api/trips", body=Scene.trip_body, statuses=everybody(201, anonymous=401)),
    Row("GET", "/api/trips/my-trips", statuses=USER),
    Row("GET", "/api/trips/code/{code}", statuses=USER),
    Row("POST", "/api/trips/join", body=Scene.trip_code,
        statuses=everybody(409, stranger=201, anonymous=401, admin=201)),
    Row("GET", TRIP, can=Can.READ),
    Row("PUT", TRIP, can=Can.MANAGE_TRIP, body=Scene.trip_body),
    Row("PATCH", TRIP, can=Can.MANAGE_TRIP, body=just(title="Porto")),
    Row("DELETE", TRIP, 204, Can.MANAGE_TRIP),
    Row("POST", TRIP + "/code", can=Can.MANAGE_TRIP),
    Row("POST", TRIP + "/restore", can=Can.MANAGE_TRIP),
    Row("GET", TRIP + "/members", can=Can.READ),
    Row("POST", TRIP + "/members", 201, Can.ADD_MEMBERS, Scene.new_member),
    Row("POST", TRIP + "/members/leave", 204, Can.LEAVE, statuses={"admin": 404}),
    Row("GET", MEMBER, can=Can.READ),
    Row("DELETE", MEMBER, 204, Can.MANAGE_MEMBERS),
    Row("PUT", MEMBER + "/role", can=Can.MANAGE_MEMBERS, body=just(role="EDITOR")),
    Row("POST", TRIP + "/guests", 201, Can.ADD_MEMBERS, just(name="Grandma")),
    Row("PUT", TRIP + "/guests/{user_id}", can=Can.ADD_MEMBERS, body=just(name="Granny")),
    Row("POST", TRIP + "/guests/{user_id}/merge", 200, Can.MANAGE_MEMBERS, Scene.other_member),
    Row("GET", TRIP + "/invitations", can=Can.READ),
    Row("POST", TRIP + "/invitations", 201, Can.ADD_MEMBERS, just(role="VIEWER")),
    Row("DELETE", TRIP + "/invitations/{invitation_id}", 204, Can.ADD_MEMBERS),
    Row("GET", "/api/invitations/{token}", statuses=everybody(200)),
    Row("POST", "/api/invitations/{token}/accept",
        statuses=everybody(409, stranger=201, anonymous=401, admin=201)),
    Row("GET", TRIP + "/expenses", can=Can.READ),
    Row("POST", TRIP + "/expenses", 201, Can.RECORD, Scene.expense_body),
    Row("POST", TRIP + "/expenses/preview", 200, Can.RECORD, Scene.expense_body),
    Row("GET", EXPENSE, can=Can.READ),
    Row("PUT", EXPENSE, can=Can.CHANGE_EXPENSES, body=Scene.expense_body),
    Row("PATCH", EXPENSE, can=Can.CHANGE_EXPENSES, body=just(notes="Nice.")),
    Row("DELETE", EXPENSE, 204, Can.CHANGE_EXPENSES),
    Row("POST", TRIP + "/expenses/bulk", 200, Can.RECORD, Scene.rows),
    Row("POST", EXPENSE + "/copy", 201, Can.RECORD, Scene.other_trip),
    Row("POST", EXPENSE + "/move", 201, Can.CHANGE_EXPENSES, Scene.other_trip),
    Row("GET", TRIP + "/tags", can=Can.READ),
    Row("PATCH", TRIP + "/tags/{tag_name}", can=Can.CHANGE_EXPENSES, body=just(name="sea")),
    Row("GET", TRIP + "/history", can=Can.READ),
    Row("GET", EXPENSE + "/history", can=Can.READ),
    Row("POST", EXPENSE + "/restore", can=Can.CHANGE_EXPENSES),
    Row("GET", TRIP + "/settlements", can=Can.READ),
    Row("POST", TRIP + "/settlements", 201, Can.SETTLE, Scene.settlement_body),
    Row("GET", SETTLEMENT, can=Can.READ),
    Row("DELETE", SETTLEMENT, 204, Can.DELETE_SETTLEMENTS),
    Row("POST", SETTLEMENT + "/restore", can=Can.DELETE_SETTLEMENTS),
    Row("GET", TRIP + "/balances", can=Can.READ),
    Row("GET", TRIP + "/balances.svg", can=Can.READ),
    Row("GET", TRIP + "/balances/{user_id}", can=Can.READ),
    Row("GET", TRIP + "/statistics", can=Can.READ),
    Row("GET", TRIP + "/statistics.svg", can=Can.READ),
    Row("GET", TRIP + "/export", can=Can.READ),
    Row("GET", TRIP + "/settle-up", can=Can.READ),
    Row("POST", TRIP + "/settle-up", 201, Can.SETTLE, Scene.plan_tag),
    Row("GET", COMMENTS, can=Can.READ),
    Row("POST", COMMENTS, 201, Can.COMMENT, just(text="Tasty.")),
    Row("PUT", COMMENT, can=Can.CHANGE_COMMENTS, body=just(text="Very tasty.")),
    Row("DELETE", COMMENT, 204, Can.DELETE_COMMENTS),
    *(Row("GET", path, can=Can.READ) for path in (RECURRING, RECURRENCE)),
    Row("POST", RECURRING, 201, Can.RECORD, Scene.recurrence),
    Row("POST", RECURRING + "/preview", 200, Can.RECORD, Scene.recurrence),
    Row("PATCH", RECURRENCE, 200, Can.CHANGE_EXPENSES, just(rule="FREQ=WEEKLY")),
    Row("DELETE", RECURRENCE, 204, Can.CHANGE_EXPENSES),
    Row("POST", RECURRENCE + "/pause", 200, Can.CHANGE_EXPENSES),
    Row("POST", RECURRENCE + "/resume", 200, Can.CHANGE_EXPENSES),
    Row("POST", RECURRENCE + "/skip", 200, Can.CHANGE_EXPENSES,
        lambda _scene: {"date": tomorrow().isoformat()}),
    *(Row("GET", path, can=Can.READ) for path in (ATTACHMENTS, TRIP + "/attachments")),
    Row("POST", ATTACHMENTS, 201, CanAttach.ATTACH, form),
    Row("POST", TRIP + "/attachments", 201, CanAttach.ATTACH, form, statuses={"viewer": 403}),
    *(Row("GET", ATTACHMENT + end, can=Can.READ) for end in ("", "/content", "/thumbnail")),
    Row("DELETE", ATTACHMENT, 204, CanAttach.DELETE),
    Row("GET", SPLITS, can=Can.READ),
    Row("POST", SPLITS, 201, Can.RECORD, Scene.split_body),
    Row("GET", SPLIT, can=Can.READ),
    Row("DELETE", SPLIT, 204, Can.DELETE_SPLITS),
    Row("PUT", SPLIT + "/pay", can=Can.SETTLE),
    Row("PUT", SPLIT + "/unpay", can=Can.SETTLE),
    Row("GET", "/api/changes", statuses=USER),
    Row("GET", "/api/webhooks", statuses=USER),
    Row("POST", "/api/webhooks", body=Scene.webhook,
        statuses=everybody(403, owner=201, stranger=404, anonymous=401, admin=201)),
    Row("GET", WEBHOOK, statuses=ALIEN, own=USER),
    Row("PATCH", WEBHOOK, body=just(state="off"), statuses=ALIEN, own=USER),
    Row("DELETE", WEBHOOK, statuses=ALIEN, own=everybody(204)),
    Row("POST", WEBHOOK + "/test", statuses=ALIEN, own=everybody(202)),
    Row("POST", WEBHOOK + "/rotate-secret", statuses=ALIEN, own=USER),
    Row("GET", WEBHOOK + "/deliveries", statuses=ALIEN, own=USER),
    Row("POST", WEBHOOK + "/deliveries/{delivery_id}/redeliver", statuses=ALIEN,
        own=everybody(202)),
    Row("POST", "/api/imports", body=just(**json.loads(SPLITWISE_API)),
        statuses=everybody(201, anonymous=401)),
    Row("GET", IMPORT, statuses=ALIEN, own=USER),
    Row("PATCH", IMPORT, body=just(title="Alps"), statuses=ALIEN, own=USER),
    Row("DELETE", IMPORT, statuses=ALIEN, own=everybody(204)),
    Row("GET", IMPORT + "/rows", statuses=ALIEN, own=USER),
    Row("POST", IMPORT + "/confirm", statuses=ALIEN, own=USER),
    Row("POST", IMPORT + "/undo", statuses=ALIEN, own=everybody(409)),
    Row("POST", "/api/mcp", body=just(jsonrpc="2.0", id=1, method="tools/list"),
        statuses=everybody(200, anonymous=401)),
    Row("GET", "/api", statuses=everybody(200)),
    Row("GET", "/api/currencies", statuses=everybody(200)),
    Row("GET", "/api/categories", statuses=everybody(200)),
    Row("GET", "/api/health", statuses=everybody(200)),
    Row("GET", "/api/health/ready", statuses=everybody(200)),
    Row("GET", "/api/schema", statuses=everybody(200)),
    Row("GET", "/api/docs", statuses=everybody(200)),
    Row("GET", "/api/session/login", statuses=everybody(200)),
    Row("POST", "/api/session/login", statuses=everybody(200)),
    Row("POST", "/api/session/logout", statuses=everybody(200)),
]  # fmt: skip


def call(client: Any, method: str, url: str, body: Mapping[str, Any] | bytes | None) -> Any:
    """Send the request, as JSON or as a form."""
    if isinstance(body, bytes):
        return client.generic(method, url, body, content_type=MULTIPART_CONTENT)
    return getattr(client, method.lower())(url, body)
