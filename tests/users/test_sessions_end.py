"""Whatever ends all sessions of an account ends what was made in them, too."""

from functools import partial
from typing import Any

import httpx
import pytest

from plugins.webhooks.mails import WEBHOOK_NEW, WEBHOOKS_OFF
from plugins.webhooks.models import Webhook
from plugins.webhooks.tests.hooks import URL, register
from tests.cast import Api
from tests.factories import PASSWORD, overwrite
from tests.locks import while_locked
from tests.server import Server
from tests.splits.journey import Journey, sign_up
from tests.users.logins import bearer, log_in, try_to_log_in
from trips.models import Invitation, Trip
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail, ScopedToken, User

NEW = "five-yellow-umbrellas"


def reset(user: User) -> int:
    token = EmailToken.make(user, MailTemplate.RESET)
    body = {"token": token, "newPassword": NEW}
    return bearer("none").post("/api/users/password-reset/confirm", body).status_code


def made_by(api: Api, trip: Trip, user: User) -> dict[str, Any]:
    """A webhook, an invitation and a scoped token of the account."""
    register(api, user)
    path = f"/api/trips/{trip.pk}/invitations"
    return api(user).post(path, {}).json()


@pytest.mark.parametrize("way", ["reset", "password", "everywhere", "deactivated"])
def test_webhooks_and_invitations_end_with_the_sessions(
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
    states = dict(Webhook.objects.values_list("user", "state"))
    assert states == {olga.pk: "off", ed.pk: "on"}
    gone = api(None).get(f"/api/invitations/{invitation['token']}")
    assert gone.status_code == 404
    assert api(None).get(f"/api/invitations/{of_ed['token']}").status_code == 200
    assert Mail.objects.filter(user=olga, letter=WEBHOOKS_OFF).count() == 1
    history = api(ada).get(f"/api/trips/{trip.pk}/history?event=invitation.revoked").json()
    assert [row["object"]["id"] for row in history["items"]] == [invitation["id"]]


def test_whoever_takes_back_their_address_keeps_nothing_that_somebody_else_made(
    api: Api, trip: Trip, olga: User
) -> None:
    # Nobody has confirmed the address so far.
    made_by(api, trip, olga)
    ScopedToken.issue(olga, name="Script", scopes=["trips:read"])
    assert reset(olga) == 204
    assert not Webhook.objects.exists()
    assert not ScopedToken.objects.exists()
    assert Invitation.objects.unused().count() == 0
    assert try_to_log_in(olga.email, NEW).status_code == 200


def test_a_new_webhook_is_announced_by_mail(api: Api, olga: User) -> None:
    log_in(olga)
    hook = register(api, olga)
    mail = Mail.objects.get()
    assert (mail.letter, mail.address) == (WEBHOOK_NEW, olga.email)
    again = api(olga).post("/api/webhooks", {"url": URL}, HTTP_IDEMPOTENCY_KEY="k")
    repeated = api(olga).post("/api/webhooks", {"url": URL}, HTTP_IDEMPOTENCY_KEY="k")
    assert (repeated.status_code, repeated.json()["code"]) == (409, "already_made")
    assert repeated.json()["id"] == again.json()["id"] != hook["id"]
    assert Webhook.objects.count() == 2


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
