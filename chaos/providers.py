"""Providers of identities that do not do what they should."""

import json
import socket
import statistics
import threading
import time
from collections import Counter
from contextlib import closing

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from chaos.environment import Environment
from chaos.writers import PASSWORD, Journal

_CLIENTS = 24
#: A log-in waits for five seconds, or for another one that waits.
_MOST_SECONDS = 7
_MOST_OTHERS_SECONDS = 2


def a_provider_is_silent(environment: Environment) -> Journal:
    """F45: an OpenID provider accepts connections and never answers; only its log-ins are 503."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=_CLIENTS)) as provider:
        # A provider on this machine is for development only.
        url = f"http://127.0.0.1:{provider.getsockname()[1]}"
        row = {"provider": "silent", "name": "Silent", "issuer": url, "clientId": "trips"}
        with (
            environment.other_service(DEBUG="true", OIDC_PROVIDERS=json.dumps([row])),
            environment.load(timeout_seconds=30) as journal,
        ):
            log_ins, others = _log_in(environment, url)
            journal.mark()
    answers = Counter(status for status, _seconds in log_ins)
    slowest = max(seconds for _status, seconds in log_ins)
    environment.require(answers.keys() == {503}, f"log-ins with the provider: {answers}")
    environment.require(slowest < _MOST_SECONDS, f"a log-in waited for {slowest:.1f} s")
    environment.require(
        {status for status, _seconds in others} == {401}
        and statistics.median(seconds for _status, seconds in others) < _MOST_OTHERS_SECONDS,
        f"other log-ins: {others}",
    )
    environment.require(not journal.answers[503], "writes were rejected")
    environment.note(f"{answers[503]} log-ins were 503 after at most {slowest:.1f} s")
    return journal


def _log_in(
    environment: Environment, issuer: str
) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """Statuses and seconds of log-ins with the provider, and with passwords at the same time."""
    key = ec.generate_private_key(ec.SECP256R1())
    token = jwt.encode({"iss": issuer}, key, algorithm="ES256", headers={"kid": "one"})
    found: tuple[list[tuple[int, float]], list[tuple[int, float]]] = ([], [])
    until = time.monotonic() + 2 * environment.seconds

    def repeat(which: int, path: str, body: dict[str, str]) -> None:
        while time.monotonic() < until:
            started = time.monotonic()
            answer = httpx.post(f"{environment.scene.url}/api{path}", json=body, timeout=20)
            found[which].append((answer.status_code, time.monotonic() - started))
            time.sleep(0.1)

    with_token = {"provider": "silent", "idToken": token}
    with_password = {"email": "nobody@example.com", "password": PASSWORD}
    calls = [(0, "/users/login/oidc", with_token)] * _CLIENTS
    threads = [
        threading.Thread(target=repeat, args=call)
        for call in (*calls, (1, "/users/login", with_password))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
