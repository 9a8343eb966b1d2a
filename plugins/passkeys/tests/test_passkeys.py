"""Passkeys over HTTP: added, used, refused, blocked and removed."""

import os
import subprocess
import sys
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from django.core.management import call_command
from fido2 import cbor
from fido2.cose import ES256K, RS256, EdDSA
from fido2.utils import websafe_encode
from rest_framework.test import APIClient

from plugins.passkeys.models import MAX_PASSKEYS, Passkey
from plugins.passkeys.relying_party import relying_party
from plugins.passkeys.tests.authenticator import ATTESTED, PRESENT, VERIFIED, Authenticator
from tests.document import ROOT, problem_of
from tests.users.logins import bearer, is_alive, log_in
from tripcompanion.database.models import ThrottleCounter
from trips.deletion import delete_account
from users.apps import UsersConfig
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail

pytestmark = pytest.mark.either

OWN = "/api/users/me/passkeys"
LOG_IN = "/api/users/login/passkey"


class Owner:
    """Somebody with an authenticator, who has just logged in with the password."""

    def __init__(self, user):
        self.user, self.client = user, bearer(log_in(user)["token"])
        self.authenticator = Authenticator()

    def options(self):
        response = self.client.post(f"{OWN}/options")
        assert response.status_code == 200, response.content
        return response.json()

    def create(self, **lies):
        return self.authenticator.create(self.options(), **lies)

    def add(self, credential, name="Phone"):
        return self.client.post(OWN, {"credential": credential, "name": name})

    def log_in(self, options=None, **lies):
        """The answer to a log-in with the passkey."""
        return use(self.authenticator.get(options or request_options(), **lies))

    def rows(self):
        return self.client.get(OWN).json()["items"]


@pytest.fixture
def owner(olga):
    """Olga, with a passkey."""
    owner = Owner(olga)
    response = owner.add(owner.create())
    assert response.status_code == 201, response.content
    return owner


def request_options():
    response = APIClient().post(f"{LOG_IN}/options")
    assert response.status_code == 200, response.content
    return response.json()


def use(credential, **headers):
    return APIClient().post(LOG_IN, {"credential": credential}, **headers)


def refused(response):
    document = problem_of(response, 401, "bad_credentials")
    assert document["detail"] == "This passkey cannot log in here."


def not_added(response):
    errors = problem_of(response, 400, "invalid")["errors"]
    assert {name.partition(".")[0] for name in errors} == {"credential"}
    assert not Passkey.objects.exists()


def mails(user):
    about = Mail.objects.filter(user=user, letter__startswith="PASSKEY").order_by("pk")
    return list(about.values_list("letter", flat=True))


def test_a_passkey_logs_in_without_address_and_password(owner, olga):
    (shown,) = owner.rows()
    times = {"createdAt": shown["createdAt"], "lastUsedAt": None, "blockedAt": None}
    assert shown == {"id": shown["id"], "name": "Phone"} | times
    answer = owner.log_in()
    assert answer.status_code == 200, answer.content
    assert answer.json().keys() == log_in(olga).keys()
    assert answer.json()["user"]["id"] == olga.pk
    assert is_alive(answer.json()["token"])
    assert owner.rows()[0]["lastUsedAt"]
    assert mails(olga) == ["PASSKEY_NEW"]


def test_the_options_of_a_new_passkey_are_those_of_webauthn(owner, olga):
    options = owner.options()
    assert len(options.pop("challenge")) > 43
    assert options == {
        "rp": {"id": "localhost", "name": "Trip Companion"},
        "user": {
            "id": websafe_encode(str(olga.pk).encode()),
            "name": "olga@example.com",
            "displayName": "Olga Owner",
        },
        "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in (-7, -8, -257)],
        "timeout": 300_000,
        "excludeCredentials": [
            {"type": "public-key", "id": websafe_encode(owner.authenticator.id)}
        ],
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        },
        "attestation": "none",
    }


def test_the_options_of_a_log_in_say_nothing_of_accounts(owner):
    first, second = request_options(), request_options()
    assert first.pop("challenge") != second.pop("challenge")
    assert first == {"timeout": 300_000, "rpId": "localhost", "userVerification": "required"}
    problem_of(APIClient().post(f"{LOG_IN}/options", {"email": "olga@example.com"}), 400, "invalid")


@pytest.mark.parametrize("cose", [EdDSA, RS256])
def test_other_algorithms_that_were_asked_for_are_verified_too(olga, cose):
    owner = Owner(olga)
    made: Any = ed25519.Ed25519PrivateKey.generate()
    if cose is RS256:
        made = rsa.generate_private_key(65537, 2048)
    key = dict(cose.from_cryptography_key(made.public_key()))
    assert owner.add(owner.create(cose=key)).status_code == 201
    # The authenticator signs with another key.
    refused(owner.log_in())


K256 = ec.generate_private_key(ec.SECP256K1()).public_key()
#: What is wrong with a new passkey.
NO_PASSKEYS: dict[str, dict[str, Any]] = {
    "another origin": {"client_data": {"origin": "https://evil.example"}},
    "a longer origin": {"client_data": {"origin": "http://localhost:4200.evil.example"}},
    "origins": {"client_data": {"origin": ["http://localhost:4200"]}},
    "a frame": {"client_data": {"crossOrigin": True}},
    "another RP id": {"rp_id": "evil.example"},
    "the ceremony of log-ins": {"client_data": {"type": "webauthn.get"}},
    "a challenge of nobody": {"client_data": {"challenge": websafe_encode(b"x" * 32)}},
    "a number as challenge": {"client_data": {"challenge": 10**15}},
    "no challenge": {"client_data": {"challenge": None}},
    "no client data": {"client_data_json": b"[]"},
    "deep client data": {"client_data_json": b"[" * 8000},
    "no JSON": {"client_data_json": b"\xff"},
    "nobody there": {"flags": VERIFIED | ATTESTED},
    "nobody verified": {"flags": PRESENT | ATTESTED},
    "no flag of the key": {"flags": PRESENT | VERIFIED},
    "an unknown algorithm": {"cose": {1: 2, 3: -65535, -1: 1, -2: bytes(32), -3: bytes(32)}},
    "an algorithm that was not asked for": {"cose": dict(ES256K.from_cryptography_key(K256))},
    "a point on no curve": {"cose": {1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)}},
    "half a key": {"cose": {1: 2, 3: -7}},
    "no algorithm": {"cose": {1: 2}},
    "a number of bytes": {"attestation": {"authData": 10**15}},
    "no authenticator data": {"attestation": {"authData": b""}},
    "no CBOR": {"object": b"\xff\xff"},
    "a list": {"object": cbor.encode([1, 2])},
    "half a map": {"object": b"\xa3\x63fmt"},
    "deep CBOR": {"object": b"\x81" * 8000},
    "a list without its end": {"object": b"\x9b" + b"\xff" * 8},
    "a text without its end": {"object": b"\x7b" + b"\xff" * 8},
    "huge CBOR": {"object": bytes(200_000)},
}


@pytest.mark.parametrize("lie", NO_PASSKEYS)
def test_what_proves_nothing_is_not_added(olga, lie):
    """T217: A passkey is added for this site and account, by whoever was verified."""
    owner = Owner(olga)
    not_added(owner.add(owner.create(**NO_PASSKEYS[lie])))
    assert owner.add(owner.create()).status_code == 201


def test_a_passkey_with_another_id_is_not_added(olga):
    owner = Owner(olga)
    not_added(owner.add(owner.create() | {"rawId": websafe_encode(b"another")}))


@pytest.mark.parametrize("field", ["rawId", "response", "clientDataJSON", "attestationObject"])
def test_an_incomplete_passkey_is_not_added(olga, field):
    owner = Owner(olga)
    credential = owner.create()
    credential["response"].pop(field, None)
    credential.pop(field, None)
    not_added(owner.add(credential))


#: What is wrong with a log-in.
NO_LOG_INS: dict[str, dict[str, Any]] = {
    **{
        lie: NO_PASSKEYS[lie]
        for lie in (
            *("another origin", "a longer origin", "origins", "a frame", "another RP id"),
            *("a challenge of nobody", "a number as challenge", "no challenge"),
            *("no client data", "deep client data", "no JSON"),
        )
    },
    "the ceremony of new passkeys": {"client_data": {"type": "webauthn.create"}},
    "nobody there": {"flags": VERIFIED},
    "nobody verified": {"flags": PRESENT},
    "another signature": {"signature": b"\x30\x06\x02\x01\x01\x02\x01\x01"},
    "no signature": {"signature": b"x"},
    "another account": {"handle": b"1000000"},
    "no authenticator data": {"data": b"x"},
    "the flag of a key": {"flags": PRESENT | VERIFIED | ATTESTED},
}


@pytest.mark.parametrize("lie", NO_LOG_INS)
def test_what_proves_nothing_does_not_log_in(owner, lie):
    """T218: A passkey logs in the owner, who was verified for this site, and nobody else."""
    refused(owner.log_in(**NO_LOG_INS[lie]))
    assert owner.log_in().status_code == 200


def test_the_passkey_of_one_account_does_not_log_in_to_another(owner, ed):
    other = Owner(ed)
    assert other.add(other.create()).status_code == 201
    credential = other.authenticator.get(request_options())
    own = websafe_encode(owner.authenticator.id)
    refused(use(credential | {"id": own, "rawId": own}))
    other.authenticator.id = b"unknown"
    refused(other.log_in())


@pytest.mark.parametrize("field", ["authenticatorData", "signature", "userHandle"])
def test_an_incomplete_log_in_is_refused(owner, field):
    credential = owner.authenticator.get(request_options())
    del credential["response"][field]
    refused(use(credential))


def test_a_challenge_works_once(owner):
    """T219: A challenge of a passkey works once, within five minutes, for what it was made for."""
    options = request_options()
    credential = owner.authenticator.get(options)
    assert use(credential).status_code == 200
    refused(use(credential))
    refused(owner.log_in(options))
    creation = owner.options()
    for status in (201, 400):
        assert owner.add(Authenticator().create(creation)).status_code == status
    # Nothing of this blocks a passkey.
    assert owner.log_in().status_code == 200


def test_a_challenge_works_for_what_it_was_made_for(owner, ed):
    creation, request = owner.options(), request_options()
    refused(owner.log_in(request | {"challenge": creation["challenge"]}))
    other = Owner(ed)
    for wrong in (creation, other.options() | {"challenge": request["challenge"]}):
        problem_of(other.add(other.authenticator.create(wrong)), 400, "invalid")


@pytest.mark.parametrize(("seconds", "is_good"), [(299, True), (302, False)])
def test_a_challenge_lasts_five_minutes(olga, clock, seconds, is_good):
    owner = Owner(olga)
    assert owner.add(owner.create()).status_code == 201
    creation, request = owner.options(), request_options()
    clock.shift(seconds)
    assert owner.add(Authenticator().create(creation)).status_code == (201 if is_good else 400)
    assert owner.log_in(request).status_code == (200 if is_good else 401)


def test_only_used_challenges_are_stored_until_they_end(olga, clock):
    owner = Owner(olga)
    assert owner.add(owner.create()).status_code == 201
    for _time in range(20):
        request_options()
        owner.options()
    assert owner.log_in().status_code == 200
    used = ThrottleCounter.objects.filter(key__startswith="passkey:")
    assert used.count() == 2
    clock.shift(301)
    call_command("prune")
    assert not used.exists()


def test_a_counter_that_goes_back_blocks_the_passkey(owner, olga):
    """T220: A copy of a passkey is noticed by its counter, and neither logs in any more."""
    assert owner.log_in(count=7).status_code == 200
    for count in (7, 8, 0):
        refused(owner.log_in(count=count))
    assert owner.rows()[0]["blockedAt"]
    assert mails(olga) == ["PASSKEY_NEW", "PASSKEY_BLOCKED"]
    call_command("send_mail_queue")
    assert owner.client.delete(f"{OWN}/{owner.rows()[0]['id']}").status_code == 204
    assert owner.add(owner.create()).status_code == 201
    assert owner.log_in(count=8).status_code == 200


def test_an_authenticator_need_not_count(owner):
    for count in (0, 0, 1):
        assert owner.log_in(count=count).status_code == 200
    refused(owner.log_in(count=0))


def test_no_other_factor_is_asked_for(owner, monkeypatch):
    def ask(*_about):
        pytest.fail("It was asked for.")

    monkeypatch.setattr(UsersConfig, "require_log_in", ask)
    assert owner.log_in().status_code == 200


def test_a_passkey_is_added_soon_after_a_log_in(olga, clock):
    """T221: A stolen token does not add a passkey, ten minutes after the log-in."""
    owner = Owner(olga)
    clock.shift(590)
    credential = owner.create()
    clock.shift(20)
    problem_of(owner.client.post(f"{OWN}/options"), 403, "log_in_again")
    problem_of(owner.add(credential), 403, "log_in_again")
    assert not Passkey.objects.exists()


def test_an_account_has_at_most_twenty(owner, olga):
    credential = Authenticator().create(owner.options())
    Passkey.objects.bulk_create(
        Passkey(user=olga, name="Phone", digest=str(at), credential=b"", sign_count=0)
        for at in range(MAX_PASSKEYS - 1)
    )
    problem_of(owner.add(credential), 409, "limit_reached")
    Passkey.objects.filter(digest="0").delete()
    assert owner.add(credential).status_code == 201


def test_names_need_not_differ_and_can_be_left_out(owner):
    for name in ("Phone", "x" * 100):
        assert owner.add(Authenticator().create(owner.options()), name).status_code == 201
    too_long = owner.add(Authenticator().create(owner.options()), "x" * 101)
    assert [*problem_of(too_long, 400, "invalid")["errors"]] == ["name"]
    unnamed = {"credential": Authenticator().create(owner.options())}
    assert owner.client.post(OWN, unnamed).json()["name"] == "Passkey"


def test_a_passkey_is_added_to_one_account(owner, ed):
    other = Owner(ed)
    problem_of(other.add(owner.authenticator.create(other.options())), 400, "invalid")
    assert other.rows() == []


def test_log_ins_count_as_those_with_a_password(owner, limits):
    limits(login="2/hour")
    assert owner.log_in().status_code == 200
    refused(owner.log_in(handle=b"1000000"))
    assert owner.log_in().status_code == 429
    limits(login_address="3/hour", login="")
    statuses = [
        use(Authenticator().get(request_options(), handle=b"1")).status_code for _time in range(4)
    ]
    assert statuses == [401, 401, 401, 429]


@pytest.mark.parametrize("end", ["deactivated", "deleted"])
def test_an_account_that_ends_is_logged_in_to_no_more(owner, olga, end):
    if end == "deactivated":
        olga.deactivate(by=None)
    else:
        delete_account(olga, by=None)
        assert not Passkey.objects.exists()
    refused(owner.log_in())


def test_who_reclaims_an_account_finds_no_passkey_of_somebody_else(owner, olga):
    """T222: A passkey from before the address was confirmed does not outlive a reset."""
    for has_passkey in (False, True):
        with olga.locked(by=None) as account:
            token = EmailToken.make(account, MailTemplate.RESET)
        EmailToken.reset_password(token, "another good one")
        assert Passkey.objects.exists() == has_passkey
        Passkey.objects.get_or_create(user=olga, name="Phone", credential=b"", sign_count=0)


def test_the_export_names_them_without_keys(owner):
    (shown,) = owner.client.get("/api/users/me/export").json()["passkeys"]
    assert shown.keys() == {"id", "name", "createdAt", "lastUsedAt", "blockedAt"}


#: The settings, the front end, and the RP id.
GOOD = [
    ("", [], "http://localhost:4200", "localhost"),
    ("", [], "https://App.example.com", "app.example.com"),
    ("example.com", [], "https://app.example.com", "example.com"),
    (
        "example.com",
        ["https://a.example.com", "https://example.com:8443"],
        "http://x",
        "example.com",
    ),
    ("", ["https://example.com", "https://a.example.com"], "http://x", "example.com"),
]
BAD = [
    ("", ["http://example.com"]),
    ("example.com", ["https://example.org"]),
    ("example.com", ["https://notexample.com"]),
    ("co.uk", ["https://example.co.uk"]),
    ("10.0.0.1", ["https://10.0.0.1"]),
    ("https://example.com", ["https://example.com"]),
]


@pytest.mark.parametrize(("rp_id", "origins", "front_end", "used"), GOOD)
def test_passkeys_belong_to_the_front_end(settings, rp_id, origins, front_end, used):
    settings.PASSKEY_RP_ID, settings.PASSKEY_ORIGINS = rp_id, origins
    settings.FRONTEND_URL = front_end
    assert relying_party().rp.id == used


@pytest.mark.parametrize(("rp_id", "origins"), BAD)
def test_the_service_does_not_start_with_settings_that_cannot_work(settings, rp_id, origins):
    settings.PASSKEY_RP_ID, settings.PASSKEY_ORIGINS = rp_id, origins
    with pytest.raises(SystemExit, match=r"^Configuration error: PASSKEY_RP_ID must .*\.$"):
        relying_party()


@pytest.mark.once
def test_the_start_is_refused_with_one_line():
    started = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**os.environ, "PASSKEY_RP_ID": "10.0.0.1"},
        capture_output=True,
        text=True,
    )
    assert (started.returncode, started.stderr.count("\n")) == (1, 1)
    assert "PASSKEY_RP_ID must be a domain such as example.com" in started.stderr


@pytest.mark.parametrize("front_end", ["http://example.com", "https://10.0.0.1", "http://[::1]"])
def test_without_settings_a_front_end_that_cannot_have_passkeys_has_none(settings, front_end):
    assert APIClient().get("/api/users/login/methods").json()["passkey"] is True
    settings.FRONTEND_URL = front_end
    assert relying_party() is None
    assert APIClient().get("/api/users/login/methods").json()["passkey"] is False
