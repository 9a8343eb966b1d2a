"""Whatever ends the sessions of an account ends its invitations; see also `walked.py`."""

from functools import partial

import httpx

from tests.locks import while_locked
from tests.splits.journey import Journey, sign_up


def test_the_history_says_what_ended_with_the_sessions(api, trip, olga, ed, ada):
    path = f"/api/trips/{trip.pk}/invitations"
    of_olga, of_ed = (api(user).post(path, {}).json() for user in (olga, ed))
    olga.log_out_everywhere(by=None)
    answers = (api(None).get(f"/api/invitations/{made['token']}") for made in (of_olga, of_ed))
    assert [answer.status_code for answer in answers] == [404, 200]
    history = api(ada).get(f"/api/trips/{trip.pk}/history?event=invitation.revoked").json()
    assert [row["object"]["id"] for row in history["items"]] == [of_olga["id"]]


def test_t195_an_invitation_that_waits_for_the_trip_while_the_sessions_end_is_void(server):
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
