"""An administrator, who deletes accounts by the API and bars them in the admin site."""

import secrets
import threading
import time

import httpx

from tests.server import Server
from tests.soak.journal import Act, Journal
from tests.soak.world import PASSWORD, Client, Person

_LOGIN, _ACCOUNTS = "/admin/login/", "/admin/users/user/"


class AdminClient:
    """The administrator's client and browser, which one thread uses at a time."""

    def __init__(self, server: Server, journal: Journal) -> None:
        email = f"{secrets.token_hex(8)}@example.com"
        given = {"DJANGO_SUPERUSER_EMAIL": email, "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
        given["DJANGO_SUPERUSER_NAME"] = "Ada Admin"
        server.manage("createsuperuser", "--noinput", **given)
        self._lock = threading.Lock()
        self._client = Client(server.url, journal)
        self._browser = httpx.Client(base_url=server.url, trust_env=False, timeout=30)
        self._administrator = self._client.log_in(email)
        self._browser.get(_LOGIN)
        self._submit(_LOGIN, username=email, password=PASSWORD)

    def close(self) -> None:
        self._client.close()
        self._browser.close()

    def delete(self, person: Person) -> bool:
        """Delete an account; whether it is gone."""
        with self._lock:
            request = self._client.request(Act.DELETE_ACCOUNT, self._administrator, person.id)
            self._client.send(request, self._administrator, "DELETE", f"/users/{person.id}")
            return request.succeeded

    def bar(self, person: Person) -> bool:
        """Deactivate an account; whether it is."""
        with self._lock:
            request = self._client.request(Act.BAR_ACCOUNT, self._administrator, person.id)
            request.started = time.time()
            self._submit(_ACCOUNTS, action="deactivate", _selected_action=str(person.id))
            request.ended, request.status = time.time(), 200
            return True

    def read(self, path: str) -> httpx.Response:
        """Read what an administrator may see in the API."""
        headers = {"Authorization": f"Bearer {self._administrator.token}"}
        return self._browser.get(f"/api{path}", headers=headers)

    def _submit(self, path: str, **values: str) -> None:
        token = self._browser.cookies["csrftoken"]
        answer = self._browser.post(path, data={"csrfmiddlewaretoken": token, **values})
        # Anything else is a form with errors, or no right to be here.
        if answer.status_code != 302 or _LOGIN in answer.headers["Location"]:
            raise RuntimeError(f"The admin site refused: {answer.status_code}")
