"""Eight requests with one challenge in the same instant: one wins."""

from plugins.passkeys.tests.authenticator import Authenticator
from tests.splits.journey import at_once

ROUNDS = 4
ADD, LOG_IN = "/users/me/passkeys", "/users/login/passkey"


def test_one_challenge_adds_one_passkey_and_starts_one_session(traveller):
    """T223: Of parallel requests with one challenge of a passkey, one has an effect."""
    for _round in range(ROUNDS):
        options = traveller.done("POST", f"{ADD}/options")
        several = [Authenticator() for _number in range(8)]
        bodies = [{"credential": each.create(options)} for each in several]
        outcome = at_once([lambda b=body: traveller.call("POST", ADD, b) for body in bodies])
        assert outcome == {(201, ""): 1, (400, "invalid"): 7}
    phone = Authenticator()
    created = phone.create(traveller.done("POST", f"{ADD}/options"))
    traveller.done("POST", ADD, {"credential": created})
    for _round in range(ROUNDS):
        used = {"credential": phone.get(traveller.done("POST", f"{LOG_IN}/options"))}
        outcome = at_once([lambda b=used: traveller.call("POST", LOG_IN, b)] * 8)
        assert outcome == {(200, ""): 1, (401, "bad_credentials"): 7}
    rows = traveller.done("GET", ADD)["items"]
    assert [row["blockedAt"] for row in rows] == [None] * (ROUNDS + 1)
