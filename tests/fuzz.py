"""Generated requests against the real server, for as long as one likes: `python -m tests.fuzz`.

MINUTES says how long (10); whatever else is given goes to schemathesis. Every check that it has is
on but `ignored_auth`, which tests of every operation make, and `positive_data_acceptance`: some
rules cannot be said in a schema (a trip ends after it starts, parts add up), so a body that fits
the schema may still be refused. Schemathesis sends what the documents name, a sixth of the time
that of `/api/v3.0`; for a third of it, query strings, headers and cookies that no document names
go to every page of browsers and, with every method, to every path of the API, half of them from a
browser, so that pages are rendered. At the end it prints how many requests of each operation
succeeded: `fuzz_world.py` keeps the account logged in, and most requests have ids that exist. The
exit status is that of schemathesis, or 1 if a page failed, if less than half of the requests
succeeded, or the ledger is wrong afterwards.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests import strange
from tests.document import ANY_IDS, METHODS, OPERATIONS
from tests.server import ROOT, Server, running_server
from tests.trips.bodies import lisbon

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
#: Schemathesis would take the links of `/api` for ids.
NOT_CALLED = ("^/api$",)
#: Some rules cannot be said in a schema, and every request gets the token of the account.
LEFT_OUT = "positive_data_acceptance,ignored_auth"
#: The least share of answers with 2xx.
LEAST = 0.5
#: Splitwise's clients may leave anything out, and read refusals in an answer of 200.
LENIENT = (
    "--checks",
    "not_a_server_error,response_schema_conformance,content_type_conformance,ignored_auth",
)
ENDLESSLY = settings(
    max_examples=10**6,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
ACCOUNT = {"email": "fuzz@example.com", "password": "four-green-suitcases"}


def log_in_with_a_trip(server: Server) -> str:
    """The token of somebody with a trip and money in it, so that ids lead somewhere."""
    with httpx.Client(base_url=f"{server.url}/api", timeout=30) as http:

        def made(path: str, body: Any) -> Any:
            answer = http.post(path, json=body)
            answer.raise_for_status()
            return answer.json()

        friend = made("/users/register", {**ACCOUNT, "email": "friend@example.com"})["user"]["id"]
        login = made("/users/register", ACCOUNT)
        http.headers["Authorization"] = f"Bearer {login['token']}"
        me, trip = login["user"]["id"], made("/trips", lisbon())["id"]
        made(f"/trips/{trip}/members", {"userId": friend, "role": "EDITOR"})
        dinner = {"description": "Dinner", "amount": 30, "expenseDate": "2026-05-15"}
        people = {"splitType": "EQUAL", "participantUserIds": [me, friend]}
        made(f"/trips/{trip}/expenses", dinner | people)
        handed = {"fromUserId": friend, "toUserId": me, "amount": 5}
        made(f"/trips/{trip}/settlements", handed)
        return str(login["token"])


def cookie_of_an_admin(server: Server) -> str:
    """The session of an administrator, who sees every page."""
    account = ("--email", "ada@example.com", "--name", "Ada Admin", "--noinput")
    server.manage("createsuperuser", *account, DJANGO_SUPERUSER_PASSWORD=ACCOUNT["password"])
    with httpx.Client(base_url=server.url) as http:
        page = http.get("/admin/login/")
        hidden = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        form = {"username": "ada@example.com", "password": ACCOUNT["password"]}
        form |= {"csrfmiddlewaretoken": hidden[1] if hidden else ""}
        # The cookies are for TLS only, so that they have to be carried by hand.
        sent = {"Cookie": f"csrftoken={page.cookies['csrftoken']}"}
        answer = http.post("/admin/login/", data=form, headers=sent)
        return f"sessionid={answer.cookies['sessionid']}"


def send_strange_requests(server: Server, token: str, seconds: float, start: int) -> int:
    """Send them until the time is over; 1 if an answer is a 5xx or repeats them in a header."""
    session = cookie_of_an_admin(server)
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    # Without a CSRF token, nothing is written in the session of the browser.
    paths = sorted({op.url(ANY_IDS) for op in OPERATIONS})
    operations = [
        (method.upper(), path) for path in paths for method in (*METHODS, "head", "options")
    ]
    deadline = time.monotonic() + seconds

    @seed(start)
    @ENDLESSLY
    @given(
        st.tuples(st.just("GET"), strange.paths) | st.sampled_from(operations),
        strange.queries,
        strange.cookies,
        strange.headers,
        st.sampled_from(["", f"Bearer {token}"]),
        st.booleans(),
    )
    def send(
        called: tuple[str, str],
        query: str,
        cookie: str,
        headers: dict[str, str],
        authorization: str,
        is_browser: bool,
    ) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError
        method, path = called
        # A write by the token could end its session.
        by_token = {"Authorization": authorization} if authorization and method == "GET" else {}
        accepted = {"Accept": "text/html"} if is_browser else {}
        cookies = {"Cookie": "; ".join(filter(None, (session, cookie)))}
        sent = accepted | by_token | cookies | headers
        require_good_answer(connection, method, f"{path}?{query}", sent)

    try:
        send()
    except TimeoutError:
        return 0
    except AssertionError as error:
        sys.stderr.write("\n".join([str(error), *getattr(error, "__notes__", ()), ""]))
        return 1
    finally:
        connection.close()
    return 0


def require_good_answer(
    connection: HTTPConnection, method: str, url: str, headers: dict[str, str]
) -> None:
    connection.request(method, url, headers=headers)
    answer = connection.getresponse()
    answer.read()
    assert answer.status < 500, f"{answer.status} to {method} {url}"
    assert all(value.isprintable() for _name, value in answer.getheaders()), url


def schemathesis(
    document: str, seconds: int, *options: str, environment: Mapping[str, str] | None = None
) -> int:
    """Send what a document names; the exit status.

    With one worker: threads that parse Python at once fail before 3.11.8 (CPython's gh-106905).
    """
    run = [
        *(str(Path(sys.executable).with_name("st")), "--config-file", str(CONFIGURATION)),
        *("run", document, "--max-time", str(seconds), "--continue-on-failure"),
        *("--generation-database", "none", "--warnings", "off"),
        *("--suppress-health-check", "all", *options),
    ]
    return subprocess.run(run, check=False, env=environment).returncode


def report(counts: Path) -> int:
    """Print what was answered to each operation; 1 if too few requests succeeded."""
    answers: dict[str, Counter[int]] = defaultdict(Counter)
    for line in counts.read_text().splitlines():
        for operation, statuses in json.loads(line).items():
            answers[operation].update({int(status): n for status, n in statuses.items()})
    total: Counter[int] = sum(answers.values(), Counter())
    for operation, statuses in sorted(answers.items(), key=lambda item: _share(item[1])):
        most = ", ".join(f"{status}: {n}" for status, n in statuses.most_common(4))
        sys.stdout.write(f"{_share(statuses):4.0%} {operation} ({most})\n")
    sys.stdout.write(f"{_share(total):.0%} of {total.total()} answers were 2xx\n")
    return int(_share(total) < LEAST)


def _share(statuses: Counter[int]) -> float:
    succeeded = sum(n for status, n in statuses.items() if 200 <= status < 300)
    return succeeded / max(statuses.total(), 1)


def main(arguments: list[str]) -> int:
    seconds = int(float(os.environ.get("MINUTES", "10")) * 60)
    options = {"DEBUG": "false", "LOG_LEVEL": "ERROR", "SPLITWISE_API": "true"}
    with (
        TemporaryDirectory() as folder,
        running_server(**options, ATTACHMENTS_STORE=folder) as server,
    ):
        counts = Path(folder, "counts")
        hooks = {"SCHEMATHESIS_HOOKS": "tests.fuzz_world", "FUZZ_COUNTS": str(counts)}
        hooks |= {"PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "tripcompanion.settings"}
        world = server.environment | hooks
        token = log_in_with_a_trip(server)
        start = int(arguments[arguments.index("--seed") + 1]) if "--seed" in arguments else 0
        failed = send_strange_requests(server, token, seconds / 3, start)
        sent = ("--header", f"Authorization: Bearer {token}", *arguments)
        strict = ("--checks", "all", "--exclude-checks", LEFT_OUT)
        strict = (*strict, "--exclude-path-regex", "|".join(NOT_CALLED))
        document = f"{server.url}/api/schema"
        # What is meant to succeed comes at random; each breach of the schema is made once more.
        for share, mode in ((0.4, "positive"), (0.1, "negative")):
            only = ("--mode", mode, "--phases", "fuzzing,stateful")
            chosen = (*strict, *only, *arguments)
            failed |= schemathesis(document, int(seconds * share), *chosen, environment=world)
        failed |= report(counts)
        failed |= schemathesis(f"{server.url}/api/v3.0/schema", seconds // 6, *LENIENT, *sent)
        server.manage("audit_ledger")
    return failed


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    sys.exit(main(sys.argv[1:]))
