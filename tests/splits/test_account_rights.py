"""One's own data as a file, and the end of one's own account."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from rest_framework.response import Response
from rest_framework.test import APIClient

from splits.reports.audit import differences
from tests.cast import Api
from tests.factories import PASSWORD, TripFactory, UserFactory, join, settle, spend
from tests.users.logins import is_alive, log_in, try_to_log_in
from tests.walked import all_of
from tripcompanion.database.models import IdempotencyRecord
from tripcompanion.plugin import plugins
from trips.models import Member, Trip
from trips.roles import TripRole
from users.export import personal_data
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail, Role, Session, User

pytestmark = pytest.mark.either

Limits = Callable[..., None]


def delete(client: APIClient, password: Any = PASSWORD) -> Response:
    return client.delete("/api/users/me", {"password": password})


@pytest.fixture
def ledgers(trip: Trip, olga: User, ed: User, vera: User) -> Trip:
    """Ed paid, owes and is owed; he recorded one expense that is none of his; he settled."""
    spend(trip, 3000, paid_by=olga, among=[olga, ed, vera], description="Boat")
    spend(trip, 900, paid_by=ed, among=[ed, vera], description="Tarts")
    settle(trip, ed, olga, 400, note="In cash")
    settle(trip, vera, olga, 100)
    return trip


# -- The copy ------------------------------------------------------------------------------------


def export(client: APIClient) -> Any:
    response = client.get("/api/users/me/export")
    assert response.status_code == 200
    return json.loads(response.content)


def test_it_is_a_file_of_everything_about_the_caller(
    api: Api, ledgers: Trip, olga: User, ed: User, vera: User
) -> None:
    response = api(ed).get("/api/users/me/export")
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"] == 'attachment; filename="trip-companion.json"'
    held = json.loads(response.content)
    assert held["account"]["email"] == "ed@example.com"
    assert held["account"]["emailVerifiedAt"] is None
    assert len(held["logIns"]) == 1
    [membership] = held["memberships"]
    assert (membership["tripId"], membership["role"]) == (ledgers.pk, "EDITOR")
    sums = ("paid", "share", "sent", "received", "balance")
    assert [membership[name] for name in sums] == [9, 14.5, 4, 0, -1.5]
    assert [(row["description"], row["amount"]) for row in held["expenses"]] == [("Tarts", 9)]
    assert [(row["description"], row["amount"]) for row in held["payments"]] == [("Tarts", 9)]
    parts = [(row["description"], row["amount"]) for row in held["splits"]]
    assert parts == [("Boat", 10), ("Tarts", 4.5)]
    people = {user.pk: {"id": user.pk, "name": user.name} for user in (olga, ed, vera)}
    debts = [(row["from"], row["to"], row["amount"], row["open"]) for row in held["debts"]]
    assert debts == [
        (people[ed.pk], people[olga.pk], 10, 6),
        (people[vera.pk], people[ed.pk], 4.5, 4.5),
    ]
    [settlement] = held["settlements"]
    assert (settlement["to"], settlement["amount"]) == (people[olga.pk], 4)
    assert (settlement["note"], settlement["recordedBy"]) == ("In cash", people[ed.pk])


def test_an_expense_in_another_currency_has_its_rate_and_the_amount_of_the_trip(
    api: Api, trip: Trip, olga: User, ed: User
) -> None:
    spend(trip, 3000, paid_by=ed, among=[olga], currency="USD", exchange_rate=Decimal("0.5"))
    held = export(api(ed))
    [expense], [payment] = held["expenses"], held["payments"]
    assert (expense["exchangeRate"], expense["exchangeRateSource"]) == (0.5, "ENTERED")
    for row in (expense, payment):
        assert (row["amount"], row["currency"]) == (30, "USD")
        assert (row["tripAmount"], row["tripCurrency"]) == (15, "EUR")
    assert expense.keys().isdisjoint({"paidBy", "payers", "splits"})


def test_others_appear_with_id_and_name_only_and_no_secret_is_in_it(
    api: Api, ledgers: Trip, ed: User
) -> None:
    EmailToken.make(ed, MailTemplate.RESET)
    text = api(ed).get("/api/users/me/export").content.decode()
    for other in ("olga@example.com", "vera@example.com"):
        assert other not in text
    ed.refresh_from_db()
    session = Session.objects.get(user=ed)
    secrets = [ed.password, session.refresh_jti, session.auth_hash, EmailToken.objects.get().digest]
    for secret in secrets:
        assert secret not in text


def test_what_is_of_others_is_not_in_it(api: Api, ledgers: Trip, sam: User) -> None:
    held = export(api(sam))
    empty = {name: rows for name, rows in held.items() if name not in {"account", "logIns"}}
    assert empty == dict.fromkeys(empty, [])
    lists = [rows.name for app in plugins() for rows in app.personal_data()]
    assert len(empty) == len(lists) - 1


def test_a_former_member_still_gets_what_is_theirs(api: Api, olga: User, ed: User) -> None:
    trip = TripFactory()
    join(trip, olga, TripRole.OWNER)
    join(trip, ed)
    api(ed).post(f"/api/trips/{trip.pk}/members/leave")
    [membership] = export(api(ed))["memberships"]
    assert membership["leftAt"] is not None


def test_it_is_limited_per_user(api: Api, limits: Limits, olga: User, ed: User) -> None:
    limits(export="2/hour")
    client = api(olga)
    statuses = [client.get("/api/users/me/export").status_code for _time in range(3)]
    assert statuses == [200, 200, 429]
    assert api(ed).get("/api/users/me/export").status_code == 200
    assert client.get("/api/users/me").status_code == 200


def test_every_table_that_names_people_is_in_it_or_known_to_need_no_place(ed: User) -> None:
    """A model that comes to hold something about people must be thought of here."""
    shown = {rows.of(ed).model._meta.label for rows in personal_data()}
    naming = {
        relation.related_model._meta.label
        for relation in User._meta.get_fields(include_hidden=True)
        if relation.one_to_many
    }
    # Hashes, answers of a day, what is to be mailed, the log of the administrators' doings, and
    # second factors.
    assert naming - shown == {
        "users.EmailToken",
        "users.Mail",
        "kit.IdempotencyRecord",
        "admin.LogEntry",
        "otp_static.StaticDevice",
        *all_of("NOT_EXPORTED"),
    }


# -- The end -------------------------------------------------------------------------------------


def test_who_is_square_with_everybody_may_go(api: Api, ledgers: Trip, sam: User) -> None:
    pair = log_in(sam)
    join(TripFactory(), sam, TripRole.OWNER)
    response = delete(api(sam))
    assert (response.status_code, response.content) == (204, b"")
    assert not is_alive(pair["token"])
    assert try_to_log_in("sam@example.com").status_code == 401
    sam.refresh_from_db()
    assert (sam.name, sam.email, sam.email_verified_at) == ("Deleted user", None, None)
    assert not Member.objects.present().filter(user=sam).exists()


def test_nothing_of_theirs_is_left_in_other_tables(api: Api, sam: User) -> None:
    client = api(sam)
    EmailToken.make(sam, MailTemplate.VERIFY)
    Mail.objects.ask_to_verify(sam)
    trip = client.post(
        "/api/trips",
        {"title": "Porto", "destination": "Porto", "startDate": "2026-05-14",
         "endDate": "2026-05-15"},
        HTTP_IDEMPOTENCY_KEY="porto",
    )  # fmt: skip
    assert trip.status_code == 201
    assert delete(client).status_code == 204
    for model in (Session, EmailToken, Mail, IdempotencyRecord):
        assert not model.objects.filter(user=sam).exists()


def test_all_that_stands_in_the_way_is_listed(
    api: Api, ledgers: Trip, olga: User, ed: User
) -> None:
    yen = TripFactory(title="Kyoto", currency="JPY")
    join(yen, olga)
    join(yen, ed, TripRole.OWNER)
    spend(yen, 1200, paid_by=ed, among=[ed, olga])
    response = delete(api(ed))
    document = response.json()
    assert (response.status_code, document["code"]) == (409, "account_in_use")
    assert document["obstacles"] == [
        {
            "tripId": ledgers.pk, "title": ledgers.title, "reason": "balance_open",
            "balance": -1.5, "currency": "EUR",
        },
        {
            "tripId": yen.pk, "title": "Kyoto", "reason": "balance_open",
            "balance": 600, "currency": "JPY",
        },
        {
            "tripId": yen.pk, "title": "Kyoto", "reason": "last_owner",
            "balance": 600, "currency": "JPY",
        },
    ]  # fmt: skip
    assert api(ed).get("/api/users/me").status_code == 200
    assert Member.objects.present().filter(user=ed).count() == 2


def test_a_balance_in_a_trip_that_one_has_left_counts_too(
    api: Api, trip: Trip, olga: User, ed: User
) -> None:
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    settle(trip, ed, olga, 500)
    assert api(ed).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    assert api(olga).patch(
        f"/api/trips/{trip.pk}/expenses/{expense.pk}", {"amount": 20}
    ).status_code == 200  # fmt: skip
    [obstacle] = delete(api(ed)).json()["obstacles"]
    assert (obstacle["reason"], obstacle["balance"]) == ("balance_open", -5)


def test_once_everything_is_put_right_they_may_go(
    api: Api, ledgers: Trip, olga: User, ed: User
) -> None:
    assert delete(api(ed)).status_code == 409
    tag = api(olga).get(f"/api/trips/{ledgers.pk}/settle-up").headers["ETag"].strip('"')
    assert api(olga).post(f"/api/trips/{ledgers.pk}/settle-up", {"tag": tag}).status_code == 201
    assert delete(api(ed)).status_code == 204
    assert delete(api(olga)).json()["obstacles"][0]["reason"] == "last_owner"
    assert list(differences()) == []


def test_the_text_is_in_spanish_too(api: Api, ledgers: Trip, ed: User) -> None:
    client = api(ed)
    response = client.delete(
        "/api/users/me", {"password": PASSWORD}, HTTP_ACCEPT_LANGUAGE="es"
    )  # fmt: skip
    assert response.json()["detail"] == "Salda primero tus cuentas y cede tus viajes."


def test_the_last_administrator_stays(api: Api, ada: User) -> None:
    response = delete(api(ada))
    assert (response.status_code, response.json()["code"]) == (409, "last_admin")
    UserFactory(role=Role.ADMIN)
    assert delete(api(ada)).status_code == 204


@pytest.mark.parametrize(
    "password", [..., None, "", "wrong", PASSWORD.upper(), f" {PASSWORD}", 12, "x" * 129]
)
def test_a_wrong_or_missing_password_is_refused_on_its_field(
    api: Api, sam: User, password: Any
) -> None:
    client = api(sam)
    response = client.delete("/api/users/me", {} if password is ... else {"password": password})
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert list(response.json()["errors"]) == ["password"]
    assert client.get("/api/users/me").status_code == 200


def test_guessing_the_password_counts_as_logging_in(
    api: Api, limits: Limits, olga: User, sam: User
) -> None:
    limits(login="3/hour")
    client = api(sam)
    assert try_to_log_in("SAM@example.com", "wrong").status_code == 401
    assert [delete(client, "wrong").status_code for _time in range(2)] == [400, 400]
    response = delete(client)
    assert (response.status_code, response.json()["code"]) == (429, "throttled")
    assert int(response["Retry-After"]) >= 1
    assert try_to_log_in("sam@example.com").status_code == 429
    assert delete(api(olga)).status_code == 204


def test_guessing_the_current_password_counts_as_logging_in(
    api: Api, limits: Limits, sam: User
) -> None:
    limits(login="3/min")
    client = api(sam)

    def change(current: str) -> Response:
        body = {"currentPassword": current, "newPassword": "five-yellow-umbrellas"}
        return client.put(f"/api/users/{sam.pk}/profile", body)

    assert [change("wrong").status_code for _time in range(3)] == [400] * 3
    assert change(PASSWORD).status_code == 429
    assert client.put(f"/api/users/{sam.pk}/profile", {"name": "Sammy"}).status_code == 200
