"""An administrator, who deletes accounts by the API and bars them in the admin site."""

import secrets
import threading

import httpx

from tests.server import Server
from tests.soak.world import PASSWORD, Client, Person, Request

_LOGIN, _ACCOUNTS = "/admin/login/", "/admin/users/user/"


class AdminClient:
    """The administrator's client and browser, which one thread uses at a time."""

    def __init__(self, server: Server, requests: list[Request]) -> None:
        email = f"{secrets.token_hex(8)}@example.com"
        given = {"DJANGO_SUPERUSER_EMAIL": email, "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
        given["DJANGO_SUPERUSER_NAME"] = "Ada Admin"
        server.manage("createsuperuser", "--noinput", **given)
        self._lock = threading.Lock()
        self._client = Client(server.url, requests)
        self._browser = httpx.Client(base_url=server.url, trust_env=False, timeout=30)
        self.administrator = self._client.enter("/users/login", email)
        self._browser.get(_LOGIN)
        self._submit(_LOGIN, username=email, password=PASSWORD)

    def close(self) -> None:
        self._client.close()
        self._browser.close()

    def delete(self, person: Person) -> bool:
        """Delete an account; whether it is gone."""
        with self._lock:
            request = Request(self.administrator.id, "DELETE", f"/users/{person.id}")
            self._client.send(request, self.administrator)
            return request.succeeded

    def bar(self, person: Person) -> bool:
        """Deactivate an account; whether it is."""
        with self._lock:
            self._submit(_ACCOUNTS, action="deactivate", _selected_action=str(person.id))
            return True

    def _submit(self, path: str, **values: str) -> None:
        token = self._browser.cookies["csrftoken"]
        answer = self._browser.post(path, data={"csrfmiddlewaretoken": token, **values})
        # Anything else is a form with errors, or no right to be here.
        if answer.status_code != 302 or _LOGIN in answer.headers["Location"]:
            raise RuntimeError(f"The admin site refused: {answer.status_code}")
