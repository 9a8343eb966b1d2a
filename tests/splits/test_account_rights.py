"""The end of one's own account."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from splits.reports.audit import differences
from tests.document import fields_in
from tests.factories import PASSWORD, join, owned_trip, settle, spend
from tests.trips.bodies import lisbon
from tests.users.logins import is_alive, log_in, try_to_log_in
from tripcompanion.database.models import IdempotencyRecord
from trips.models import Member
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail, Session

pytestmark = pytest.mark.either


def delete(client, password=PASSWORD):
    return client.delete("/api/users/me", {"password": password})


def test_who_is_square_with_everybody_may_go(api, ledgers, sam):
    pair = log_in(sam)
    owned_trip(sam)
    response = delete(api(sam))
    assert (response.status_code, response.content) == (204, b"")
    assert not is_alive(pair["token"])
    assert try_to_log_in("sam@example.com").status_code == 401
    sam.refresh_from_db()
    assert (sam.name, sam.email, sam.email_verified_at) == ("Deleted user", None, None)
    assert not Member.objects.present().filter(user=sam).exists()


def test_nothing_of_theirs_is_left_in_other_tables(api, sam):
    client = api(sam)
    EmailToken.make(sam, MailTemplate.VERIFY)
    Mail.objects.ask_to_verify(sam)
    assert client.post("/api/trips", lisbon(), HTTP_IDEMPOTENCY_KEY="lisbon").status_code == 201
    assert delete(client).status_code == 204
    for model in (Session, EmailToken, Mail, IdempotencyRecord):
        assert not model.objects.filter(user=sam).exists()


def test_all_that_stands_in_the_way_is_listed(api, ledgers, olga, ed):
    yen = owned_trip(ed, title="Kyoto", currency="JPY")
    join(yen, olga)
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


def test_a_refusal_asks_as_many_statements_for_many_trips(api, trip, ed, olga):
    def refused():
        with CaptureQueriesContext(connection) as asked:
            assert delete(client).json()["code"] == "account_in_use"
        return len(asked)

    client = api(ed)
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    refused()
    of_one = refused()
    for _trip in range(5):
        other = owned_trip(olga)
        join(other, ed)
        spend(other, 1000, paid_by=olga, among=[olga, ed])
    assert refused() == of_one


def test_an_account_is_not_looked_for_in_every_trip(api, trip, sam):
    join(trip, sam)
    with CaptureQueriesContext(connection) as asked:
        assert delete(api(sam)).status_code == 204
    of_trips = [each["sql"] for each in asked if 'FROM "trips_trip"' in each["sql"]]
    assert len(of_trips) == 1
    assert f'"trips_trip"."id" = {trip.pk}' in of_trips[0]


def test_a_balance_in_a_trip_that_one_has_left_counts_too(api, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    settle(trip, ed, olga, 500)
    assert api(ed).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    assert api(olga).patch(
        f"/api/trips/{trip.pk}/expenses/{expense.pk}", {"amount": 20}
    ).status_code == 200  # fmt: skip
    [obstacle] = delete(api(ed)).json()["obstacles"]
    assert (obstacle["reason"], obstacle["balance"]) == ("balance_open", -5)


def test_once_everything_is_put_right_they_may_go(api, ledgers, olga, ed):
    assert delete(api(ed)).status_code == 409
    tag = api(olga).get(f"/api/trips/{ledgers.pk}/settle-up").headers["ETag"].strip('"')
    assert api(olga).post(f"/api/trips/{ledgers.pk}/settle-up", {"tag": tag}).status_code == 201
    assert delete(api(ed)).status_code == 204
    assert delete(api(olga)).json()["obstacles"][0]["reason"] == "last_owner"
    assert list(differences()) == []


@pytest.mark.parametrize(
    "password", [..., None, "", "wrong", PASSWORD.upper(), f" {PASSWORD}", 12, "x" * 129]
)
def test_a_wrong_or_missing_password_is_refused_on_its_field(api, sam, password):
    client = api(sam)
    response = client.delete("/api/users/me", {} if password is ... else {"password": password})
    assert fields_in(response) == ["password"]
    assert client.get("/api/users/me").status_code == 200


def test_guessing_the_password_counts_as_logging_in(api, limits, olga, sam):
    limits(login="3/hour")
    client = api(sam)
    assert try_to_log_in("SAM@example.com", "wrong").status_code == 401
    assert [delete(client, "wrong").status_code for _time in range(2)] == [400, 400]
    response = delete(client)
    assert (response.status_code, response.json()["code"]) == (429, "throttled")
    assert int(response["Retry-After"]) >= 1
    assert try_to_log_in("sam@example.com").status_code == 429
    assert delete(api(olga)).status_code == 204
