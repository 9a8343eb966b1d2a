"""Every error of the service is one document: RFC 9457 `application/problem+json`."""

import json
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
import pytest
from django.test import Client

from tests.document import OPERATIONS, problem_of
from tests.factories import PASSWORD, overwrite
from tests.server import running_server
from tests.trips.bodies import dinner
from trips.models import Trip

pytestmark = pytest.mark.once

MEBIBYTE = 1024 * 1024
#: How long after the database is back the service may still say that it is away.
BACK_SECONDS = 20
UNKNOWN_PATHS = (
    *("/api/", "/nothing", "/api/nothing", "/api/trips/", "/api/trips//", "/API/trips"),
    *("/API/trips", "/api/trips/1/", "/api/users/register/", "/api/health/", "/api/health/ready/"),
    *("/static/nothing.css", "/.env", "/trips", "/api/../manage.py", "/api/docs/", "/%00"),
    *("/%2Fevil.example", "/api/..;/", "/api//trips", "/api/trips;x", "/%2e%2e/"),
    # What other services have, or leave open.
    *("/metrics", "/.git/config", "/static/../tripcompanion/settings.py", "/debug"),
    *("/static/%2e%2e/%2e%2e/.env", "/static//etc/passwd", "/server-status", "/api/admin"),
    *("/actuator", "/__debug__/", "/openapi.yaml", "/db.sqlite3", "/manage.py", "/wp-login.php"),
)


@pytest.fixture
def browser(olga):
    """Olga's browser: a session log-in, and a CSRF cookie, whose token it does not send."""
    client = Client(enforce_csrf_checks=True)
    client.get("/api/session/login")
    client.force_login(olga)
    return client


@pytest.mark.parametrize("path", UNKNOWN_PATHS)
def test_an_unknown_path_is_not_found(path):
    """T112, T126: An unknown path returns a JSON 404, never a redirect."""
    client = Client(enforce_csrf_checks=True)
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        answer = client.generic(method, path)
        document = problem_of(answer, 404, "not_found")
        assert document["title"] == "Not Found"
        assert "Location" not in answer
        assert path.strip("/") == "" or path.strip("/") not in json.dumps(document), method


def test_an_id_that_is_none_and_an_id_of_nothing_are_the_same_404(api, ada):
    client = api(ada)
    for operation in (op for op in OPERATIONS if "Id}" in op.path):
        names = [parameter["name"] for parameter in operation.parameters("path")]
        answers = set()
        for number in (2**63 - 1, 999_999, 0, -1, "1.0", "01", "１", 2**63, "9" * 400, "abc"):
            url = operation.url(dict.fromkeys(names, number))
            response = client.generic(operation.method, url, b"{}", "application/json")
            problem_of(response, 404, "not_found")
            answers.add(response.content)
        assert len(answers) == 1, operation


@pytest.mark.parametrize("media_type", ["application/json", "multipart/form-data; boundary=b"])
@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/api/trips?pge=1", "DELETE", "GET, POST, HEAD"),
        ("/api/trips", "TRACE", "GET, POST, HEAD"),
        ("/api/schema", "DELETE", "GET, HEAD"),
        ("/api/docs", "DELETE", "GET, HEAD"),
        ("/api/session/logout", "GET", "POST"),
    ],
)
def test_a_wrong_method_is_refused_with_those_that_are_right(
    api, olga, media_type, path, method, allowed
):
    """Whatever its body and its query are."""
    response = api(olga).generic(method, path, "--b--", media_type)
    assert method in problem_of(response, 405, "method_not_allowed")["detail"]
    assert {*allowed.split(", ")} <= {*response.headers["Allow"].split(", ")}


@pytest.mark.parametrize("path", ["/api/trips", "/api/health", "/api/schema", "/api/users/me"])
def test_an_accept_header_that_cannot_be_served_is_refused(api, olga, path):
    problem_of(api(olga).get(path, HTTP_ACCEPT="text/csv"), 406, "not_acceptable")
    for unknown in ("pdf", "", "%20"):
        problem_of(api(olga).get(f"{path}?format={unknown}"), 406, "not_acceptable")


def test_a_lenient_client_may_leave_the_format_empty(api, olga):
    lenient = {"HTTP_PREFER": "handling=lenient"}
    assert api(olga).get("/api/trips?format=", **lenient).status_code == 200
    problem_of(api(olga).get("/api/trips?format=pdf", **lenient), 406, "not_acceptable")


def test_a_form_without_its_csrf_token_is_refused(browser):
    response = browser.post("/api/session/login", {"username": "x", "password": "y"})
    problem_of(response, 403, "csrf_failed")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/x-www-form-urlencoded", "a=" + "x" * 3 * MEBIBYTE),
        ("application/x-www-form-urlencoded", "&".join(f"a{i}=1" for i in range(2000))),
        ("multipart/form-data", "broken"),
        ("multipart/form-data; boundary=", "broken"),
        ("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=a"),
    ],
)
@pytest.mark.parametrize("path", ["/api/trips", "/api/session/login"])
def test_a_broken_or_huge_form_of_a_browser_is_refused(browser, path, content_type, body):
    response = browser.generic("POST", path, body, content_type)
    assert response.status_code in {400, 403, 413, 415}
    problem_of(response, response.status_code)


def test_a_body_of_a_mebibyte_is_read_and_one_byte_more_is_too_large(api, olga):
    """T51: A body has at most 1 MiB; one with a file has 10 MiB, for accounts only."""
    body = json.dumps({"name": "Olga"}).encode()
    url = f"/api/users/{olga.pk}/profile"
    for size, status in ((MEBIBYTE, 200), (MEBIBYTE + 1, 413), (3 * MEBIBYTE, 413)):
        response = api(olga).generic("PUT", url, body.ljust(size), "application/json")
        assert response.status_code == status
    document = problem_of(response, 413, "payload_too_large")
    assert str(MEBIBYTE) in document["detail"]


def test_errors_of_nested_fields_have_dotted_names(api, olga, trip):
    body = {
        "description": "",
        "amount": "a lot",
        "expenseDate": "2026-02-30",
        "splitType": "MANUAL",
        "participantUserIds": [olga.pk, "abc"],
        "splitAmounts": {str(olga.pk): 1},
        "payers": [{"userId": olga.pk, "amount": 1}, {"userId": olga.pk, "amount": "-"}, {}],
    }
    document = problem_of(api(olga).post(f"/api/trips/{trip.pk}/expenses", body), 400, "invalid")
    assert set(document["errors"]) == {
        *("description", "amount", "expenseDate", "participantUserIds.1"),
        *("payers.1.amount", "payers.2.userId", "payers.2.amount"),
    }
    field, texts = next(iter(document["errors"].items()))
    assert document["detail"] == f"{field}: {texts[0]}"


def test_a_bad_number_inside_a_map_is_named_by_its_key(api, olga, trip):
    body = dinner(olga, splitType="MANUAL", splitAmounts={str(olga.pk): "ten"})
    response = api(olga).post(f"/api/trips/{trip.pk}/expenses", body)
    assert set(problem_of(response, 400, "invalid")["errors"]) == {f"splitAmounts.{olga.pk}"}


def test_a_fault_of_ours_is_500_and_tells_nothing_of_what_is_inside(api, olga, trip):
    # No rule lets such a row in, so nothing expects it.
    Trip.objects.filter(pk=trip.pk).update(currency="???", budget_minor=100)
    client = api(olga)
    client.raise_request_exception = False
    document = problem_of(client.get(f"/api/trips/{trip.pk}"), 500, "internal_error")
    assert "errors" not in document
    for internal in ("???", "KeyError", "Traceback", "/", "trips_trip", "File", "line"):
        assert internal not in document["detail"] + document["title"]


@pytest.mark.parametrize("path", ["/api/users/login", "/api/session/login"])
def test_a_fault_of_ours_during_log_in_is_500_too(client, olga, path):
    overwrite(olga, password="argon2$argon2id$v=19$m=broken$")
    client.raise_request_exception = False
    body = {"email": olga.email, "username": olga.email, "password": PASSWORD}
    if path.endswith("session/login"):
        response = client.post(path, body)
    else:
        response = client.post(path, body, content_type="application/json")
    problem_of(response, 500, "internal_error")


@contextmanager
def database_away(server):
    """Take the server's database away, and give it back."""
    url = urlsplit(server.environment["DATABASE_URL"])
    if url.scheme == "sqlite":
        file = Path(url.path.removeprefix("/"))
        away = file.rename(file.with_suffix(".away"))
        file.mkdir()
        # Open connections keep the file for a second at most (`CONN_MAX_AGE`).
        time.sleep(1.1)
        try:
            yield
        finally:
            file.rmdir()
            away.rename(file)
        return
    name = url.path.removeprefix("/")
    with psycopg.connect(urlunsplit(url._replace(path="/postgres")), autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        stop = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        admin.execute(stop, [name])
        try:
            yield
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


@pytest.mark.slow
def test_without_its_database_the_service_asks_to_come_back_and_then_goes_on():
    account = {"email": "nora@example.com", "password": PASSWORD}
    with (
        running_server(DEBUG="false") as server,
        httpx.Client(base_url=server.url, timeout=30) as client,
    ):
        token = client.post("/api/users/register", json=account).json()["token"]
        headers = {"Authorization": f"Bearer {token}"}
        form = dict(account, username=account["email"])
        csrf_token = {"Cookie": f"csrftoken={'a' * 32}", "X-CSRFToken": "a" * 32}
        with database_away(server):
            for response in (
                client.get("/api/trips", headers=headers),
                client.post("/api/users/login", json=account),
                client.get("/api/health/ready"),
                client.post("/api/session/login", data=form, headers=csrf_token),
            ):
                problem_of(response, 503, "unavailable")
                assert int(response.headers["Retry-After"]) >= 1
            assert client.get("/api/health").status_code == 200
            problem_of(client.get("/nothing"), 404, "not_found")
        deadline = time.monotonic() + BACK_SECONDS
        while client.get("/api/health/ready").status_code != 200:
            assert time.monotonic() < deadline
        assert client.get("/api/trips", headers=headers).json()["total"] == 0
