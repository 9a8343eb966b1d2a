"""Every operation answers and refuses as `openapi.yaml` says."""

import json
from collections import defaultdict
from typing import Any, NamedTuple

import pytest
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.document import OPERATIONS, Operation, errors_of, operation_at, problem_of
from tests.factories import PASSWORD, UserFactory
from tests.users.logins import bearer
from tests.walked import answers
from users.mail_templates import MailTemplate
from users.models import EmailToken

#: Pages and documents around the API; everything else under /api is in the document.
UNDOCUMENTED = {"/api/schema", "/api/docs", "/api/session/login", "/api/session/logout"}
SUCCESSES = {"200", "201", "202", "204", "304"}


def check(operation: Operation, response: Any) -> None:
    """Hold an answer against what is documented for its status."""
    status = str(response.status_code)
    assert status in operation.spec["responses"], (str(operation), status, response.content[:300])
    documented = operation.spec["responses"][status]
    for name in set(documented.get("headers", ())) - {"ETag"}:
        assert response.headers[name], (str(operation), name)
    if not documented.get("content"):
        assert response.content == b"", str(operation)
        return
    content = documented["content"][response.headers["Content-Type"]]
    if content["schema"].get("format") == "binary":
        return
    value = json.loads(response.content)
    assert errors_of(value, content["schema"]) == [], (str(operation), value)
    if status in {"404", "409", "412", "422"}:
        codes = {example["value"]["code"] for example in content["examples"].values()}
        assert problem_of(response, response.status_code)["code"] in codes, str(operation)


class Caller:
    """A client that holds every answer against the document."""

    def __init__(self, client: Any, answered: set[str]) -> None:
        self.client, self.answered = client, answered

    def __call__(self, method: str, path: str, body: Any = None, status: int = 200, **more: Any):
        data = b"" if body is None else json.dumps(body).encode()
        url = f"/api/{path}" if path else "/api"
        response = self.client.generic(method, url, data, "application/json", headers=more)
        assert response.status_code == status, response.content
        operation = operation_at(method, url.partition("?")[0])
        assert operation is not None
        check(operation, response)
        if str(status) in SUCCESSES:
            self.answered.add(str(operation))
        is_json = response.headers.get("Content-Type", "").endswith("json")
        return json.loads(response.content) if is_json else None

    def form(self, path: str, fields: dict[str, Any]) -> Any:
        """Make something with a form."""
        body, url = encode_multipart(BOUNDARY, fields), f"/api/{path}"
        response = self.client.post(url, body, content_type=MULTIPART_CONTENT)
        assert response.status_code == 201, response.content
        operation = operation_at("POST", url)
        check(operation, response)
        self.answered.add(str(operation))
        return response.json()


class Used(NamedTuple):
    """Olga's trip with Ed, an expense of hers in it, and the body of such an expense.

    There is also somebody who has no trip, and somebody without a token.
    """

    as_olga: Caller
    as_ed: Caller
    trip: str
    expense: dict[str, Any]
    body: dict[str, Any]
    as_new: Caller
    anybody: Caller


@pytest.mark.either
def test_every_operation_answers_as_documented(api, olga, ed, sam, ada):
    answered: set[str] = set()
    as_olga, as_ed, as_sam, as_ada, anybody = (
        Caller(api(user), answered) for user in (olga, ed, sam, ada, None)
    )
    account = {"name": "Nora", "email": "nora@example.com", "password": PASSWORD}
    anybody("GET", "currencies")
    anybody("GET", "categories")
    anybody("GET", "users/login/methods")
    anybody("GET", "health")
    anybody("GET", "health/ready")
    nora = anybody("POST", "users/register", account, 201)["user"]["id"]
    anybody("POST", "users/register", account, 409)
    anybody("POST", "users/login", {**account, "password": "wrong"}, 401)
    tokens = anybody("POST", "users/login", account)
    tokens = anybody("POST", "users/token/refresh", {"refreshToken": tokens["refreshToken"]})
    anybody("POST", "users/logout", {"refreshToken": tokens["refreshToken"]}, 204)
    anybody("POST", "users/password-reset", {"email": sam.email}, 202)
    reset = {"token": EmailToken.make(sam, MailTemplate.RESET), "newPassword": "ten-odd-umbrellas"}
    anybody("POST", "users/password-reset/confirm", reset, 204)
    anybody("POST", "users/password-reset/confirm", reset, 400)
    verify = {"token": EmailToken.make(sam, MailTemplate.VERIFY)}
    anybody("POST", "users/verify-email", verify, 204)
    anybody("POST", "users/verify-email", verify, 400)
    sam.refresh_from_db()
    as_sam = Caller(api(sam), answered)
    as_olga("GET", "users/me")
    as_olga("POST", "users/me/verify-email", status=202)
    nora_again = anybody("POST", "users/login", account)
    as_nora = Caller(bearer(nora_again["token"]), answered)
    as_nora("GET", "users/me/sessions")
    as_nora("GET", "users/me/sessions?page=0", status=400)
    second = anybody("POST", "users/login", account)
    ids = [row["id"] for row in as_nora("GET", "users/me/sessions")["items"] if not row["current"]]
    as_nora("DELETE", f"users/me/sessions/{ids[0]}", status=204)
    as_nora("DELETE", f"users/me/sessions/{ids[0]}", status=404)
    Caller(bearer(second["token"]), answered)("GET", "users/me", status=401)
    asked = {"name": "Import", "scopes": ["trips:read"]}
    as_nora("POST", "users/me/tokens", asked | {"tripId": 1}, 400)
    token = as_nora("POST", "users/me/tokens", asked, 201)
    as_nora("GET", "users/me/tokens")
    as_nora("GET", f"users/me/tokens/{token['id']}")
    by_token = Caller(bearer(token["token"]), answered)
    by_token("GET", "trips")
    by_token("GET", "users/me", status=403)
    by_token("POST", "trips", {}, 403)
    as_nora("DELETE", f"users/me/tokens/{token['id']}", status=204)
    as_nora("POST", "users/me/logout-everywhere", status=204)
    as_nora("GET", "users/me", status=401)
    as_olga("GET", f"users/{nora}")
    as_olga("GET", f"users/email/{ed.email}")
    as_olga("PUT", f"users/{olga.pk}/profile", {"currency": "EUR"})
    as_olga("PUT", f"users/{nora}", account, 403)
    as_ada("PUT", f"users/{nora}", account)
    as_olga("DELETE", f"users/{nora}", status=403)
    as_ada("DELETE", f"users/{nora}", status=204)
    as_ada("DELETE", f"users/{ada.pk}", status=409)

    plan = {"title": "Lisbon", "destination": "Lisbon"}
    plan |= {"startDate": "2026-05-14", "endDate": "2026-05-18", "budget": 1200.5}
    as_olga("POST", "trips", plan | {"endDate": "2026-05-13"}, 400)
    made = as_olga("POST", "trips", plan, 201)
    trip = f"trips/{made['id']}"
    as_olga("GET", "trips")
    as_olga("GET", "trips/my-trips?pageSize=1")
    as_olga("GET", trip)
    as_olga("PUT", trip, plan)
    as_olga("PATCH", trip, {"joinRole": "VIEWER"})
    as_olga("PATCH", trip, {"title": "Porto"}, 412, **{"If-Match": '"stale"'})
    as_olga("POST", f"{trip}/members", {"userId": ed.pk}, 201)
    as_olga("POST", f"{trip}/members", {"email": sam.email}, 201)
    as_olga("POST", f"{trip}/members", {"email": sam.email}, 409)
    as_olga("POST", f"{trip}/members", {"email": "nobody@example.com"}, 404)
    as_ed("POST", f"{trip}/members", {"email": ada.email}, 403)
    as_ed("GET", f"{trip}/members")
    as_ed("GET", f"{trip}/members/{olga.pk}")
    guest = as_olga("POST", f"{trip}/guests", {"name": "Grandma"}, 201)["user"]["id"]
    as_olga("PUT", f"{trip}/guests/{guest}", {"name": "Granny"})
    as_olga("PUT", f"{trip}/guests/{ed.pk}", {"name": "Granny"}, 404)
    as_olga("PUT", f"{trip}/members/{guest}/role", {"role": "EDITOR"}, 409)
    as_olga("PUT", f"{trip}/members/{ed.pk}/role", {"role": "EDITOR"})
    as_olga("PUT", f"{trip}/members/{olga.pk}/role", {"role": "VIEWER"}, 409)

    dinner = {"description": "Dinner", "amount": 62.5, "expenseDate": "2026-05-14"}
    dinner |= {"splitType": "EQUAL", "participantUserIds": [olga.pk, ed.pk]}
    as_olga("POST", f"{trip}/expenses/preview", dinner)
    expense = as_olga("POST", f"{trip}/expenses", dinner, 201)
    rest = {"splitType": "PERCENTAGE", "splitAmounts": {str(olga.pk): 40, str(ed.pk): 60}}
    as_ed("GET", f"{trip}/expenses?category=OTHER&ordering=-amount")
    of_trip, splits = f"{trip}/expenses/{expense['id']}", f"expenses/{expense['id']}/splits"
    as_ed("GET", of_trip)
    as_ed("PUT", of_trip, dinner, 403)
    as_olga("PUT", of_trip, dinner | rest)
    as_olga("PATCH", of_trip, {"notes": "Alfama"})
    _mine, eds = as_olga("GET", splits)
    as_ed("GET", f"{splits}/{eds['id']}")
    as_ed("GET", f"users/{ed.pk}/pending-debts")
    as_ed("GET", f"users/{ed.pk}/total-debt")
    as_ed("GET", f"expenses/users/{ed.pk}/pending-debts")
    as_ed("GET", f"expenses/users/{ed.pk}/total-debt?currency=EUR")
    as_ed("GET", f"users/{olga.pk}/total-debt", status=403)
    as_olga("DELETE", f"{trip}/members/{ed.pk}", status=409)
    as_ed("POST", f"{trip}/members/leave", status=409)
    as_olga("DELETE", f"{splits}/{eds['id']}", status=204)
    new = {"participantUserId": ed.pk, "amount": 70}
    as_olga("POST", splits, new, 409)
    split = as_olga("POST", splits, new | {"amount": 31.25}, 201)
    as_olga("POST", splits, new, 409)
    as_ed("PUT", f"{splits}/{split['id']}/pay")
    as_ed("PUT", f"{splits}/{split['id']}/unpay")
    as_ed("GET", f"{trip}/balances")
    as_ed("GET", f"{trip}/settle-up")
    as_olga("POST", f"{trip}/settle-up", {"tag": "other"}, 409)

    def settle_up():
        tag = as_olga.client.get(f"/api/{trip}/settle-up").headers["ETag"].strip('"')
        as_olga("POST", f"{trip}/settle-up", {"tag": tag}, 201)

    settle_up()
    handed_over = {"fromUserId": olga.pk, "toUserId": ed.pk, "amount": 5}
    settlement = as_ed("POST", f"{trip}/settlements", handed_over, 201)
    as_ed("GET", f"{trip}/settlements")
    as_ed("GET", f"{trip}/settlements/{settlement['id']}")
    as_ed("DELETE", f"{trip}/settlements/{settlement['id']}", status=204)
    as_ed("GET", f"{trip}/settlements?deleted=true")
    as_ed("GET", f"{trip}/settlements?deleted=x", status=400)
    as_ed("POST", f"{trip}/settlements/{settlement['id']}/restore")
    as_ed("POST", f"{trip}/settlements/{settlement['id']}/restore", status=409)
    as_ed("DELETE", f"{trip}/settlements/{settlement['id']}", status=204)
    for use in answers("use"):
        as_new = Caller(api(UserFactory()), answered)
        use(Used(as_olga, as_ed, trip, expense, dinner, as_new, anybody))
    as_olga("DELETE", "users/me", {"password": PASSWORD}, 409)
    as_olga("DELETE", of_trip, status=204)
    as_olga("GET", f"{trip}/expenses?deleted=true")
    as_olga("POST", f"{of_trip}/restore")
    as_olga("DELETE", of_trip, status=204)
    settle_up()
    as_sam("POST", f"{trip}/members/leave", status=204)
    as_sam("GET", trip, status=404)
    as_olga("DELETE", f"{trip}/members/{ed.pk}", status=204)
    as_olga("DELETE", trip, status=204)
    assert as_olga("GET", "trips?deleted=true")["total"] == 1
    as_olga("GET", "trips?deleted=x", status=400)
    as_olga("POST", f"{trip}/restore")
    as_olga("POST", f"{trip}/restore", status=409)
    as_olga("DELETE", trip, status=204)
    as_ed("DELETE", "users/me", {"password": PASSWORD}, 204)

    assert answered == {str(operation) for operation in OPERATIONS}


def test_every_operation_refuses_as_documented(api, ada):
    def refusals(operation):
        def send(client, body=b"", content_type="application/json", **headers):
            url = operation.url(defaultdict(lambda: 999_999))
            return client.generic(operation.method, url, body, content_type, **headers)

        yield send(admin, headers={"Accept": "text/x-unknown"})
        if not operation.is_open:
            yield send(anybody)
        if "Id}" in operation.path:
            yield send(admin)
        elif operation.body:
            for body in (b"{", b"{}", b"[" * 5000, b" " * (1024 * 1024 + 1)):
                yield send(admin, body)
            yield send(admin, b"{}", "text/plain")

    admin, anybody = api(ada), api(None)
    for operation in OPERATIONS:
        for response in refusals(operation):
            assert response.status_code >= 400, operation
            check(operation, response)
