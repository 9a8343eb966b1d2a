"""Rows T01-T16: what belongs to others does not exist, whoever asks and however they ask."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import PASSWORD, TripFactory
from tests.security.stage import NEVER, Stage
from tests.trips.access import everything_stored
from trips.models import Trip
from trips.models.trip import CODE_ALPHABET, CODE_CHARS, new_code
from users.serializers import UserSerializer

#: How many ids and codes are tried.
IDS, CODES = 60, 80
PRIVATE = ("role", "currency", "createdAt", "updatedAt")


def test_t01_a_strangers_trip_is_like_one_that_never_was(stage: Stage) -> None:
    stage.hides(stage.sam, "GET", stage.url)


def test_t02_nothing_of_a_strangers_trip_can_be_read(stage: Stage) -> None:
    for url in stage.reads():
        stage.hides(stage.sam, "GET", url)


def test_t03_nothing_of_a_strangers_trip_can_be_changed(stage: Stage) -> None:
    given = stage.settlement()
    for method, path, body in (
        ("PUT", "", {"title": "Mine"}),
        ("PATCH", "", {"title": "Mine"}),
        ("DELETE", "", None),
        ("POST", "/code", None),
        ("POST", "/members", {"userId": stage.sam.pk}),
        ("POST", "/members/leave", None),
        ("DELETE", f"/members/{stage.ed.pk}", None),
        ("PUT", f"/members/{stage.ed.pk}/role", {"role": "OWNER"}),
        ("POST", "/expenses", stage.expense_body()),
        ("PUT", f"/expenses/{stage.dinner.pk}", stage.expense_body()),
        ("PATCH", f"/expenses/{stage.dinner.pk}", {"notes": "Mine"}),
        ("DELETE", f"/expenses/{stage.dinner.pk}", None),
        ("POST", "/settlements", {"fromUserId": stage.ed.pk, "toUserId": stage.olga.pk}),
        ("DELETE", f"/settlements/{given.pk}", None),
        ("POST", "/settle-up", {"tag": "x"}),
    ):
        stage.hides(stage.sam, method, stage.url + path, body)


def test_t04_no_split_of_a_strangers_trip_is_there(stage: Stage) -> None:
    body = {"participantUserId": stage.sam.pk, "amount": 1}
    for method, url in (
        *(("GET", stage.splits_url), ("GET", stage.eds_url), ("POST", stage.splits_url)),
        *(("PUT", f"{stage.eds_url}/pay"), ("PUT", f"{stage.eds_url}/unpay")),
        ("DELETE", stage.eds_url),
    ):
        stage.hides(stage.sam, method, url, None if method in {"GET", "DELETE"} else body)


def test_t05_the_trip_is_the_one_in_the_path_whatever_the_body_says(stage: Stage) -> None:
    body = stage.expense_body(tripId=stage.trip.pk, participantUserIds=[stage.sam.pk])
    stage.hides(stage.sam, "POST", "/api/expenses", body)
    stage.hides(stage.sam, "POST", f"{stage.url}/expenses", body)
    made = stage.ask(stage.sam, "POST", f"/api/trips/{stage.sams.pk}/expenses", body)
    assert (made.status_code, made.json()["tripId"]) == (201, stage.sams.pk)


def test_t06_a_thing_is_not_there_under_the_parent_of_another(stage: Stage) -> None:
    """Olga is a member of both trips."""
    crossed = f"{stage.url}/expenses/{stage.hotel.pk}"
    stage.hides(stage.olga, "GET", crossed)
    stage.hides(stage.olga, "PUT", crossed, stage.expense_body())
    stage.hides(stage.olga, "PATCH", crossed, {"notes": "x"})
    stage.hides(stage.olga, "DELETE", crossed)
    given = stage.settlement()
    crossed = f"/api/trips/{stage.sams.pk}/settlements/{given.pk}"
    stage.hides(stage.olga, "GET", crossed)
    stage.hides(stage.olga, "DELETE", crossed)
    stage.hides(stage.olga, "GET", f"/api/trips/{stage.sams.pk}/members/{stage.ed.pk}")
    stage.hides(stage.olga, "GET", f"/api/trips/{stage.sams.pk}/balances/{stage.ed.pk}")


def test_t07_a_split_is_not_there_under_another_expense_of_its_trip(stage: Stage) -> None:
    other = stage.boat.splits.get(participant=stage.ed)
    crossed = f"{stage.splits_url}/{other.pk}"
    for method, url in (
        *(("GET", crossed), ("DELETE", crossed)),
        *(("PUT", f"{crossed}/pay"), ("PUT", f"{crossed}/unpay")),
    ):
        stage.hides(stage.olga, method, url)


@pytest.mark.parametrize("prefix", ["/api/users", "/api/expenses/users"])
def test_t08_what_somebody_owes_is_for_themselves_and_admin(stage: Stage, prefix: str) -> None:
    ids = [stage.ed.pk, stage.dora.pk, stage.sam.pk, *range(NEVER, NEVER + 20)]
    for question in ("pending-debts", "total-debt"):
        refusals = {
            stage.refuses(stage.olga, "GET", f"{prefix}/{pk}/{question}", status=403) for pk in ids
        }
        assert len(refusals) == 1
        for user in (stage.ed, stage.ada):
            assert stage.ask(user, "GET", f"{prefix}/{stage.ed.pk}/{question}").status_code == 200


def test_t09_what_one_sees_of_another_depends_on_shared_trips(stage: Stage) -> None:
    def seen(by: str, of: str) -> dict[str, bool]:
        user = stage.cast[of]
        shown = stage.ask(stage.cast[by], "GET", f"/api/users/{user.pk}").json()
        assert list(shown) == list(UserSerializer(user).data)
        return {name: shown[name] is not None for name in (*PRIVATE, "email")}

    assert all(seen("olga", "olga").values())
    assert all(seen("ada", "olga").values())
    assert seen("ed", "olga") == dict.fromkeys(PRIVATE, False) | {"email": True}
    assert seen("ed", "sam") == dict.fromkeys((*PRIVATE, "email"), False)
    stage.hides(stage.ed, "GET", f"/api/users/{NEVER}")


def test_t10_nobody_changes_the_account_of_another(stage: Stage) -> None:
    whole = {"name": "Mine", "email": "mine@example.com", "password": PASSWORD}
    refusals = set()
    for user in (stage.ed, stage.sam):
        for pk in (stage.olga.pk, stage.dora.pk, NEVER):
            for path, body in (("", whole), ("/profile", {"name": "Mine"}), ("/profile", {"x": 1})):
                url = f"/api/users/{pk}{path}"
                refusals.add(stage.refuses(user, "PUT", url, body, status=403, code="forbidden"))
    assert len(refusals) == 1


def test_t11_only_admin_deletes_accounts(stage: Stage) -> None:
    url = f"/api/users/{stage.vera.pk}"
    for user in (stage.vera, stage.ed, stage.sam):
        stage.refuses(user, "DELETE", url, status=403, code="forbidden")
    assert stage.ask(stage.ada, "DELETE", url).status_code == 204


def test_t12_a_trip_code_shows_a_preview_and_cannot_be_guessed(stage: Stage, limits) -> None:
    found = stage.ask(stage.sam, "GET", f"/api/trips/code/{stage.trip.code}").json()
    assert set(found) == {"title", "destination", "startDate", "endDate", "memberCount"}
    assert len(CODE_ALPHABET) ** CODE_CHARS >= 2**40
    limits(lookup="60/hour")
    answers = [
        stage.ask(stage.sam, "GET", f"/api/trips/code/{new_code()}").status_code
        for _turn in range(CODES)
    ]
    assert answers == [404] * 60 + [429] * (CODES - 60)


def test_t13_every_list_holds_exactly_what_one_may_see(stage: Stage) -> None:
    def ids(user: object, path: str) -> set[int]:
        answer = stage.ask(user, "GET", path).json()
        return {row["id"] for row in (answer["items"] if isinstance(answer, dict) else answer)}

    given = stage.settlement().pk
    mine = {"olga": {stage.trip.pk, stage.sams.pk}, "sam": {stage.sams.pk}, "ada": set()}
    for name, user in stage.cast.items():
        for path in ("/api/trips", "/api/trips/my-trips"):
            assert ids(user, path) == mine.get(name, {stage.trip.pk}), name
    for user in (stage.olga, stage.ed, stage.vera, stage.ada):
        assert ids(user, f"{stage.url}/expenses") == {stage.dinner.pk, stage.boat.pk}
        assert ids(user, f"{stage.url}/settlements") == {given}
        assert ids(user, stage.splits_url) == {split.pk for split in stage.dinner.splits.all()}
    assert ids(stage.sam, f"/api/trips/{stage.sams.pk}/expenses") == {stage.hotel.pk}
    owed = stage.hotel.splits.get(participant=stage.olga).pk
    assert ids(stage.olga, f"/api/users/{stage.olga.pk}/pending-debts") == {owed}


def test_t14_counting_through_ids_tells_nothing(stage: Stage) -> None:
    others = TripFactory.create_batch(5)
    ids = [trip.pk for trip in others] + [stage.trip.pk + at for at in range(IDS)]
    answers, costs = set(), set()
    for pk in (pk for pk in ids if pk != stage.sams.pk):
        with CaptureQueriesContext(connection) as queries:
            answer = stage.ask(stage.sam, "GET", f"/api/trips/{pk}")
        answers.add((answer.status_code, answer.content))
        costs.add(len(queries))
    assert len(answers) == 1
    # The time of an answer is that of its queries: one more would be an oracle.
    assert len(costs) == 1
    assert Trip.objects.filter(pk__in=ids).count() >= 6


def test_t15_who_is_removed_or_demoted_is_so_from_the_next_request_on(stage: Stage) -> None:
    body = stage.expense_body(participantUserIds=[stage.olga.pk], paidByUserId=stage.olga.pk)
    assert stage.ask(stage.ed, "POST", f"{stage.url}/expenses", body).status_code == 201
    role_url = f"{stage.url}/members/{stage.ed.pk}/role"
    assert stage.ask(stage.olga, "PUT", role_url, {"role": "VIEWER"}).status_code == 200
    stage.refuses(stage.ed, "POST", f"{stage.url}/expenses", body, status=403)
    for expense in (stage.dinner, stage.boat):
        assert stage.ask(stage.olga, "DELETE", f"{stage.url}/expenses/{expense.pk}").status_code
    removed = stage.ask(stage.olga, "DELETE", f"{stage.url}/members/{stage.ed.pk}")
    assert removed.status_code == 204
    stage.hides(stage.ed, "GET", stage.url)


def test_t16_head_and_options_show_no_more_than_get(stage: Stage) -> None:
    for url in stage.reads():
        head = stage.ask(stage.sam, "HEAD", url)
        assert (head.status_code, head.content) == (404, b"")
        assert stage.ask(stage.vera, "HEAD", url).status_code == 200
        for user in (stage.sam, stage.vera):
            before = everything_stored()
            options = stage.ask(user, "OPTIONS", url)
            assert options.status_code == 405
            assert b"actions" not in options.content
            assert everything_stored() == before
