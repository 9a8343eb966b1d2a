"""Takes pictures of the pages in headless Chromium: `python -m tests.screenshots [FOLDER]`.

Without a folder, it takes the three pictures of the README. Into a folder, it takes every page at
1280 and 390 pixels, in light and dark, in English and Spanish, to look at before a release.
"""

import base64
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from tests.chromium import Page, chromium
from tests.document import OPERATIONS
from tests.server import ROOT, running_server

WIDE, NARROW, HEIGHT = 1280, 390, 960
LANGUAGES = {"en": "en", "es": "es-ES"}
#: The session of an administrator, and the ids of the trip that started last and of its rows.
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
trip = Trip.objects.order_by("start_date").last()
expense = trip.expenses.first()
split = expense.splits.first()
print(session.session_key, ada.pk, trip.pk, split.participant_id, expense.pk, split.pk)
"""
#: The pictures of the README, by name.
README = {
    "docs": "/api/docs",
    "admin": "/admin/trips/trip/{trip}/change/",
    "browsable": "/api/trips/{trip}/expenses",
}
#: Pages for everybody, and those for an administrator.
OPEN = {"landing": "/", "login": "/admin/login/", "session": "/api/session/login"}
ADMIN = {
    "missing": "/api/trips/999999",
    "admin-index": "/admin/",
    "admin-users": "/admin/users/user/",
    "admin-user": "/admin/users/user/{ada}/change/",
    "admin-second-factor": "/admin/second-factor/",
    "admin-trips": "/admin/trips/trip/",
    "admin-expenses": "/admin/splits/expense/",
    "admin-expense": "/admin/splits/expense/{expense}/change/",
    "admin-settlements": "/admin/splits/settlement/",
    "admin-audits": "/admin/splits/auditrun/",
    "admin-log": "/admin/admin/logentry/",
}
#: What the demo has, by its parameter in a path.
IDS = {"tripId": "trip", "expenseId": "expense", "splitId": "split", "userId": "member"}
NO_PAGES = ("export", "schema", ".svg")


def pages_of_the_api() -> dict[str, str]:
    """The paths that can be read and that lead to something of the demo, by a name for a file."""
    pages = {}
    for path in sorted({one.path for one in OPERATIONS if one.method == "GET"}):
        parameters = set(re.findall(r"{(\w+)}", path))
        if parameters <= IDS.keys() and not path.endswith(NO_PAGES):
            template = re.sub(r"{(\w+)}", lambda found: f"{{{IDS[found[1]]}}}", path)
            pages[re.sub(r"\W+", "-", path).strip("-")] = template
    return pages


def log_in(page: Page, url: str, key: str) -> None:
    page.call("Network.enable")
    page.call("Network.setCookie", url=url, name="sessionid", value=key)


def show(page: Page, width: int, scheme: str) -> None:
    """Display what follows at this width, in the "light" or "dark" scheme."""
    page.call(
        "Emulation.setDeviceMetricsOverride",
        **{"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < HEIGHT},
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.call("Emulation.setEmulatedMedia", features=features)


def take(page: Page, url: str, picture: Path, **options: Any) -> None:
    page.open(url)
    if url.endswith("/docs"):
        page.wait_for("!!document.querySelector('.opblock-summary')")
    data = page.call("Page.captureScreenshot", format="png", **options)["data"]
    picture.write_bytes(base64.b64decode(data))
    sys.stdout.write(f"{picture}\n")


def pictures_of_readme(page: Page, url: str, ids: dict[str, str]) -> None:
    show(page, WIDE, "light")
    for name, path in README.items():
        take(page, url + path.format(**ids), ROOT / "docs" / "images" / f"{name}.png")


def pictures_of_all(
    page: Page, url: str, ids: dict[str, str], folder: Path, language: str, *, is_open: bool
) -> Iterator[str]:
    """Take them all; yields which are wider than the window."""
    for width, scheme in product((WIDE, NARROW), ("light", "dark")):
        show(page, width, scheme)
        for name, path in (OPEN if is_open else README | ADMIN | pages_of_the_api()).items():
            picture = folder / f"{name}-{width}-{scheme}-{language}.png"
            take(page, url + path.format(**ids), picture, captureBeyondViewport=True)
            if page.run(f"document.documentElement.scrollWidth > {width}"):
                yield f"{picture.name} is wider than its window."


def main(arguments: list[str]) -> int:
    """1 if something is wrong with a page."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["DATABASE_URL"] = f"sqlite:///{scratch}/screenshots.sqlite3"
        os.environ["DEBUG"] = "true"
        os.environ["DJANGO_SETTINGS_MODULE"] = "tripcompanion.settings"
        with running_server() as running:
            running.manage("demo", "--force")
            key, *found = running.manage("shell", "-v", "0", "-c", SESSION).stdout.split()
            names = ("ada", "trip", "member", "expense", "split")
            ids = dict(zip(names, found, strict=True))
            for language in LANGUAGES if arguments else ("en",):
                flags = (f"--accept-lang={LANGUAGES[language]}", "--hide-scrollbars")
                with chromium(Path(scratch, language), *flags) as page:
                    if not arguments:
                        log_in(page, running.url, key)
                        pictures_of_readme(page, running.url, ids)
                        continue
                    folder = Path(arguments[0])
                    folder.mkdir(parents=True, exist_ok=True)
                    for is_open in (True, False):
                        if not is_open:
                            log_in(page, running.url, key)
                        wrong += pictures_of_all(
                            page, running.url, ids, folder, language, is_open=is_open
                        )
                    wrong += page.errors
    for text in wrong:
        sys.stdout.write(f"{text}\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
