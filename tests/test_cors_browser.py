"""Pages of the allowed origins may call the API: by its headers, and in a real browser."""

import html
import json
import re

import pytest

from tests.chromium import ORIGIN, after_its_scripts, chromium, front_end
from tests.document import DOCUMENT
from tests.walked import all_of

pytestmark = pytest.mark.once

REQUEST_HEADERS = {
    *("authorization", "content-type", "accept-language"),
    *("idempotency-key", "if-match", "if-none-match", "prefer", "x-app-client"),
    *all_of("REQUEST_HEADERS"),
}
EXPOSED_HEADERS = {
    *("etag", "location", "retry-after", "idempotency-replayed"),
    *("ratelimit", "ratelimit-policy", "x-request-id"),
    *("content-disposition", "preference-applied", "deprecation", "sunset"),
}
PAGE = """<!doctype html><meta charset="utf-8"><title>Front end</title><pre></pre><script>
const base = "BASE_URL/api";
async function call(method, path, body, headers) {
  const response = await fetch(base + path, {
    method,
    headers: {"Content-Type": "application/json", "Accept-Language": "es", ...headers},
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get("Content-Type"),
    location: response.headers.get("Location"),
    etag: response.headers.get("ETag"),
    replayed: response.headers.get("Idempotency-Replayed"),
    server: response.headers.get("Server"),
    body: text && JSON.parse(text),
  };
}
(async () => {
  const found = {origin: location.origin};
  try {
    const account = {name: "Nora", email: "nora@example.com", password: "four-green-suitcases"};
    found.register = await call("POST", "/users/register", account);
    found.login = await call("POST", "/users/login", account);
    const known = {"Authorization": "Bearer " + found.login.body.token, "X-App-Client": "web"};
    const plan = {title: "Lisbon", destination: "Lisbon", startDate: "2026-05-14",
                  endDate: "2026-05-18"};
    const once = {...known, "Idempotency-Key": "a-key"};
    found.trip = await call("POST", "/trips", plan, once);
    found.again = await call("POST", "/trips", plan, once);
    found.shown = await call("GET", "/trips/" + found.trip.body.id, undefined, known);
    found.stale = await call("PATCH", "/trips/" + found.trip.body.id, {title: "Porto"},
                             {...known, "If-Match": '"stale"'});
    found.refused = await call("POST", "/trips", {...plan, title: ""}, known);
    found.nobody = await call("GET", "/trips");
    found.nothing = await call("GET", "/nothing");
    found.left = await call("DELETE", "/trips/" + found.trip.body.id, undefined, known);
  } catch (error) {
    found.error = String(error);
  }
  document.querySelector("pre").textContent = JSON.stringify(found);
})();
</script>"""


def allowed(response):
    """The names in a header that lists them."""

    def names(header):
        return {name.strip().lower() for name in response.headers.get(header, "").split(",")}

    return names


@pytest.mark.parametrize("origin", [ORIGIN, "http://localhost:3000"])
@pytest.mark.parametrize("path", ["users/register", "trips", "trips/1/members/leave", "mcp", "no"])
def test_a_preflight_allows_what_a_front_end_sends(client, origin, path):
    """T107: CORS allows the front end what it needs."""
    response = client.options(
        f"/api/{path}",
        headers={
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": ", ".join(sorted(REQUEST_HEADERS)),
        },
    )
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["Access-Control-Allow-Origin"] == origin
    names = allowed(response)
    assert names("Access-Control-Allow-Headers") == REQUEST_HEADERS
    assert names("Access-Control-Allow-Methods") >= {"get", "post", "put", "patch", "delete"}
    assert "origin" in names("Vary")
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize(
    "origin",
    [
        *("http://localhost:4201", "https://localhost:4200", "http://localhost", "null"),
        *("http://localhost:4200.evil.example", "http://evil.example", "http://127.0.0.1:4200"),
        *("HTTP://LOCALHOST:4200/", "http://localhost:42000", ""),
    ],
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_a_foreign_origin_is_allowed_nothing(client, db, settings, origin, method):
    """T106: CORS allows other origins nothing."""
    settings.CORS_ALLOWED_ORIGIN_REGEXES = []  # as in production
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    response = client.generic(method, "/api/trips", headers=headers)
    assert not [name for name in response.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        *(("http://localhost:5173", True), ("https://localhost:8443", True)),
        *(("http://127.0.0.1:8080", True), ("http://localhost", True)),
        *(("http://localhost.evil.example", False), ("http://evil.example:4200", False)),
        *(("http://127x0.0.1:80", False), ("http://localhost:80@evil.example", False)),
        *(("ftp://localhost:4200", False), ("null", False)),
    ],
)
def test_in_development_every_port_of_this_machine_is_allowed(client, db, origin, is_allowed):
    response = client.get("/api/trips", headers={"Origin": origin})
    assert response.headers.get("Access-Control-Allow-Origin") == (origin if is_allowed else None)


@pytest.mark.parametrize("path", ["/admin/login/", "/nothing", "/apiary"])
def test_what_is_not_the_api_is_not_shared(client, db, path):
    assert "Access-Control-Allow-Origin" not in client.get(path, headers={"Origin": ORIGIN}).headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        *(("GET", "/api/health", 200), ("GET", "/api/trips", 401), ("GET", "/api/nothing", 404)),
        *(("DELETE", "/api/trips", 401), ("POST", "/api/users/login", 400)),
        *(("DELETE", "/api/health", 405), ("POST", "/api/users/register", 400)),
        *(("GET", "/api/session/logout", 405), ("GET", "/api/schema", 200)),
    ],
)
def test_every_answer_can_be_read_across_origins_errors_too(client, db, method, path, status):
    response = client.generic(method, path, b"{", "application/json", headers={"Origin": ORIGIN})
    assert response.status_code == status
    assert response.headers["Access-Control-Allow-Origin"] == ORIGIN
    names = allowed(response)
    assert names("Access-Control-Expose-Headers") == EXPOSED_HEADERS
    assert "origin" in names("Vary")
    assert "Access-Control-Allow-Credentials" not in response.headers


def test_throttling_and_faults_can_be_read_across_origins(api, olga, trip, limits):
    client = api(olga)
    client.raise_request_exception = False
    type(trip).objects.filter(pk=trip.pk).update(currency="???", budget_minor=1)
    broken = client.get(f"/api/trips/{trip.pk}", headers={"Origin": ORIGIN})
    limits(user="1/min")
    client.get("/api/trips")
    throttled = client.get("/api/trips", headers={"Origin": ORIGIN})
    assert (broken.status_code, throttled.status_code) == (500, 429)
    for response in (broken, throttled):
        assert response.headers["Access-Control-Allow-Origin"] == ORIGIN


@pytest.mark.needs("chromium")
def test_a_front_end_in_a_real_browser_registers_logs_in_makes_a_trip_and_reads_errors(
    server, tmp_path
):
    with front_end(PAGE.replace("BASE_URL", server.url)) as origin:
        shown = after_its_scripts(f"{origin}/", tmp_path)
    found = json.loads(html.unescape(re.search(r"<pre>(.*?)</pre>", shown, re.DOTALL)[1]))
    assert "error" not in found, found
    assert found["origin"] == ORIGIN
    statuses = {name: answer["status"] for name, answer in found.items() if name != "origin"}
    assert statuses == {
        **{"register": 201, "login": 200, "trip": 201, "again": 201, "shown": 200},
        **{"stale": 412, "refused": 400, "nobody": 401, "nothing": 404, "left": 204},
    }
    assert found["trip"]["location"] == f"/api/trips/{found['trip']['body']['id']}"
    assert found["again"]["replayed"] == "true"
    assert found["again"]["body"] == found["trip"]["body"]
    assert found["shown"]["etag"]
    assert found["shown"]["server"] is None
    for name in ("stale", "refused", "nobody", "nothing"):
        assert found[name]["type"] == "application/problem+json"
        assert found[name]["body"]["message"]
    assert "title" in found["refused"]["body"]["errors"]
    assert found["nothing"]["body"]["detail"] == "No existe esta ruta."


@pytest.mark.needs("chromium")
@pytest.mark.slow
def test_swagger_ui_draws_every_operation_in_a_real_browser(server, tmp_path):
    """Of a long document, it draws only what is on the screen, so the page is scrolled."""
    drawn: set[str] = set()
    with chromium(tmp_path) as page:
        page.open(f"{server.url}/api/docs")
        page.wait_for("document.querySelector('[data-path]') !== null")
        while page.run("scrollY + innerHeight < document.body.scrollHeight"):
            shown = "[...document.querySelectorAll('[data-path]')].map(o => o.dataset.path)"
            drawn.update(path.replace("\u200b", "") for path in page.run(shown))
            page.run("scrollBy(0, innerHeight / 2)")
            # Two frames, in which what has come into sight is drawn.
            page.run("window.frames = 0")
            page.run("requestAnimationFrame(() => requestAnimationFrame(() => window.frames = 2))")
            page.wait_for("window.frames === 2")
        assert page.errors == []
    assert drawn == set(DOCUMENT["paths"])
