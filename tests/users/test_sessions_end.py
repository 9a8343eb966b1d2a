"""Whatever ends all sessions of an account ends what was made in them, too."""

from functools import partial
from typing import Any

import httpx
import pytest

from tests.cast import Api
from tests.factories import PASSWORD, overwrite
from tests.locks import while_locked
from tests.server import Server
from tests.splits.journey import Journey, sign_up
from tests.users.logins import bearer, try_to_log_in
from tests.walked import answers
from trips.models import Invitation, Trip
from users.mail_templates import MailTemplate
from users.models import EmailToken, ScopedToken, User

NEW = "five-yellow-umbrellas"


def reset(user: User) -> int:
    token = EmailToken.make(user, MailTemplate.RESET)
    body = {"token": token, "newPassword": NEW}
    return bearer("none").post("/api/users/password-reset/confirm", body).status_code


def made_by(api: Api, trip: Trip, user: User) -> dict[str, Any]:
    """An invitation of the account, and what apps say that ends with its sessions."""
    for row_of in answers("made_in_a_session"):
        row_of(user)
    path = f"/api/trips/{trip.pk}/invitations"
    return api(user).post(path, {}).json()


@pytest.mark.parametrize("way", ["reset", "password", "everywhere", "deactivated"])
def test_invitations_end_with_the_sessions(
    api: Api, trip: Trip, olga: User, ed: User, ada: User, way: str
) -> None:
    """T195: What ends the sessions of an account ends what it has opened to others."""
    overwrite(olga, email_verified_at=olga.created_at)
    invitation, of_ed = made_by(api, trip, olga), made_by(api, trip, ed)
    if way == "reset":
        assert reset(olga) == 204
    elif way == "password":
        body = {"currentPassword": PASSWORD, "newPassword": NEW}
        assert api(olga).put(f"/api/users/{olga.pk}/profile", body).status_code == 200
    elif way == "everywhere":
        olga.log_out_everywhere(by=None)
    else:
        olga.deactivate(by=None)
    for still_on in answers("still_on"):
        assert still_on() == {ed.pk}
    gone = api(None).get(f"/api/invitations/{invitation['token']}")
    assert gone.status_code == 404
    assert api(None).get(f"/api/invitations/{of_ed['token']}").status_code == 200
    history = api(ada).get(f"/api/trips/{trip.pk}/history?event=invitation.revoked").json()
    assert [row["object"]["id"] for row in history["items"]] == [invitation["id"]]


def test_whoever_takes_back_their_address_keeps_nothing_that_somebody_else_made(
    api: Api, trip: Trip, olga: User
) -> None:
    # Nobody has confirmed the address so far.
    made_by(api, trip, olga)
    ScopedToken.issue(olga, name="Script", scopes=["trips:read"])
    assert reset(olga) == 204
    assert not ScopedToken.objects.exists()
    assert Invitation.objects.unused().count() == 0
    assert try_to_log_in(olga.email, NEW).status_code == 200


def test_t195_an_invitation_that_waits_for_the_trip_while_the_sessions_end_is_void(
    server: Server,
) -> None:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        owner = sign_up(http)
        trip = Journey.start(owner)
        invite = partial(owner.call, "POST", f"{trip.path}/invitations", {})
        end = partial(owner.call, "POST", "/users/me/logout-everywhere")
        made, ended = while_locked(server, "trips_trip", trip.id, [invite, end])
        assert ended.is_success
        if made.is_success:
            link = f"/api/invitations/{made.json()['token']}"
            assert http.get(link).status_code == 404
