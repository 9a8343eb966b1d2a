"""Threads that need the same statement first: one of them compiles it, and all use that."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from tests.compiled_only import compiled_only
from tripcompanion.compiled import CompiledQuery, CompiledUpdate, Param
from users.models import User

pytestmark = compiled_only

THREADS = 6


class Watched(Param):
    """A place for a value that counts how often, and by how many at once, it is written out."""

    def __init__(self, name):
        super().__init__(name)
        self.counts: Counter[str] = Counter()

    def __deepcopy__(self, memo):
        return self

    def as_sql(self, compiler, connection):
        self.counts["now"] += 1
        self.counts["at once"] = max(self.counts["at once"], self.counts["now"])
        self.counts["times"] += 1
        time.sleep(0.05)
        self.counts["now"] -= 1
        return super().as_sql(compiler, connection)


def at_once(*calls):
    """Each call in a thread of its own, with a connection of its own."""
    barrier = Barrier(len(calls))

    def run(call):
        connection.ensure_connection()
        barrier.wait()
        try:
            call()
        finally:
            # Django keeps one to a SQLite in memory open.
            connection.connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        list(pool.map(run, calls))


@pytest.fixture
def place(transactional_db, olga):
    return Watched("email")


def test_a_statement_that_many_need_at_once_is_compiled_once(place, olga):
    @CompiledQuery
    def found(email=place):
        return User.objects.filter(email=email)

    found_by_each: list[User] = []
    at_once(*[lambda: found_by_each.append(found.first(email=olga.email))] * THREADS)
    assert found_by_each == [olga] * THREADS
    assert place.counts["times"] == 1


def test_an_update_that_many_need_at_once_is_compiled_once(place, olga):
    @CompiledUpdate
    def renamed(email=place):
        return User.objects.filter(email=email), {"name": "Olga"}

    at_once(*[lambda: renamed(email="nobody@example.com")] * THREADS)
    assert place.counts["times"] == 1


def test_the_whole_and_a_page_of_a_queryset_are_not_compiled_at_the_same_time(place, olga):
    @CompiledQuery
    def found(email=place):
        return User.objects.filter(email=email).order_by("id")

    whole, page = found(email=olga.email), found(email=olga.email)
    at_once(*[lambda: list(whole)] * 3, *[lambda: page.page(10, 0)] * 3)
    assert page.page(10, 0) == ([olga], 1)
    assert place.counts["at once"] == 1
