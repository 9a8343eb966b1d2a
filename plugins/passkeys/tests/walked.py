"""What the tests that walk all apps need to know of passkeys; see `tests/walked.py`."""

from typing import Any
from uuid import uuid4

from plugins.passkeys.ceremonies import creation_options, request_options
from plugins.passkeys.models import Passkey
from plugins.passkeys.tests.authenticator import Authenticator
from plugins.passkeys.views import PasskeyLoginViewSet, PasskeyViewSet
from tests.trips.access import ALIEN, ME, OPEN, USER, Row, Scene, everybody, just

OWN = f"{ME}/passkeys"
PASSKEY = f"{OWN}/{{passkey_id}}"
LOG_IN = "/api/users/login/passkey"
#: The shape is right, but it proves nothing.
CREDENTIAL = {
    "rawId": "eA",
    "response": {
        "clientDataJSON": "e30",
        "attestationObject": "oA",
        "authenticatorData": "eA",
        "signature": "eA",
        "userHandle": "MQ",
    },
}
ROWS = [
    Row("GET", OWN, statuses=USER),
    Row("POST", OWN, body=just(credential=CREDENTIAL), statuses=everybody(400, anonymous=401)),
    Row("POST", f"{OWN}/options", statuses=USER),
    Row("DELETE", PASSKEY, statuses=ALIEN, own=everybody(204)),
    Row("POST", LOG_IN, body=just(credential=CREDENTIAL), statuses=everybody(401)),
    Row("POST", f"{LOG_IN}/options", statuses=everybody(200)),
]
AREAS = {PasskeyViewSet: None, PasskeyLoginViewSet: OPEN}
FLEXIBLE_INSIDE = ["POST /api/users/me/passkeys", "POST /api/users/login/passkey"]
QUERIES = {OWN: 3}
LISTS = {OWN}
REFUSED_BY_STATE = {f"POST {OWN}": "invalid", f"POST {LOG_IN}": "bad_credentials"}
SECRETS = {Passkey: ("digest",)}
#: What is the same in the Spanish admin site.
DATA = ["Phone"]
_TESTS = "plugins/passkeys/tests/test_passkeys.py -k"
GUARDS = {
    "plugins/passkeys/models.py": [
        ("challenge that works again", ".timestamp()) > 1:", ".timestamp()) > 9:",
         f"{_TESTS} works_once"),
        ("counter that goes back", "if works.filter(is_later).update(", "if works.update(",
         f"{_TESTS} goes_back"),
        ("passkeys of whoever had the address before",
         "    if is_reclaimed:\n        account.passkeys",
         "    if False:\n        account.passkeys",
         f"{_TESTS} reclaims"),
    ],
    "plugins/passkeys/ceremonies.py": [
        ("user handle of another account", "_require(is_own, ", "_require(True, ",
         f"{_TESTS} does_not_log_in"),
        ("algorithm that was not asked for", "_require(type(passkey.public_key) in ALGORITHMS, ",
         "_require(True, ", f"{_TESTS} not_added"),
    ],
}  # fmt: skip
#: What chance decides.
VOLATILE = {"challenge": "3q2-7wAAAADerb7vAAAAAN6tvu8AAAAA3q2-7wAAAAA"}


def _passkey_of(user: Any, authenticator: Authenticator | None = None) -> Passkey:
    made = (authenticator or Authenticator()).create(creation_options(user, []))
    return Passkey.add(user, made, "Phone")


def ids(scene: Scene, names: list[str]) -> dict[str, int]:
    return {"passkey_id": _passkey_of(scene.someone).pk} if "passkey_id" in names else {}


def fill_world(world: Any) -> None:
    options = world.client.post(f"{OWN}/options").json()
    made = {"credential": Authenticator().create(options), "name": "Phone"}
    world.ids["passkeyId"] = world.made(OWN, made)["id"]
    world.bodies |= {
        f"POST {OWN}": [{"credential": CREDENTIAL, "name": "Phone"}],
        f"POST {LOG_IN}": [{"credential": CREDENTIAL}],
    }


def many(_trip: Any, olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    for _user in people:
        one_of_each(_trip, olga, None, None)
    return {"passkey_id": olga.passkeys.first().pk}


def one_of_each(_trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    # More than an account may have.
    olga.passkeys.create(name="Phone", digest=uuid4().hex, credential=b"", sign_count=0)


def lengthen(text: str) -> None:
    Passkey.objects.update(name=(text * 100)[:100])


def secret_of(user: Any, name: str, path: str) -> Any:
    """A credential of `user` that answers new options."""
    if name != "credential":
        return None
    authenticator = Authenticator()
    if path.startswith(ME):
        return authenticator.create(creation_options(user, []))
    _passkey_of(user, authenticator)
    return authenticator.get(request_options())


def use(client: Any, anybody: Any) -> None:
    """What only an authenticator can sign."""
    phone = Authenticator()
    credential = phone.create(client("POST", "users/me/passkeys/options"))
    client("POST", "users/me/passkeys", {"credential": credential}, 201)
    log_in = "users/login/passkey"
    credential = phone.get(anybody("POST", f"{log_in}/options"))
    anybody("POST", log_in, {"credential": credential})
