"""Hostile values for every field, generated from the OpenAPI document, and rows to test them on.

New endpoints and fields are covered automatically.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.test import APIClient

from tests.document import OPERATIONS, Operation, resolved
from tests.factories import PASSWORD
from tests.stored import everything_stored, rolled_back
from tests.walked import answers, merged
from users.mail_templates import MailTemplate
from users.models import EmailToken, Session
from users.tokens import token_pair

#: What the parser refuses, one of each kind; `test_parsing.py` has all of them.
BROKEN_LITERALS = ("NaN", '"a\\u0000b"')
OTHER_THAN_TEXT = ("0", "-1", "1.5", "1e400", "9" * 2000, "true", "[]", '["a"]', "{}", '{"a":1}')
OTHER_THAN_LIST = ("0", "1.5", "true", '"a"', '""', "{}", '{"0":1}')
NO_ID = (
    *("0", "-1", "1.5", "1e400", "9" * 400, "true", "[]", "[1]", "{}", '""', '" 1"', '"abc"'),
    *('"1.5"', '"0"', '"-1"', '"+1"', '"1e0"', '"0x1"', '"1_0"', '"１"', '"٣"', '"07"'),
    *("9223372036854775808", '"9223372036854775808"'),
)
NO_NUMBER = (
    *("0", "-1", "-0.0", "1e400", "-1e400", "1e-400", "9" * 2000, "true", "[]", "[1]", "{}"),
    *('""', '" 1"', '"1 "', '"abc"', '"１２"', '"٣"', '"1_000"', '"1,5"', '"0x10"', '"+"', '"."'),
    *('"0"', '"-1"', '"NaN"', '"Infinity"', '"-Infinity"', '"1e400"', '"1e-400"', '"1e99999"'),
)
#: Those of them that are numbers all the same, unless only positive ones are meant.
SMALL = {"0", "-1", "-0.0", '"0"', '"-1"', "1e-400", '"1e-400"'}
NO_DATE = (
    *OTHER_THAN_TEXT,
    *('""', '"today"', '"2026-02-30"', '"2026-13-01"', '"2026-5-4"', '"20260514"', '"0000-01-01"'),
    *('"10000-01-01"', '"2026-02-29"', '"2026-W20-4"', '"2026-05-14 "', '"٢٠٢٦-٠٥-١٤"'),
    *('"14.05.2026"', '"05/14/2026"', '"２０２６-０５-１４"', '"2026-05-14T00:00:00Z"'),
    *('"99999-01-01"', '" 2026-05-14"', "20260514"),
)
NO_INSTANT = (
    *OTHER_THAN_TEXT,
    *('""', '"now"', '"2026-05-14"', '"2026-05-14T18:30:00"', '"2026-05-14 18:30:00Z"'),
    *('"2026-02-30T00:00:00Z"', '"2026-05-14T24:30:00Z"', '"2026-05-14T18:30:00+99:99"'),
    *('"0001-01-01T00:00:00+23:59"', '"9999-12-31T23:59:59-23:59"', '"9999-01-01T00:00:00Z"'),
    *('"2020-01-01T00:00:00Z"', '"２０２６-０５-１４T18:30:00Z"', '" 2026-05-14T18:30:00Z"'),
)
NO_TIME = {"date": NO_DATE, "date-time": NO_INSTANT}
NO_URL = tuple(
    json.dumps(text)
    for text in (
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)"),
        "data:text/html,x",
        *("vbscript:x", "file:///etc/passwd", "ftp://example.com/x", "//evil.example/x"),
        *("\\\\evil.example", "\\evil.example", "http://", "http://[::1", "https:x"),
        *("java\x01script:alert(1)", " javascript:alert(1)", "gopher://x", "/a b.webp"),
    )
)
NO_EMAIL = tuple(
    json.dumps(text)
    for text in (
        *("x", "@", "a@", "@example.com", "a b@example.com", "a@b@example.com", "a@example..com"),
        *("mi\u212ae@example.com", "\u017fam@example.com", "１@example.com", "a@example.com\nb"),
    )
)


def is_nullable(schema: Mapping[str, Any]) -> bool:
    return without_null(schema) != schema


def without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` without null."""
    schema = resolved(schema)
    if isinstance(schema.get("type"), list):
        (kind,) = set(schema["type"]) - {"null"}
        return schema | {"type": kind}
    options = [option for option in schema.get("oneOf", ()) if option != {"type": "null"}]
    if len(options) == len(schema.get("oneOf", ())):
        return schema
    rest = {key: value for key, value in schema.items() if key != "oneOf"}
    return rest | (resolved(options[0]) if len(options) == 1 else {"oneOf": options})


NO_BOOLEAN = ("0", "1", '"true"', '"yes"', '""', "[]", "[true]", "{}")
#: Values that are no number of people.
NO_COUNT = ("0", "-1", "1.5", "true", '"a"', '""', "[]", "[1]", "{}", "9" * 400)


def hostile(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """JSON texts that the field `name` must reject, from its schema."""
    yield from BROKEN_LITERALS
    schema = resolved(schema)
    if not is_nullable(schema):
        yield "null"
    schema = without_null(schema)
    options = {option.get("type"): option for option in schema.get("oneOf", ())}
    if "enum" in schema:
        yield from _no_choice(schema["enum"])
    elif "integer" in options:
        yield from NO_ID
    elif "number" in options:
        yield from _no_number(options["number"])
    elif schema.get("format") in NO_TIME:
        yield from NO_TIME[schema["format"]]
    elif schema.get("type") == "array":
        yield from (*OTHER_THAN_LIST, *["[]"][: schema.get("minItems", 0)])
        yield from ("[null]", "[[]]", json.dumps([1] * (schema["maxItems"] + 1)))
    elif "properties" in schema:
        yield from ("0", "1.5", "true", '"a"', '""', "[]", "[{}]", "{}")
    elif "additionalProperties" in schema:
        yield from ("0", "true", '"a"', "[]", "[[1,2]]", "{}")
        keys = ("abc", "", "0", "07", " 7", "-1", "1.5", "１", str(2**63), "9" * 400, "a\\ud800")
        for key in keys:
            yield f'{{"{key}": 1}}'
    else:
        yield from _no_text_or_count(name, schema)


def _no_number(schema: Mapping[str, Any]) -> Iterator[str]:
    may_be_zero = schema.get("minimum", 1) <= 0
    yield from (text for text in NO_NUMBER if not (may_be_zero and text in SMALL))
    yield str(schema["maximum"] + 1)
    yield json.dumps(str(schema["maximum"] + 1))


#: Forms that libraries take besides the one with hyphens, and what only looks like it.
NO_UUID = [
    *('""', '"x"', '"00000000000000000000000000000000"', '"urn:uuid:' + f'{UUID(int=1)}"'),
    *(f'"{{{UUID(int=1)}}}"', f'"{UUID(int=1)} "', f'"{UUID(int=1)}0"'),
    *('"0000_000-0000-0000-0000-000000000000"', f'"{"0" * 7}\uff10{str(UUID(int=1))[8:]}"'),
]


def _no_choice(options: list[str]) -> Iterator[str]:
    first = options[0]
    look_alike = first.upper().translate(
        {ord("E"): "\u0395", ord("A"): "\u0410", ord("U"): "\uff35"}
    )
    yield from OTHER_THAN_TEXT
    other_case = {first.lower(), first.upper(), first.title()} - {*options}
    for text in ("", "UNKNOWN", *sorted(other_case), f"{first} ", look_alike, "A" * 10_000):
        yield json.dumps(text)


def _no_text_or_count(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if schema.get("type") == "boolean":
        yield from NO_BOOLEAN
        return
    if schema.get("type") == "integer":
        yield from (*NO_COUNT, str(schema["maximum"] + 1))
        return
    yield from OTHER_THAN_TEXT
    if schema.get("format") == "uuid":
        yield from NO_UUID
        return
    yield json.dumps("x" * (schema["maxLength"] + 1))
    if schema.get("minLength"):
        yield '""'
        if schema.get("format") != "password":
            yield '"  \\t "'
        if schema["minLength"] > 1:
            yield json.dumps("x" * (schema["minLength"] - 1))
    if schema["maxLength"] == 2048:
        yield from NO_URL
    if name == "email":
        yield from NO_EMAIL


def fields_of(schema: Mapping[str, Any], body: Any, path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """`(path, schema, required)` of every field in `body`, including nested ones."""
    schema = without_null(schema)
    if isinstance(body, dict) and "properties" in schema:
        for name, value in body.items():
            part = schema["properties"][name]
            yield (*path, name), part, name in schema.get("required", ())
            yield from fields_of(part, value, (*path, name))
    elif isinstance(body, dict) and "additionalProperties" in schema:
        # The valid range depends on the split type; all values are numbers above 0.
        number: dict[str, Any] = {"oneOf": [{"type": "number", "maximum": 10**12}]}
        if is_nullable(schema["additionalProperties"]):
            number["oneOf"] += [{"type": "string"}, {"type": "null"}]
        for key in list(body)[:1]:
            yield (*path, key), number, False
    elif isinstance(body, list):
        for item in body[:1]:
            yield (*path, 0), schema["items"], False
            yield from fields_of(schema["items"], item, (*path, 0))


def replaced(body: Any, path: tuple[Any, ...], literal: str | None) -> bytes:
    """`body` as JSON with `literal` at `path`; None omits the field."""
    copy = json.loads(json.dumps(body))
    place = copy
    for step in path[:-1]:
        place = place[step]
    if literal is None:
        del place[path[-1]]
        return json.dumps(copy).encode()
    place[path[-1]] = "<the hostile value>"
    return json.dumps(copy).replace('"<the hostile value>"', literal, 1).encode()


def names(document: Mapping[str, Any], path: tuple[Any, ...]) -> bool:
    """Whether the errors of a problem document name the field at `path` or a parent of it."""
    field = ".".join(map(str, path))
    return any(
        field == error or field.startswith(f"{error}.") or error.startswith(f"{field}.")
        for error in document.get("errors", ())
    )


def is_good(operation: Operation, answer: Any) -> bool:
    """Whether an answer accepts a valid body, or refuses it for another reason."""
    by_state = {"already_member", "account_in_use", "divided_by_hand"}
    by_state.add(merged("REFUSED_BY_STATE").get(str(operation), ""))
    return answer.status_code < 300 or answer.json()["code"] in by_state


class World:
    """A trip with entries, a client of its owner, and valid bodies for every endpoint."""

    def __init__(self, olga: Any, ed: Any, sam: Any, trip: Any) -> None:
        tokens = token_pair(Session.start(olga))
        refresh_token = tokens.refresh_token
        self.headers = {"Authorization": f"Bearer {tokens.token}"}
        self.client = self._new_client()
        account = {"name": "Nora", "email": "nora@example.com", "password": PASSWORD}
        plan = {
            "title": "Lisbon in May",
            "destination": "Lisbon",
            "description": "Trams.",
            "imageUrl": "http://169.254.169.254/lisbon.webp",
            "startDate": "2026-05-14",
            "endDate": "2026-05-18",
            "budget": 1200.5,
            "currency": "EUR",
            "joinRole": "EDITOR",
            "defaultDivision": {"splitType": "EQUAL", "participantUserIds": [olga.pk]},
            "categoryBudgets": {"FOOD": 300},
        }
        weighted = plan | {"defaultDivision": {**plan["defaultDivision"], "splitType": "SHARES"}}
        weighted["defaultDivision"]["splitAmounts"] = {str(olga.pk): 2}
        dinner = {
            "description": "Dinner",
            "amount": 62.5,
            "expenseDate": "2026-05-14",
            "participantUserIds": [olga.pk, ed.pk],
            "category": "FOOD",
            "receiptUrl": "https://x.example/1.webp",
            "notes": "Alfama",
            "tags": ["fish", "by the sea"],
        }
        by_amount = dinner | {
            "splitType": "MANUAL",
            "splitAmounts": {str(olga.pk): 40, str(ed.pk): 22.5},
            "payers": [{"userId": olga.pk, "amount": 50}, {"userId": ed.pk, "amount": 12.5}],
            "currency": "USD",
            "exchangeRate": 0.9,
        }
        equally = dinner | {"splitType": "EQUAL", "paidByUserId": olga.pk}
        by_items = dinner | {"splitType": "ITEMIZED", "tax": 6, "tip": 4.5, "discount": 3}
        by_items["items"] = [{"name": "Fish", "amount": 55, "shares": {str(olga.pk): 1}}]
        by_items["participantUserIds"] = [olga.pk]
        settlement = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 5, "note": "cash"}
        settlement["settledOn"] = "2026-05-20"
        in_dollars = settlement | {"currency": "USD", "exchangeRate": 0.9}
        trip_url = f"/api/trips/{trip.pk}"
        expense = self.made(f"{trip_url}/expenses", equally)
        tagged = equally | {"tags": ["wine"]}
        self.other_expense_id = self.made(f"{trip_url}/expenses", tagged)["id"]
        self.other_trip_id = self.made("/api/trips", plan | {"defaultDivision": None})["id"]
        split_url = f"/api/expenses/{expense['id']}/splits"
        mine, eds = (split["id"] for split in expense["splits"])
        assert self.client.delete(f"{split_url}/{eds}").status_code == 204
        settled = self.made(f"{trip_url}/settlements", settlement)
        plan_tag = self.client.get(f"{trip_url}/settle-up").headers["ETag"].strip('"')
        day_after = timezone.now() + timedelta(days=1)
        script = {"name": "Import", "scopes": ["trips:read", "expenses:write"], "tripId": trip.pk}
        script["expiresAt"] = day_after.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        token = self.made("/api/users/me/tokens", script)
        self.ids = {
            "tokenId": token["id"],
            "sessionUuid": str(Session.start(olga).pk),
            "tripId": trip.pk,
            "userId": olga.pk,
            "expenseId": expense["id"],
            "splitId": mine,
            "settlementId": settled["id"],
            "email": ed.email,
        }
        self.member_id = ed.pk
        self.guest_id = self.made(f"{trip_url}/guests", {"name": "Grandma"})["user"]["id"]
        self.bodies = {
            "POST /api/users/register": [account],
            "POST /api/users/login": [{"email": olga.email, "password": PASSWORD}],
            "POST /api/users/token/refresh": [{"refreshToken": refresh_token}],
            "POST /api/users/logout": [{"refreshToken": refresh_token}],
            "POST /api/users/password-reset": [{"email": ed.email}],
            "POST /api/users/password-reset/confirm": [
                {"token": EmailToken.make(ed, MailTemplate.RESET), "newPassword": f"{PASSWORD}-2"}
            ],
            "POST /api/users/verify-email": [{"token": EmailToken.make(ed, MailTemplate.VERIFY)}],
            "DELETE /api/users/me": [{"password": PASSWORD}],
            "PUT /api/users/{userId}": [{**account, "currentPassword": PASSWORD}],
            "PUT /api/users/{userId}/profile": [
                {
                    "name": "Olga",
                    "email": "olga@example.org",
                    "profilePicture": "https://x.example/olga.webp",
                    "currency": "JPY",
                    "mayBeAdded": False,
                    "currentPassword": PASSWORD,
                    "newPassword": f"{PASSWORD}-2",
                    "newPasswordConfirm": f"{PASSWORD}-2",
                }
            ],
            "POST /api/users/me/tokens": [script],
            "POST /api/trips": [plan, weighted],
            "PUT /api/trips/{tripId}": [plan, weighted],
            "PATCH /api/trips/{tripId}": [plan, weighted],
            "POST /api/trips/{tripId}/members": [
                {"userId": sam.pk, "role": "EDITOR"},
                {"email": sam.email, "role": "EDITOR"},
            ],
            "POST /api/trips/{tripId}/guests": [{"name": "Grandma"}],
            "PUT /api/trips/{tripId}/guests/{userId}": [{"name": "Granny"}],
            "PUT /api/trips/{tripId}/members/{userId}/role": [{"role": "VIEWER"}],
            "POST /api/trips/{tripId}/expenses": [by_amount, equally, by_items],
            "PUT /api/trips/{tripId}/expenses/{expenseId}": [by_amount, equally, by_items],
            "PATCH /api/trips/{tripId}/expenses/{expenseId}": [by_amount, equally, by_items],
            "POST /api/expenses/{expenseId}/splits": [
                {"participantUserId": ed.pk, "amount": 10},
                {"participantUserId": ed.pk, "percentage": 12.5},
            ],
            "POST /api/trips/{tripId}/expenses/preview": [by_amount, equally, by_items],
            "POST /api/trips/{tripId}/settlements": [settlement, in_dollars],
            "POST /api/trips/{tripId}/settle-up": [{"tag": plan_tag}],
        }
        #: An expense that can be recorded.
        self.equally = equally
        for fill_world in answers("fill_world"):
            fill_world(self)
        self._name_what_is_created()

    def _name_what_is_created(self) -> None:
        for operation in OPERATIONS:
            if operation.body and "clientId" in operation.body.get("properties", ()):
                first, *others = self.bodies[str(operation)]
                self.bodies[str(operation)] = [first | {"clientId": str(UUID(int=7))}, *others]

    def with_new_client(self) -> "World":
        """The same rows and bodies with a client that has met no other test."""
        world = copy(self)
        world.client = self._new_client()
        return world

    def _new_client(self) -> APIClient:
        # The request id is always the same, so that responses can be compared byte by byte.
        client = APIClient(enforce_csrf_checks=True, HTTP_X_REQUEST_ID="test")
        client.raise_request_exception = False
        client.credentials(HTTP_AUTHORIZATION=self.headers["Authorization"])
        return client

    def made(self, url: str, body: dict[str, Any]) -> Any:
        response = self.client.post(url, body)
        assert response.status_code == 201, response.content
        return response.json()

    def ids_at(self, path: str) -> dict[str, Any]:
        """The value of each path parameter; after `members`, the user is Ed."""
        if "/guests/" in path:
            return self.ids | {"userId": self.guest_id}
        return self.ids | ({"userId": self.member_id} if "/members/" in path else {})

    def url(self, operation: Operation, **ids: Any) -> str:
        return operation.url(self.ids_at(operation.path) | ids)

    def send(
        self, op: Operation, body: bytes, language: str = "en", query: str = "", **more: Any
    ) -> Any:
        """Call `op` with a raw body; `more` may contain another `content_type`.

        Every POST has the same key, because a rejected request must leave it unused.
        """
        more.setdefault("content_type", "application/json")
        headers = {"Accept-Language": language}
        if op.method == "POST":
            headers["Idempotency-Key"] = "the-same"
        return self.client.generic(op.method, self.url(op) + query, body, headers=headers, **more)

    def outcome(self, operation: Operation, body: bytes, **more: Any) -> tuple[int, Any, Any]:
        """What a request answers and stores, apart from keys, instants and secrets; then undone."""
        with rolled_back():
            response = self.send(operation, body, **more)
            stored = {
                table: sorted((_lasting(found.columns, row) for row in found.rows), key=repr)
                for table, found in everything_stored().items()
            }
        errors = response.json().get("errors") if response.status_code == 400 else None
        return response.status_code, errors, stored


def _lasting(columns: Iterable[str], row: Iterable[Any]) -> dict[str, Any]:
    """A row without what is another for every new row; PostgreSQL takes no number back."""
    passing = (
        *("_at", "_id", "body", "code", "fingerprint", "hash", "hint", "jti", "location"),
        *("password", "secret", "digest", "salt", "stored_changes", "former_names"),
    )
    return {
        name: value
        for name, value in zip(columns, row, strict=True)
        if name not in {"id", "at"} and not name.endswith(passing)
    }
