"""What the tests that walk all apps need to know of the second factor; see `tests/walked.py`."""

from base64 import b32decode
from typing import Any

from django_otp.oath import TOTP

from plugins.second_factor.api_views import SecondFactorLoginViewSet, SecondFactorViewSet
from plugins.second_factor.models import AuthenticatorApp, Challenge, RecoveryCodes
from tests.factories import PASSWORD
from tests.trips.access import ME, OPEN, USER, Row, everybody, just

OWN = f"{ME}/second-factor"
LOG_IN = "/api/users/login/second-factor"
ROWS = [
    Row("GET", OWN, statuses=USER),
    Row("POST", OWN, statuses=everybody(201, anonymous=401)),
    Row("POST", f"{OWN}/confirm", body=just(code="000000"), statuses=everybody(409, anonymous=401)),
    Row("DELETE", OWN, body=just(code="000000"), statuses=everybody(404, anonymous=401)),
    Row("POST", LOG_IN, body=just(challenge="x"), statuses=everybody(400)),
]
AREAS = {SecondFactorViewSet: None, SecondFactorLoginViewSet: OPEN}
QUERIES = {OWN: 3}
LINKS = ["secondFactor"]
SHOWS_SECRET = [f"POST {OWN}"]
REFUSED_BY_STATE = {
    f"POST {OWN}/confirm": "no_second_factor",
    f"DELETE {OWN}": "not_found",
    f"POST {LOG_IN}": "challenge_ended",
}
PRUNED = ["challenges of log-ins"]
ENDS = {("second_factor_challenge", "expires_at")}
#: Hashes.
NOT_EXPORTED = ["second_factor.Challenge"]
#: What chance decides.
VOLATILE = {
    **{f"recoveryCodes.{place}": f"7031-5528-019{place}" for place in range(10)},
    "uri": "otpauth://totp/Trip%20Companion:olga%40example.com?secret=JBSWY3DPEHPK3PXP",
    "challenge": "3q2-7wAAAADerb7vAAAAAN6tvu8AAAAA3q2-7wAAAAA",
}


def secret_of(user: Any, name: str, path: str) -> str | None:
    """A challenge or a code of `user`, who gets an app for it."""
    if "second-factor" not in path:
        return None
    app, _is_new = AuthenticatorApp.objects.get_or_create(user=user)
    AuthenticatorApp.objects.update(confirmed=not path.endswith("confirm"))
    if path.endswith("confirm"):
        return f"{TOTP(app.bin_key).token():06}"
    return Challenge.start(user) if name == "challenge" else RecoveryCodes.issue(user)[0]


def fill_world(world: Any) -> None:
    world.bodies |= {
        f"POST {OWN}/confirm": [{"code": "123456"}],
        f"DELETE {OWN}": [{"code": "123456"}],
        f"POST {LOG_IN}": [{"challenge": "x", "code": "123456"}],
    }


def use(client: Any, anybody: Any) -> None:
    """What only an app with the secret knows the code for."""
    own, log_in = "users/me/second-factor", "users/login/second-factor"
    secret = client("POST", own, status=201)["secret"]
    code = f"{TOTP(b32decode(secret)).token():06}"
    codes = client("POST", f"{own}/confirm", {"code": code})["recoveryCodes"]
    body = {"email": AuthenticatorApp.objects.get().user.email, "password": PASSWORD}
    challenge = anybody("POST", "users/login", body, 401)["challenge"]
    anybody("POST", log_in, {"challenge": challenge, "code": codes[0]})
    client("DELETE", own, {"code": codes[1]}, 204)
