"""What the tests that walk all apps need to know of signing in; see `tests/walked.py`."""

from typing import Any

from django.conf import settings
from django.test import override_settings

from plugins.sign_in.models import Identity
from plugins.sign_in.tests.provider import EXAMPLE, OTHER, learn, linked, token_of
from plugins.sign_in.views import IdentityViewSet, ProviderLoginViewSet
from tests.trips.access import ALIEN, ME, OPEN, USER, Row, Scene, everybody, just
from users.models import User

LOG_IN = "/api/users/login/oidc"
OWN = f"{ME}/identities"
ONE = f"{OWN}/{{identity_id}}"
NOBODY = just(provider="nobody", idToken="x")
ROWS = [
    Row("POST", LOG_IN, body=NOBODY, statuses=everybody(400)),
    Row("POST", f"{LOG_IN}/nonce", statuses=everybody(200)),
    Row("GET", OWN, statuses=USER),
    Row("POST", OWN, body=NOBODY, statuses=everybody(400, anonymous=401)),
    Row("DELETE", ONE, statuses=ALIEN, own=everybody(204)),
]
AREAS = {IdentityViewSet: None, ProviderLoginViewSet: OPEN}
QUERIES = {OWN: 3}
LISTS = {OWN}
LINKS = ["identities"]
#: What is the same in the Spanish admin site.
DATA = [r"https://accounts\.example\.com"]
SECRETS = {Identity: ("subject", "email")}
VIOLATIONS = [("identity_unique", "identity", {"subject": "1"})]
UNIQUE = {"identity_unique"}
REFUSED_BY_STATE = {f"POST {LOG_IN}": "invalid", f"POST {OWN}": "invalid"}
VOLATILE = {"nonce": "Qm5jPZ0sYw2tKd81Lr4hVu:1wKdbM:3q2-7wAAAADerb7vAAAAAN6tvu8AAAAA3q2-7wAAAAA"}


def ids(scene: Scene, names: list[str]) -> dict[str, int]:
    if "identity_id" not in names:
        return {}
    return {"identity_id": linked(scene.someone, str(Identity.objects.count())).pk}


def fill_world(world: Any) -> None:
    caller = User.objects.get(pk=world.client.get(ME).json()["id"])
    world.ids["identityId"] = linked(caller, f"{caller.pk}-{Identity.objects.count()}").pk
    body = {"provider": "nobody", "idToken": "x.y.z"}
    world.bodies |= {f"POST {LOG_IN}": [body], f"POST {OWN}": [body]}


def many(_trip: Any, olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    first, *_others = [linked(olga, str(at)) for at in range(len(people))]
    return {"identity_id": first.pk}


def one_of_each(_trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    linked(olga, f"subject-{Identity.objects.count()}")


def lengthen(_text: str) -> None:
    Identity.objects.update(issuer=f"https://{'long-name.' * 20}example.com/")


def constrained(_trip: Any, olga: Any) -> dict[str, Any]:
    linked(olga, "1")
    return {"identity": Identity.objects.filter(pk=linked(olga, "2").pk)}


def secret_of(_user: Any, name: str, path: str) -> str | None:
    """A token to link or, to log in, of Noor at first, then of somebody with her address."""
    if name != "idToken":
        return None
    if path.endswith("identities"):
        return token_of(OTHER)
    own = Identity.objects.get(issuer=EXAMPLE.issuer)
    return token_of(EXAMPLE, sub="3" if own.used_at else own.subject, email=own.user.email)


def resolve(monkeypatch: Any) -> None:
    """Have the providers of the examples, and who logs in with one."""
    learn()
    learn(provider=OTHER)
    monkeypatch.setattr(settings, "OIDC_PROVIDERS", [EXAMPLE, OTHER])
    linked(User.objects.get(email="noor@example.com"))


def use(client: Any, anybody: Any) -> None:
    """What only a provider can sign; in the world there is none."""
    learn()
    own, log_in = "users/me/identities", "users/login/oidc"
    with override_settings(OIDC_PROVIDERS=[EXAMPLE]):
        anybody("GET", "users/login/methods")

        def body(**claims: Any) -> dict[str, str]:
            return {"provider": "example", "idToken": token_of(EXAMPLE, **claims)}

        anybody("POST", log_in, body(email="new@example.com"), 201)
        anybody("POST", log_in, body())
        client("POST", own, body(sub="3"), 201)
        client("GET", own)
