"""What `tests.fuzz` gives schemathesis: an account that stays logged in, ids and good bodies.

Schemathesis loads this module, in the environment of the server, and so on its database. Most
requests that are meant to succeed get the ids and one of the bodies of a `World`; the others are
generated as ever. When a request used the world up, or ended its log-in, the next one gets a new
one. How many requests of each operation succeeded is written to the file `FUZZ_COUNTS`.
"""

import atexit
import json
import os
import random
import secrets
from collections import Counter, defaultdict
from copy import deepcopy
from pathlib import Path
from typing import Any

import django

django.setup()

import schemathesis  # noqa: E402 -- after Django
from django.test.utils import setup_test_environment  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402

from tests.cast import trip_of  # noqa: E402
from tests.factories import UserFactory  # noqa: E402
from tests.hostile import World  # noqa: E402

#: The share of requests that get known values, of those that are meant to succeed.
KNOWN = 0.9
#: How many requests a world serves at most: they fill quotas and delete what the next ones name.
SERVED = 60

setup_test_environment()


class Account:
    """Somebody with a world of their own, and the answers that they got."""

    def __init__(self) -> None:
        self.answers: dict[str, Counter[int]] = defaultdict(Counter)
        self.renew()

    def renew(self) -> None:
        mark = secrets.token_hex(6)
        cast = [
            UserFactory(name=name, email=f"{name}-{mark}@example.com".lower())
            for name in ("Olga", "Ed", "Vera", "Sam")
        ]
        olga, ed, vera, sam = cast
        self.world, self.served = World(olga, ed, sam, trip_of(olga, ed, vera)), 0

    def give(self, case: Any) -> None:
        """Put the token, and mostly known values, into a request."""
        if self.served >= SERVED:
            self.renew()
        self.served += 1
        case.headers = {**(case.headers or {}), **self.world.headers}
        mode = case.meta.generation.mode if case.meta else GenerationMode.POSITIVE
        if mode is not GenerationMode.POSITIVE or random.random() > KNOWN:  # noqa: S311 -- no secret
            return
        known = self.world.ids_at(case.operation.path)
        case.path_parameters = {
            name: known.get(name, value) for name, value in (case.path_parameters or {}).items()
        }
        case.query = {}
        for name in ("If-Match", "If-None-Match", "Idempotency-Key"):
            (case.headers or {}).pop(name, None)
        operation = f"{case.operation.method.upper()} {case.operation.path}"
        if bodies := self.world.bodies.get(operation):
            case.body = deepcopy(random.choice(bodies))  # noqa: S311 -- no secret
            case.media_type = "application/json"

    def note(self, case: Any, response: Any) -> None:
        method = case.operation.method.upper()
        self.answers[f"{method} {case.operation.path}"][response.status_code] += 1
        ended = response.status_code < 300 and (
            method == "DELETE" or case.operation.path.endswith(("/leave", "/me/tokens"))
        )
        if ended or response.status_code == 401:
            self.served = SERVED

    def write(self) -> None:
        with Path(os.environ["FUZZ_COUNTS"]).open("a") as file:
            file.write(json.dumps(self.answers) + "\n")


ACCOUNT = Account()
atexit.register(ACCOUNT.write)


@schemathesis.hook
def before_call(context: Any, case: Any, **kwargs: Any) -> None:
    ACCOUNT.give(case)


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    ACCOUNT.note(case, response)
