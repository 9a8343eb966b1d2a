"""Takes the pictures of the README in headless Chromium: `python -m tests.screenshots`.

It starts a server with the demo data and logs in with a session that it creates in the database, so
that Chromium needs no other program to fill in forms. A proxy on another port adds the cookie.
"""

import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

from tests.server import ROOT, running_server
from tests.test_cors_browser import the_browser

SIZE = "1280,960"
SESSION = """
from django.contrib.auth import SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from users.models import User
from trips.models import Trip
ada = User.objects.get(email="ada@example.com")
session = SessionStore()
session[SESSION_KEY] = str(ada.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = ada.get_session_auth_hash()
session.create()
print(session.session_key, Trip.objects.order_by("start_date").last().pk)
"""
#: Pictures by name; {trip} is the trip that started last.
PAGES = {
    "docs": "/api/docs",
    "admin": "/admin/trips/trip/{trip}/change/",
    "browsable": "/api/trips/{trip}/expenses",
}


def with_session(url: str, key: str) -> ThreadingHTTPServer:
    """A proxy to `url` that sends the session's cookie with every request."""

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            accept = self.headers.get("Accept", "*/*")
            headers = {"Accept": accept, "Cookie": f"sessionid={key}"}
            answer = httpx.get(url + self.path, headers=headers, timeout=30)
            self.send_response(answer.status_code)
            for name in ("Content-Type", "Content-Security-Policy"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *args: object) -> None:
            """Nothing."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Proxy)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/screenshots.sqlite3"
        os.environ["DEBUG"] = "true"
        os.environ["DJANGO_SETTINGS_MODULE"] = "tripcompanion.settings"
        with running_server() as running:
            running.manage("demo", "--force")
            key, trip = running.manage("shell", "-v", "0", "-c", SESSION).stdout.split()
            proxy = with_session(running.url, key)
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            for name, path in PAGES.items():
                page = f"http://localhost:{proxy.server_port}{path.format(trip=trip)}"
                picture = ROOT / "docs" / "images" / f"{name}.png"
                take(page, picture, Path(folder, name))
            proxy.shutdown()
            proxy.server_close()


def take(page: str, picture: Path, profile: Path) -> None:
    subprocess.run(
        [
            the_browser(),
            *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--lang=en"),
            *("--disable-dev-shm-usage", f"--user-data-dir={profile}", "--hide-scrollbars"),
            *(f"--window-size={SIZE}", "--virtual-time-budget=20000"),
            *(f"--screenshot={picture}", page),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    sys.stdout.write(f"{picture}\n")


if __name__ == "__main__":
    main()
