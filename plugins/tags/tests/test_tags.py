"""The tags of a trip, and their renaming."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings, strategies
from rest_framework.exceptions import NotFound, PermissionDenied

from plugins.tags.models import rename_tag
from splits.models import Payer
from tests.test_plans import MANY, dearest, fill_unknown, in_either_state


def test_the_tags_of_a_trip_are_counted_in_any_spelling(ledger, olga):
    for tags in (["Sea", "fish"], ["sea"], ["Sea"], []):
        ledger.spend(olga, 1, olga, tags=tags)
    page = ledger.answer(olga, "get", "tags").json()
    assert page["items"] == [{"name": "Sea", "count": 3}, {"name": "fish", "count": 1}]
    assert page["total"] == 2


def test_a_renamed_tag_is_merged_with_one_of_that_name(ledger, olga, ed):
    both = ledger.spend(olga, 1, olga, tags=["fish", "x", "Seafood"])
    one = ledger.spend(ed, 1, ed, tags=["FISH"])
    other = ledger.spend(olga, 1, olga, tags=["x"])
    renamed = ledger.answer(olga, "patch", "tags/Fish", {"name": " Seafood "})
    assert renamed.json() == {"name": "Seafood", "count": 2}
    assert ledger.expense(both)["tags"] == ["Seafood", "x"]
    assert ledger.expense(one)["tags"] == ["Seafood"]
    assert ledger.expense(other) == other
    assert ledger.answer(olga, "patch", "tags/fish", {"name": "y"}).status_code == 404
    changed = ledger.journal(event="expense.changed")
    assert {row.object_id for row in changed} == {both["id"], one["id"]}


def test_an_editor_renames_only_what_is_on_their_own_expenses(ledger, olga, ed, vera):
    ledger.spend(ed, 1, ed, tags=["fish"])
    assert ledger.answer(vera, "patch", "tags/fish", {"name": "x"}).status_code == 403
    assert ledger.answer(ed, "patch", "tags/fish", {"name": "a/b"}).status_code == 200
    ledger.spend(olga, 1, olga, tags=["A/B"])
    assert ledger.answer(ed, "patch", "tags/a/b", {"name": "c"}).status_code == 403
    assert ledger.answer(olga, "patch", "tags/a%2Fb", {"name": "c"}).status_code == 200


def test_tag_and_right_to_rename_are_checked_again_behind_the_lock(ledger, trip, olga, ed):
    expense = ledger.spend(olga, 1, olga, tags=["fish"])
    with pytest.raises(PermissionDenied):
        rename_tag(trip, ed, "fish", "x")
    with pytest.raises(NotFound):
        rename_tag(trip, olga, "meat", "x")
    assert ledger.expense(expense) == expense


@pytest.mark.parametrize("is_owner", [True, False])
def test_a_rename_reads_the_tags_of_all_expenses_at_once(ledger, olga, ed, is_owner):
    numbers = set()
    for old, new in ("ab", "bc", "cd"):
        ledger.spend(ed, 1, ed, tags=[old])
        with CaptureQueriesContext(connection) as queries:
            renamed = ledger.answer(olga if is_owner else ed, "patch", f"tags/{old}", {"name": new})
        assert renamed.status_code == 200
        assert "stored_items" not in str(queries.captured_queries)
        numbers.add(len(queries))
    assert len(numbers) == 1


def test_who_paid_renames_what_others_recorded_in_the_same_number_of_statements(ledger, olga, ed):
    numbers = set()
    ledger.spend(ed, 1, ed, tags=["a"])
    for old, new in ("ab", "bc", "cd"):
        ledger.spend(olga, 1, ed, paidByUserId=ed.pk, tags=[old])
        with CaptureQueriesContext(connection) as queries:
            renamed = ledger.answer(ed, "patch", f"tags/{old}", {"name": new})
        assert renamed.status_code == 200
        numbers.add(len(queries))
    assert len(numbers) == 1


def test_many_expenses_with_the_same_tags_are_renamed_by_one_statement(ledger, olga):
    for tags in (["a", "x"], ["a", "x"], ["a"], ["x"]):
        ledger.spend(olga, 1, olga, tags=tags)
    with CaptureQueriesContext(connection) as queries:
        ledger.answer(olga, "patch", "tags/a", {"name": "b"})
    changes = [one["sql"] for one in queries if one["sql"].startswith('UPDATE "splits_expense"')]
    assert len(changes) == 2
    assert not any("CASE" in sql for sql in changes)


TAGS = strategies.lists(strategies.sampled_from(["a", "A", "b", "B", "c", "ß", "SS"]), max_size=4)


@pytest.mark.slow
@given(lists=strategies.lists(TAGS, max_size=5), old=strategies.sampled_from("abc"))
@settings(max_examples=25)
def test_a_rename_leaves_no_old_name_and_no_tag_twice(ledger, olga, lists, old):
    made = [ledger.spend(olga, 1, olga, tags=tags) for tags in lists]
    ledger.answer(olga, "patch", f"tags/{old}", {"name": "B"})
    for expense in made:
        keys = [tag.casefold() for tag in ledger.expense(expense)["tags"]]
        before = {tag.casefold() for tag in expense["tags"]}
        wanted = {"b" if key == old else key for key in before}
        assert set(keys) == wanted
        assert len(keys) == len(set(keys))
        assert ledger.answer(olga, "delete", f"expenses/{expense['id']}").status_code == 204


@pytest.mark.postgresql
@in_either_state
def test_without_statistics_a_rename_compares_few_rows(api, trip, olga, ed, is_analysed):
    """Olga recorded all expenses, and Ed paid them: they are his own."""
    fill_unknown(trip, olga, ed, is_analysed=is_analysed)
    trip.expenses.update(tags=["fish"])
    Payer.objects.filter(trip=trip).update(user=ed)
    renamed = (f"/api/trips/{trip.pk}/tags/fish", {"name": "x"})
    rows, sql = dearest(api(ed).patch, *renamed)
    assert rows < MANY * 50, sql
