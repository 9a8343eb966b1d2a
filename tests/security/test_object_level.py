"""Rows T01-T16: what belongs to others does not exist, whoever asks and however they ask."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import PASSWORD, TripFactory
from tests.security.environment import NEVER, Environment
from tests.stored import everything_stored
from trips.models import Trip
from trips.models.joining import CODE_ALPHABET, CODE_CHARS, new_code
from users.serializers.account import UserSerializer

pytestmark = pytest.mark.either

#: How many ids and codes are tried.
IDS, CODES = 60, 80
PRIVATE = ("role", "currency", "createdAt", "updatedAt")


def test_t01_a_strangers_trip_is_like_one_that_never_was(environment: Environment) -> None:
    """T01: A stranger's trip looks exactly like a trip that does not exist."""
    environment.hides(environment.sam, "GET", environment.url)


def test_t02_nothing_of_a_strangers_trip_can_be_read(environment: Environment) -> None:
    """T02: Nothing in a stranger's trip can be read."""
    for url in environment.reads():
        environment.hides(environment.sam, "GET", url)


def test_t03_nothing_of_a_strangers_trip_can_be_changed(environment: Environment) -> None:
    """T03: Nothing in a stranger's trip can be changed."""
    given = environment.settlement()
    for method, path, body in (
        ("PUT", "", {"title": "Mine"}),
        ("PATCH", "", {"title": "Mine"}),
        ("DELETE", "", None),
        ("POST", "/code", None),
        ("POST", "/members", {"userId": environment.sam.pk}),
        ("POST", "/members/leave", None),
        ("DELETE", f"/members/{environment.ed.pk}", None),
        ("PUT", f"/members/{environment.ed.pk}/role", {"role": "OWNER"}),
        ("POST", "/expenses", environment.expense_body()),
        ("PUT", f"/expenses/{environment.dinner.pk}", environment.expense_body()),
        ("PATCH", f"/expenses/{environment.dinner.pk}", {"notes": "Mine"}),
        ("DELETE", f"/expenses/{environment.dinner.pk}", None),
        (
            "POST",
            "/settlements",
            {"fromUserId": environment.ed.pk, "toUserId": environment.olga.pk},
        ),
        ("DELETE", f"/settlements/{given.pk}", None),
        ("POST", "/settle-up", {"tag": "x"}),
    ):
        environment.hides(environment.sam, method, environment.url + path, body)


def test_t04_no_split_of_a_strangers_trip_is_there(environment: Environment) -> None:
    """T04: The splits of a stranger's trip look as if they did not exist."""
    body = {"participantUserId": environment.sam.pk, "amount": 1}
    for method, url in (
        *(
            ("GET", environment.splits_url),
            ("GET", environment.eds_url),
            ("POST", environment.splits_url),
        ),
        *(("PUT", f"{environment.eds_url}/pay"), ("PUT", f"{environment.eds_url}/unpay")),
        ("DELETE", environment.eds_url),
    ):
        environment.hides(environment.sam, method, url, body if method == "POST" else None)


def test_t05_the_trip_is_the_one_in_the_path_whatever_the_body_says(
    environment: Environment,
) -> None:
    """T05: The trip is taken from the path, whatever the body contains."""
    body = environment.expense_body(
        tripId=environment.trip.pk, participantUserIds=[environment.sam.pk]
    )
    environment.hides(environment.sam, "POST", "/api/expenses", body)
    environment.hides(environment.sam, "POST", f"{environment.url}/expenses", body)
    url = f"/api/trips/{environment.sams.pk}/expenses"
    environment.refuses(environment.sam, "POST", url, body, status=400)
    made = environment.ask(environment.sam, "POST", url, body, HTTP_PREFER="handling=lenient")
    assert (made.status_code, made.json()["tripId"]) == (201, environment.sams.pk)


def test_t06_a_thing_is_not_there_under_the_parent_of_another(environment: Environment) -> None:
    """T06: An object is not found under a parent that it does not belong to.

    Olga is a member of both trips.
    """
    crossed = f"{environment.url}/expenses/{environment.hotel.pk}"
    environment.hides(environment.olga, "GET", crossed)
    environment.hides(environment.olga, "PUT", crossed, environment.expense_body())
    environment.hides(environment.olga, "PATCH", crossed, {"notes": "x"})
    environment.hides(environment.olga, "DELETE", crossed)
    given = environment.settlement()
    crossed = f"/api/trips/{environment.sams.pk}/settlements/{given.pk}"
    environment.hides(environment.olga, "GET", crossed)
    environment.hides(environment.olga, "DELETE", crossed)
    environment.hides(
        environment.olga, "GET", f"/api/trips/{environment.sams.pk}/members/{environment.ed.pk}"
    )
    environment.hides(
        environment.olga, "GET", f"/api/trips/{environment.sams.pk}/balances/{environment.ed.pk}"
    )


def test_t07_a_split_is_not_there_under_another_expense_of_its_trip(
    environment: Environment,
) -> None:
    """T07: A split is not found under another expense of its trip."""
    other = environment.boat.splits.get(participant=environment.ed)
    crossed = f"{environment.splits_url}/{other.pk}"
    for method, url in (
        *(("GET", crossed), ("DELETE", crossed)),
        *(("PUT", f"{crossed}/pay"), ("PUT", f"{crossed}/unpay")),
    ):
        environment.hides(environment.olga, method, url)


@pytest.mark.parametrize("prefix", ["/api/users", "/api/expenses/users"])
def test_t08_what_somebody_owes_is_for_themselves_and_admin(
    environment: Environment, prefix: str
) -> None:
    """T08: Only the user and ADMINs can read what a user owes."""
    ids = [environment.ed.pk, environment.dora.pk, environment.sam.pk, *range(NEVER, NEVER + 20)]
    for question in ("pending-debts", "total-debt"):
        refusals = {
            environment.refuses(environment.olga, "GET", f"{prefix}/{pk}/{question}", status=403)
            for pk in ids
        }
        assert len(refusals) == 1
        for user in (environment.ed, environment.ada):
            assert (
                environment.ask(user, "GET", f"{prefix}/{environment.ed.pk}/{question}").status_code
                == 200
            )


def test_t09_what_one_sees_of_another_depends_on_shared_trips(environment: Environment) -> None:
    """T09: What a user can see of another depends on shared trips."""

    def seen(by: str, of: str) -> dict[str, bool]:
        user = environment.cast[of]
        shown = environment.ask(environment.cast[by], "GET", f"/api/users/{user.pk}").json()
        assert list(shown) == list(UserSerializer(user).data)
        return {name: shown[name] is not None for name in (*PRIVATE, "email")}

    assert all(seen("olga", "olga").values())
    assert all(seen("ada", "olga").values())
    assert seen("ed", "olga") == dict.fromkeys(PRIVATE, False) | {"email": True}
    assert seen("ed", "sam") == dict.fromkeys((*PRIVATE, "email"), False)
    environment.hides(environment.ed, "GET", f"/api/users/{NEVER}")


def test_t10_nobody_changes_the_account_of_another(environment: Environment) -> None:
    """T10: Nobody can change another user's account."""
    whole = {"name": "Mine", "email": "mine@example.com", "password": PASSWORD}
    refusals = set()
    for user in (environment.ed, environment.sam):
        for pk in (environment.olga.pk, environment.dora.pk, NEVER):
            for path, body in (("", whole), ("/profile", {"name": "Mine"}), ("/profile", {"x": 1})):
                url = f"/api/users/{pk}{path}"
                refusals.add(
                    environment.refuses(user, "PUT", url, body, status=403, code="forbidden")
                )
    assert len(refusals) == 1


def test_t11_only_admin_deletes_accounts(environment: Environment) -> None:
    """T11: Only an ADMIN can delete accounts by id."""
    url = f"/api/users/{environment.vera.pk}"
    for user in (environment.vera, environment.ed, environment.sam):
        environment.refuses(user, "DELETE", url, status=403, code="forbidden")
    assert environment.ask(environment.ada, "DELETE", url).status_code == 204


def test_t12_a_trip_code_shows_a_preview_and_cannot_be_guessed(
    environment: Environment, limits
) -> None:
    """T12: A trip code returns only a preview and cannot be guessed."""
    found = environment.ask(
        environment.sam, "GET", f"/api/trips/code/{environment.trip.code}"
    ).json()
    assert set(found) == {"title", "destination", "startDate", "endDate", "memberCount"}
    assert len(CODE_ALPHABET) ** CODE_CHARS >= 2**40
    limits(lookup="60/hour")
    answers = [
        environment.ask(environment.sam, "GET", f"/api/trips/code/{new_code()}").status_code
        for _turn in range(CODES)
    ]
    assert answers == [404] * 60 + [429] * (CODES - 60)


def test_t13_every_list_holds_exactly_what_one_may_see(environment: Environment) -> None:
    """T13: Every list contains exactly what the caller may see."""

    def ids(user: object, path: str) -> set[int]:
        answer = environment.ask(user, "GET", path).json()
        return {row["id"] for row in (answer["items"] if isinstance(answer, dict) else answer)}

    given = environment.settlement().pk
    mine = {
        "olga": {environment.trip.pk, environment.sams.pk},
        "sam": {environment.sams.pk},
        "ada": set(),
    }
    for name, user in environment.cast.items():
        for path in ("/api/trips", "/api/trips/my-trips"):
            assert ids(user, path) == mine.get(name, {environment.trip.pk}), name
    for user in (environment.olga, environment.ed, environment.vera, environment.ada):
        assert ids(user, f"{environment.url}/expenses") == {
            environment.dinner.pk,
            environment.boat.pk,
        }
        assert ids(user, f"{environment.url}/settlements") == {given}
        assert ids(user, environment.splits_url) == {
            split.pk for split in environment.dinner.splits.all()
        }
    assert ids(environment.sam, f"/api/trips/{environment.sams.pk}/expenses") == {
        environment.hotel.pk
    }
    owed = environment.hotel.splits.get(participant=environment.olga).pk
    assert ids(environment.olga, f"/api/users/{environment.olga.pk}/pending-debts") == {owed}


def test_t14_counting_through_ids_tells_nothing(environment: Environment) -> None:
    """T14: Enumerating ids reveals nothing."""
    others = TripFactory.create_batch(5)
    ids = [trip.pk for trip in others] + [environment.trip.pk + at for at in range(IDS)]
    answers, costs = set(), set()
    for pk in (pk for pk in ids if pk != environment.sams.pk):
        with CaptureQueriesContext(connection) as queries:
            answer = environment.ask(environment.sam, "GET", f"/api/trips/{pk}")
        answers.add((answer.status_code, answer.content))
        costs.add(len(queries))
    assert len(answers) == 1
    # The time of an answer is that of its queries: one more would be an oracle.
    assert len(costs) == 1
    assert Trip.objects.filter(pk__in=ids).count() >= 6


def test_t15_who_is_removed_or_demoted_is_so_from_the_next_request_on(
    environment: Environment,
) -> None:
    """T15: Removal and demotion take effect with the next request."""
    body = environment.expense_body(
        participantUserIds=[environment.olga.pk], paidByUserId=environment.olga.pk
    )
    assert (
        environment.ask(environment.ed, "POST", f"{environment.url}/expenses", body).status_code
        == 201
    )
    role_url = f"{environment.url}/members/{environment.ed.pk}/role"
    assert environment.ask(environment.olga, "PUT", role_url, {"role": "VIEWER"}).status_code == 200
    environment.refuses(environment.ed, "POST", f"{environment.url}/expenses", body, status=403)
    for expense in (environment.dinner, environment.boat):
        assert environment.ask(
            environment.olga, "DELETE", f"{environment.url}/expenses/{expense.pk}"
        ).status_code
    removed = environment.ask(
        environment.olga, "DELETE", f"{environment.url}/members/{environment.ed.pk}"
    )
    assert removed.status_code == 204
    environment.hides(environment.ed, "GET", environment.url)


def test_t16_head_and_options_show_no_more_than_get(environment: Environment) -> None:
    """T16: HEAD and OPTIONS reveal no more than GET."""
    for url in environment.reads():
        head = environment.ask(environment.sam, "HEAD", url)
        assert (head.status_code, head.content) == (404, b"")
        assert environment.ask(environment.vera, "HEAD", url).status_code == 200
        for user in (environment.sam, environment.vera):
            before = everything_stored()
            options = environment.ask(user, "OPTIONS", url)
            assert options.status_code == 405
            assert b"actions" not in options.content
            assert everything_stored() == before
