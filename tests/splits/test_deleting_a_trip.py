"""A trip goes with its whole history, which is deleted unread, however long it is."""

import pytest
from django.apps import apps
from pytest_django import DjangoAssertNumQueries

from tests.conftest import Api
from tests.factories import TripFactory, join
from tests.splits.book import Book
from tripcompanion.kit.deleting import delete_unread
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

LEDGER = {*apps.get_app_config("splits").get_models(), *apps.get_app_config("trips").get_models()}


def counted() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in LEDGER}


def live(book: Book, olga: User, ed: User, vera: User, times: int) -> None:
    """Expenses, some of them paid, settled, or left over; then one that closes the trip.

    What Olga and Ed owe each other is closed with it.
    """
    for _time in range(times):
        book.spend(olga, 5, ed)
        book.spend(ed, 5, olga, paidByUserId=ed.pk)
        expense = book.spend(olga, 30, olga, ed, vera)
        book.pay(book.split(expense, ed), by=ed)
        book.settle(vera, olga, 4)
    book.settle(vera, olga, 6 * times)


@pytest.mark.parametrize("times", [1, 12])
def test_it_takes_as_many_statements_for_a_long_history(
    api: Api,
    trip: Trip,
    olga: User,
    ed: User,
    vera: User,
    times: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    book = Book(trip, api, olga)
    live(book, olga, ed, vera, times)
    assert all(count for name, count in counted().items() if name != "Rate")
    book.client(olga)
    with django_assert_num_queries(24):
        assert book.answer(olga, "delete", book.url).status_code == 204
    assert not any(counted().values())


def test_another_trip_of_the_same_people_stays(
    api: Api, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    join(other, ed, TripRole.EDITOR)
    join(other, vera)
    live(Book(other, api, olga), olga, ed, vera, 2)
    before = counted()
    book = Book(trip, api, olga)
    live(book, olga, ed, vera, 3)
    assert book.answer(olga, "delete", book.url).status_code == 204
    # The trip itself and its three members were there before.
    assert counted() == {**before, "Trip": before["Trip"] - 1, "Member": before["Member"] - 3}


def test_what_others_rely_on_is_not_deleted_like_that(olga: User, trip: Trip) -> None:
    with pytest.raises(TypeError, match="Member.user"):
        delete_unread(User.objects.filter(pk=olga.pk))
    assert User.objects.filter(pk=olga.pk).exists()
