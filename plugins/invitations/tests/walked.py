"""What the tests that walk all apps need to know of invitations; see `tests/walked.py`."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from plugins.invitations.models import Invitation
from plugins.invitations.views import (
    AcceptanceViewSet,
    CodeViewSet,
    InvitationPreviewViewSet,
    InvitationViewSet,
)
from tests.factories import UserFactory, owned_trip
from tests.trips.access import OPEN, TRIP, USER, Row, Scene, everybody, just
from trips.models import Trip
from trips.roles import Can, TripRole

INVITATIONS = f"{TRIP}/invitations"
INVITATION = f"{INVITATIONS}/{{invitation_id}}"
PREVIEW = "/api/invitations/{token}"
CODE = "/api/trips/code/{code}"
JOIN = "/api/trips/join"
RENEW = f"{TRIP}/code"


def _code(scene: Scene) -> dict[str, Any]:
    return {"tripCode": scene.trip.code}


ROWS = [
    Row("GET", CODE, statuses=USER),
    Row("POST", JOIN, body=_code,
        statuses=everybody(409, stranger=201, anonymous=401, admin=201)),
    Row("POST", RENEW, can=Can.MANAGE_TRIP),
    Row("GET", INVITATIONS, can=Can.READ),
    Row("POST", INVITATIONS, 201, Can.ADD_MEMBERS, just(role="VIEWER")),
    Row("DELETE", INVITATION, 204, Can.ADD_MEMBERS),
    Row("GET", "/api/invitations/{token}", statuses=everybody(200)),
    Row("POST", "/api/invitations/{token}/accept",
        statuses=everybody(409, stranger=201, anonymous=401, admin=201)),
]  # fmt: skip
AREAS = {
    CodeViewSet: "trips",
    InvitationViewSet: "trips",
    AcceptanceViewSet: "trips",
    InvitationPreviewViewSet: OPEN,
}
WRITTEN = {
    f"POST {JOIN}": ["member.joined"],
    f"POST {RENEW}": ["trip.code_renewed"],
    f"POST {INVITATIONS}": ["invitation.created"],
    f"DELETE {INVITATION}": ["invitation.revoked"],
    f"POST {PREVIEW}/accept": ["invitation.accepted", "member.joined"],
}
CALLERS = {f"POST {PREVIEW}/accept": "sam", f"POST {JOIN}": "sam"}
QUERIES = {INVITATIONS: 4, PREVIEW: 1, CODE: 2}
LISTS = {INVITATIONS}
SINGLE = {PREVIEW, CODE}
SECRETS = {Invitation: ("digest", "mailed_digest")}
COMMANDS = [
    (Can.MANAGE_TRIP, "POST", RENEW),
    (Can.ADD_MEMBERS, "POST", INVITATIONS, lambda _s: {}, False, False),
    (Can.ADD_MEMBERS, "DELETE", INVITATION, None, False, False),
]
LOCKS_CALLER = [("POST", INVITATIONS)]
#: Whoever joins waits in tests of races.
WAIT_ELSEWHERE = [("POST", f"{PREVIEW}/accept"), ("POST", JOIN)]
OWNED_TABLES = ["trips_invitation"]
LOCKS = ["plugins/invitations/models.py", "plugins/invitations/codes.py"]
_AT_ONCE = "plugins/invitations/tests/test_codes_at_once.py"
GUARDS = {
    "plugins/invitations/codes.py": [
        ("outdated trip code accepted under the lock",
         "        if locked.code != code.upper():\n", "        if False:\n",
         f"{_AT_ONCE} -k renewed"),
        ("joining with an outdated role", "locked.join_role", "trip.join_role",
         f"{_AT_ONCE} -k joins_gets"),
    ],
}  # fmt: skip
#: What is the same in the Spanish admin site.
DATA = [r"invitation\.\w+"]
UNCHANGED = ["invitations"]
PRUNED = ["invitations"]
ENDS = {("trips_invitation", "expires_at")}
VIOLATIONS = [
    ("invitation_uses_in_range", "invitation", {"uses": 2}),
    ("invitation_role_known", "invitation", {"role": "ADMIN"}),
]


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    made = Invitation.issue(trip, olga, role="VIEWER", max_uses=1)
    return {"invitation": Invitation.objects.filter(pk=made.pk)}


def ids(scene: Scene, names: list[str]) -> dict[str, Any]:
    if not {"token", "invitation_id"} & {*names}:
        return {"code": scene.trip.code}
    owner = scene.trip.members.filter(role=TripRole.OWNER).first().user
    made = Invitation.issue(scene.trip, owner, role=TripRole.VIEWER)
    return {"token": made.token, "invitation_id": made.pk}


def waiting_ids(scene: Any, names: list[str], _by: Any, _can: Any) -> dict[str, int]:
    if "invitation_id" not in names:
        return {}
    return {"invitation_id": scene.olga.done("POST", f"{scene.trip.path}/invitations", {})["id"]}


def fill_world(world: Any) -> None:
    code = Trip.objects.get(pk=world.ids["tripId"]).code
    made = world.made(f"/api/trips/{world.ids['tripId']}/invitations", {})
    world.ids |= {"invitationId": made["id"], "token": made["token"], "code": code}
    tomorrow = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    world.bodies |= {
        "POST /api/trips/join": [{"tripCode": code}],
        "POST /api/trips/{tripId}/invitations": [
            {"role": "EDITOR", "maxUses": 3, "note": "x", "expiresAt": tomorrow},
            {"role": "EDITOR", "email": "nora@example.com", "guestUserId": world.guest_id},
        ],
    }


def many(trip: Any, olga: Any, people: list[Any], _expense: Any) -> dict[str, Any]:
    made = Invitation.issue(trip, olga, role=TripRole.VIEWER)
    values = {field.attname: getattr(made, field.attname) for field in Invitation._meta.fields}
    Invitation.objects.bulk_create(
        Invitation(**values | {"id": None, "digest": f"{user.pk:064}"}) for user in people
    )
    return {"token": made.token, "invitation_id": made.pk, "code": trip.code}


def one_of_each(_trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    # A trip may have only so many.
    trip = owned_trip(olga)
    made = Invitation.issue(trip, olga, role="VIEWER", email=UserFactory.build().email)
    Invitation.objects.filter(pk=made.pk).update(mailed_digest=made.digest[::-1])


def made_in_a_session(user: Any) -> None:
    Invitation.issue(user.memberships.first().trip, user, role="VIEWER")


def still_on() -> set[int]:
    return {*Invitation.objects.unused().values_list("created_by", flat=True)}


def claim(api: Any, trip: Any, by: Any, guest: Any, user: Any) -> Any:
    """The user takes the place of the guest by an invitation of `by`."""
    body = {"guestUserId": guest.pk, "role": "EDITOR"}
    token = api(by).post(f"/api/trips/{trip.pk}/invitations", body).json()["token"]
    return api(user).post(f"{PREVIEW}/accept".format(token=token))
