"""What a request is called, and what the log says of it: its id, and nothing secret."""

import json
import logging

import httpx
import pytest
from django.test import Client

from tests.document import problem_of
from tests.factories import PASSWORD
from tests.logs import production_log
from tests.server import running_server
from trips.models import Trip

pytestmark = pytest.mark.once


@pytest.fixture
def log():
    with production_log() as lines:
        yield lines


@pytest.mark.django_db
def test_an_id_that_the_client_gave_comes_back_and_stands_in_the_problem():
    given = "web-7f/2026:11.21_a+b="
    response = Client().get("/api/trips", headers={"X-Request-ID": given})
    assert response["X-Request-ID"] == given
    assert problem_of(response, 401)["requestId"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "ä", "<script>", "a\tb", '"'])
def test_an_id_that_could_do_harm_is_replaced(given):
    response = Client().get("/nothing", headers={"X-Request-ID": given})
    assert response["X-Request-ID"] != given
    assert len(response["X-Request-ID"]) == 32
    assert problem_of(response, 404)["requestId"] == response["X-Request-ID"]


def test_every_request_without_an_id_gets_its_own():
    answers = [Client().get("/api/health") for _time in range(3)]
    assert len({answer["X-Request-ID"] for answer in answers}) == 3


def test_every_line_of_the_log_names_the_request_and_is_one_object(api, log):
    Client().get("/nothing\nwith a new line", headers={"X-Request-ID": "r-1"})
    lines = [json.loads(line) for line in log()]
    assert {line["logger"] for line in lines} == {"django.request", "tripcompanion.requests"}
    assert {line["requestId"] for line in lines} == {"r-1"}
    (summary,) = (line for line in lines if line["logger"] == "tripcompanion.requests")
    assert summary["status"] == 404
    assert summary["duration_ms"] >= 0
    assert summary["level"] == "INFO"


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    ("given", "noted"),
    [
        (f"00-{TRACE}-00f067aa0ba902b7-01", TRACE),
        (f"cc-{TRACE}-00f067aa0ba902b7-00", TRACE),
        (f"ff-{TRACE}-00f067aa0ba902b7-01", "-"),
        (f"00-{TRACE.upper()}-00f067aa0ba902b7-01", "-"),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", "-"),
        (f"00-{TRACE}-{'0' * 16}-01", "-"),
        (f"00-{TRACE}-00f067aa0ba902b7", "-"),
        ("x", "-"),
    ],
)
def test_a_line_names_the_route_and_the_trace(api, olga, trip, log, given, noted):
    api(olga).get(f"/api/trips/{trip.pk}", headers={"traceparent": given})
    api(None).get("/nothing")
    summaries = [json.loads(line) for line in log() if "tripcompanion.requests" in line]
    seen = [(line["route"], line["traceId"]) for line in summaries]
    assert seen == [("/api/trips/<id:trip_id>", noted), ("other", "-")]


def test_a_new_line_in_a_path_makes_no_line_of_its_own():
    with production_log("line") as lines:
        Client().get("/nothing%0A2026-05-14 CRITICAL forged")
        assert all("/nothing\\n2026" in line for line in lines())
        assert len(lines()) == 2


@pytest.mark.parametrize("host", ["evil.example", "a b", "-", "[::", "x" * 300])
def test_a_wrong_host_is_one_line_without_a_traceback(log, host):
    problem_of(Client().get("/api/health", HTTP_HOST=host), 400, "bad_request")
    (line,) = [json.loads(line) for line in log() if "HTTP_HOST" in line]
    assert line["message"].startswith("Invalid HTTP_HOST header: ")
    assert not [name for name in line if name.startswith("exc")]
    assert not [entry for entry in log() if "Traceback" in entry]


def test_a_form_that_cannot_be_read_leaves_no_traceback_either(db, log):
    kind = "multipart/form-data; boundary="
    assert Client().generic("POST", "/api/session/login", b"x", kind).status_code == 400
    assert not [entry for entry in log() if "Traceback" in entry]


def test_a_fault_of_ours_keeps_its_traceback(log, api, olga, trip):
    Trip.objects.filter(pk=trip.pk).update(currency="???", budget_minor=1)
    client = api(olga)
    client.raise_request_exception = False
    assert client.get(f"/api/trips/{trip.pk}").status_code == 500
    assert [entry for entry in log() if "Traceback" in entry]


def test_the_log_has_no_password_token_or_address(api, olga, log):
    """T125: Logs contain no secrets, and each event is one line."""
    login = api(None).post("/api/users/login", {"email": olga.email, "password": PASSWORD}).json()
    api(None).post("/api/users/login", {"email": olga.email, "password": "canary-pass"})
    api(None).post("/api/users/register", {"email": olga.email, "password": "canary-pass"})
    forged = {"refreshToken": f"{login['refreshToken']}x"}
    assert api(None).post("/api/users/token/refresh", forged).status_code == 401
    client = api(olga)
    client.get("/api/trips/code/canary", HTTP_USER_AGENT="a\nERROR forged")
    for path in (f"/api/users/email/{olga.email}", "/api/users/email/olga%40example.com"):
        client.get(path + "?token=canary-query")
    client.get(f"/api/{login['token']}")
    client.get("/api/trips", HTTP_AUTHORIZATION="Bearer tc_canary-token")
    logging.getLogger().warning("from a library: {'Authorization': 'Bearer canary-metrics'}")
    assert not [line for line in log() if json.loads(line)["message"].startswith("ERROR")]
    text = "\n".join(log())
    assert "/api/users/login" in text
    for secret in (olga.email, "olga%40", "canary", PASSWORD, login["token"], "eyJ"):
        assert secret not in text


def test_the_server_logs_a_wrong_host_in_one_line(capfd):
    with running_server(DEBUG="false") as server:
        response = httpx.get(f"{server.url}/api/health", headers={"Host": "evil.example"})
        assert response.status_code == 400
    lines = [line for line in capfd.readouterr().err.splitlines() if "gunicorn" not in line]
    (line,) = [json.loads(line) for line in lines]
    assert line["logger"] == "django.security.DisallowedHost"
    assert "exc_info" not in line


def test_the_server_writes_json_lines_in_production(capfd):
    """Its own lines too, as they come from the process."""
    with running_server(LOG_FORMAT="json", LOG_LEVEL="INFO") as server:
        given = {"X-Request-ID": "from-outside"}
        response = httpx.get(f"{server.url}/api/nothing", headers=given)
        assert response.headers["X-Request-ID"] == "from-outside"
        assert response.headers["Server"] == "gunicorn"
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert {"gunicorn.error", "tripcompanion.requests"} <= {line["logger"] for line in lines}
    assert "from-outside" in {line["requestId"] for line in lines}
