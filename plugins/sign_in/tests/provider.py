"""A provider for tests: its keys and tokens, and a server here that can misbehave."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from django.test import override_settings
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from plugins.sign_in.id_tokens import new_nonce
from plugins.sign_in.keys import keys_of
from plugins.sign_in.models import Identity
from plugins.sign_in.providers import Provider

CLIENT = "trip-companion"
KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
#: For tests without a server: their keys are known.
EXAMPLE = Provider("example", "Example", "https://accounts.example.com", CLIENT)
OTHER = Provider("other", "Other", "https://other.example.com", CLIENT)
_ALGORITHMS = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


def jwk_of(name: str, key: Any = None, **members: Any) -> dict[str, Any]:
    """The public half of a key as a JWK; its id is the name of its algorithm."""
    shown = json.loads(_ALGORITHMS[name].to_jwk((key or KEYS[name]).public_key()))
    shown = {name: value for name, value in shown.items() if name not in {"key_ops", "alg"}}
    return shown | {"kid": name, "use": "sig"} | members


def claims_of(provider: Provider, **claims: Any) -> dict[str, Any]:
    """The claims of a token for now, with a new nonce; those that are None are left out.

    A claim that is a function is called now, not when the tests are collected.
    """
    now = int(time.time())
    usual = {
        "iss": provider.issuer,
        "aud": provider.client_id,
        "sub": "24400320",
        "iat": now,
        "exp": now + 300,
        "nonce": new_nonce(),
        "email": "nora@example.com",
        "email_verified": True,
        "name": "Nora Haddad",
    }
    said = {name: claim() if callable(claim) else claim for name, claim in (usual | claims).items()}
    return {name: value for name, value in said.items() if value is not None}


def token_of(
    provider: Provider,
    algorithm: str = "ES256",
    key: Any = None,
    headers: dict[str, Any] | None = None,
    **claims: Any,
) -> str:
    """A token that the provider has signed."""
    signing = KEYS[algorithm] if key is None else key
    sent = {"kid": algorithm} if headers is None else headers
    return jwt.encode(claims_of(provider, **claims), signing, algorithm, headers=sent)


def learn(*jwks: dict[str, Any], provider: Provider = EXAMPLE) -> None:
    """Let the service have fetched these keys just now, by default all of `KEYS`."""
    cache = keys_of(provider)
    cache._keys = [*jwks] or [jwk_of(name) for name in KEYS]
    cache._old_at = time.monotonic() + 3600
    cache._next_at = time.monotonic() + 60


def linked(user: Any, subject: str = "24400320", provider: Provider = EXAMPLE) -> Identity:
    """An identity of `user`."""
    return Identity.objects.create(
        user=user, issuer=provider.issuer, subject=subject, email="nora@example.com"
    )


# -- A server --------------------------------------------------------------------------------------

Answer = Callable[["Handler"], None]


def answers(content: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: "Handler") -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def shows(document: Any) -> Answer:
    return answers(json.dumps(document).encode())


def never(handler: "Handler") -> None:
    """Never answers."""
    handler.server.ended.wait(20)


def dripping(handler: "Handler") -> None:
    """Sends a byte every 50 ms."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.ended.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def huge(handler: "Handler") -> None:
    """Sends megabytes of valid JSON."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b'{"keys": [' + b" " * 5_000_000 + b"]}")


class Handler(BaseHTTPRequestHandler):
    server: "LocalProvider"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        with suppress(OSError):
            self.server.answers.get(self.path, answers(b"", 404))(self)

    def log_message(self, *_arguments: Any) -> None:
        pass


DISCOVERY, JWKS = "/.well-known/openid-configuration", "/keys"


class LocalProvider(ThreadingHTTPServer):
    """A provider on this machine. `answers` has what it says by path, `asked` what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.ended = Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.provider = Provider("local", "Local", self.url, CLIENT)
        about = {"issuer": self.url, "jwks_uri": self.url + JWKS}
        self.answers: dict[str, Answer] = {DISCOVERY: shows(about)}
        self.publish(*(jwk_of(name) for name in KEYS))

    def publish(self, *jwks: Any) -> None:
        self.answers[JWKS] = shows({"keys": jwks})

    def handle_error(self, *_arguments: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[LocalProvider]:
    """A provider until the end of the block, which the service knows."""
    with LocalProvider() as server, override_settings(OIDC_PROVIDERS=[server.provider]):
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
