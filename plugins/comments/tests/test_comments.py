"""Comments on expenses: who writes, changes and deletes them, and when they go."""

from datetime import timedelta
from urllib.parse import quote

import pytest
import time_machine
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from plugins.comments.models import MAX_COMMENTS, Comment
from plugins.notices.tests.waiting import waiting, wanting
from splits.models import DeletedEntry
from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory, add_guest, spend
from tests.own_data import own_data
from tests.replay import Replay
from trips.deletion import delete_account
from trips.models import JournalEntry, Trip
from trips.signals import author_replaced
from users.mail_templates import first_notices
from users.models import Role

pytestmark = pytest.mark.either


def url_of(comment):
    return f"/api/expenses/{comment['expenseId']}/comments/{comment['id']}"


def test_every_member_writes_and_all_members_read_it(ledger, olga, ed, vera):
    expense = ledger.spend(olga, 60, olga, ed)
    written = [ledger.comment(expense, user, f"By {user.name}") for user in (vera, ed, olga)]
    assert [comment["by"]["id"] for comment in written] == [vera.pk, ed.pk, olga.pk]
    assert ledger.comments(expense) == written
    first = written[0]
    assert (first["expenseId"], first["text"]) == (expense["id"], "By Vera Viewer")
    assert first["createdAt"] == first["updatedAt"]
    page = ledger.answer(ed, "get", f"/api/expenses/{expense['id']}/comments?pageSize=2&page=2")
    assert (page.json()["total"], page.json()["items"]) == (3, written[2:])


def test_a_text_may_have_lines_and_2000_characters(ledger, olga):
    expense = ledger.spend(olga, 60, olga)
    assert ledger.comment(expense, olga, "  Two\nlines 🍷 ")["text"] == "Two\nlines 🍷"
    ledger.comment(expense, olga, "x" * 2000)


def test_only_the_author_changes_a_comment_not_even_an_owner_or_an_admin(
    ledger, api, olga, vera, ada
):
    """T162: Members change only their own comments."""
    expense = ledger.spend(olga, 60, olga)
    with time_machine.travel(timezone.now() - timedelta(hours=1)):
        comment = ledger.comment(expense, vera)
    for user in (olga, ada):
        problem_of(api(user).put(url_of(comment), {"text": "Mine"}), 403)
    changed = ledger.answer(vera, "put", url_of(comment), {"text": "Very tasty."})
    assert changed.status_code == 200
    assert changed.json()["text"] == "Very tasty."
    assert changed.json()["createdAt"] == comment["createdAt"] < changed.json()["updatedAt"]
    assert ledger.comments(expense) == [changed.json()]


def test_the_author_and_owners_delete_a_comment(ledger, olga, ed, vera):
    expense = ledger.spend(ed, 60, ed, vera)
    by_vera, also_by_vera = ledger.comment(expense, vera), ledger.comment(expense, vera)
    # Ed recorded the expense, but the comment is not his.
    problem_of(ledger.answer(ed, "delete", url_of(by_vera)), 403)
    assert ledger.answer(vera, "delete", url_of(by_vera)).status_code == 204
    assert ledger.answer(olga, "delete", url_of(also_by_vera)).status_code == 204
    problem_of(ledger.answer(vera, "delete", url_of(by_vera)), 404)
    assert ledger.comments(expense) == []


def test_an_expense_has_so_many_comments_and_no_more(api, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    Comment.objects.bulk_create(
        Comment(trip=trip, expense=expense, created_by=ed, text="x")
        for _number in range(MAX_COMMENTS - 1)
    )
    client, path = api(olga), f"/api/expenses/{expense.pk}/comments"
    assert client.post(path, {"text": "The last one"}).status_code == 201
    assert str(MAX_COMMENTS) in problem_of(client.post(path, {"text": "x"}), 409)["detail"]


def test_they_go_with_the_expense(ledger, olga):
    expense, other = ledger.spend(olga, 60, olga), ledger.spend(olga, 60, olga)
    ledger.comment(expense, olga)
    kept = ledger.comment(other, olga)
    ledger.delete(expense, olga)
    assert [comment.pk for comment in Comment.objects.all()] == [kept["id"]]


def test_a_deleted_account_leaves_empty_comments(ledger, olga, vera):
    """T182: No text of a deleted account's comments remains."""
    expense = ledger.spend(olga, 60, olga)
    ledger.comment(expense, vera, "My telephone number")
    ledger.comment(expense, olga, "Noted")
    assert [row["text"] for row in own_data(vera)["comments"]] == ["My telephone number"]
    ledger.answer(olga, "delete", url_of(ledger.comment(expense, vera, "My address")))
    delete_account(vera, by=None)
    for secret in ("telephone", "address"):
        assert not JournalEntry.objects.filter(stored_changes__contains=secret).exists()
    assert JournalEntry.objects.filter(stored_changes__contains="Noted").count() == 1
    assert [(row["by"]["name"], row["text"]) for row in ledger.comments(expense)] == [
        ("Deleted user", ""),
        (olga.name, "Noted"),
    ]


def test_a_deleted_administrator_leaves_empty_comments_where_they_were_no_member(
    ledger, api, olga, ada
):
    UserFactory(role=Role.ADMIN)
    expense, deleted = ledger.spend(olga, 60, olga), ledger.spend(olga, 60, olga)
    for each in (expense, deleted):
        ledger.comment(each, ada, "My address")
    ledger.delete(deleted, olga)
    with CaptureQueriesContext(connection) as queries:
        assert api(ada).delete(f"/api/users/{ada.pk}").status_code == 204
    lock = f'FROM "trips_trip" WHERE "trips_trip"."id" = {expense["tripId"]}'
    assert [query for query in queries if lock in query["sql"]]
    assert [row["text"] for row in ledger.comments(expense)] == [""]
    assert not JournalEntry.objects.filter(stored_changes__contains="address").exists()
    assert not DeletedEntry.objects.filter(stored_rows__contains="address").exists()
    latest = ledger.answer(olga, "get", "history?event=comment.changed").json()["items"]
    assert [row["object"]["id"] for row in latest] != []


def test_they_come_back_without_those_of_deleted_accounts(ledger, api, olga, ed, vera, trip):
    expense = ledger.spend(olga, 60, olga, ed)
    kept, forgotten = (ledger.comment(expense, user, "Tasty.") for user in (ed, vera))
    ledger.answer(olga, "delete", f"/api/trips/{trip.pk}/expenses/{expense['id']}")
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    [stored] = DeletedEntry.objects.all()
    assert [row["text"] for row in stored.stored["comments"]] == ["Tasty.", ""]
    path = f"/api/trips/{trip.pk}/expenses/{expense['id']}/restore"
    assert ledger.answer(olga, "post", path).status_code in {200, 201}
    first, second = ledger.comments(expense)
    assert first == kept
    assert (second["id"], second["text"]) == (forgotten["id"], "")
    replayed = Replay(dict(trip.members.values_list("user", "role"))).run(trip.pk).comments
    assert {pk: row["text"] for pk, row in replayed.items()} == {
        first["id"]: "Tasty.",
        second["id"]: "",
    }


def test_what_they_wrote_on_deleted_expenses_is_in_the_history(ledger, api, olga, vera):
    expense = ledger.spend(olga, 60, olga)
    ledger.comment(expense, vera, "Six of them.")
    ledger.delete(expense, olga)
    assert own_data(vera)["comments"] == []
    written = JournalEntry.objects.get(by=vera, event="comment.created")
    assert written.changes["text"]["new"] == "Six of them."


def test_those_of_somebody_who_leaves_their_place_to_a_guest_stay_theirs(
    ledger, api, olga, vera, trip
):
    """They were added again, and leave with an open balance."""
    expense, deleted = ledger.spend(olga, 60, olga), ledger.spend(olga, 60, olga)
    for each in (expense, deleted):
        ledger.comment(each, vera, "My address")
    ledger.delete(deleted, olga)
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    added = ledger.answer(olga, "post", "members", {"userId": vera.pk, "role": "VIEWER"})
    assert added.status_code == 201
    ledger.spend(olga, 60, olga, vera)
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    assert trip.members.present().filter(user__is_guest=True).count() == 1
    assert [row["by"]["id"] for row in ledger.comments(expense)] == [vera.pk]
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert [row["text"] for row in ledger.comments(expense)] == [""]
    assert not DeletedEntry.objects.filter(stored_rows__contains="address").exists()


def test_those_of_a_guest_in_a_file_go_to_who_takes_their_place(ledger, olga, vera, trip):
    guest = add_guest(trip)
    expense = ledger.spend(olga, 60, olga)
    ledger.comment(expense, vera, "Six of them.")
    Comment.objects.update(created_by=guest)
    author_replaced.send(Trip, trip=trip, user_id=guest.pk, to=vera.pk)
    assert [row["by"]["id"] for row in ledger.comments(expense)] == [vera.pk]


def moved_to(there, ledger, olga, expense):
    path = f"expenses/{expense['id']}/move"
    return ledger.answer(olga, "post", path, {"tripId": there.trip.pk}).json()


def test_those_of_people_who_are_there_move_along(ledger, ledger_in, api, olga, ed, ada):
    expense, there = ledger.spend(olga, 60, olga, ed), ledger_in("EUR")
    written = [ledger.comment(expense, by, f"By {by.name}.") for by in (ed, olga, ada, ed, ed)]
    imported = JournalEntry.objects.filter(event="comment.created", object_id=written[-1]["id"])
    assert imported.update(by=None, via="import") == 1
    shown = there.comments(moved_to(there, ledger, olga, expense))
    names = ("by", "text", "createdAt", "updatedAt")
    assert [[row[name] for name in names] for row in shown] == [
        [row[name] for name in names] for row in (written[0], written[1], written[3])
    ]
    rows = there.answer(olga, "get", "history?event=comment.created").json()["items"]
    assert {(row["object"]["id"], row["by"]["id"]) for row in rows} == {
        (row["id"], row["by"]["id"]) for row in shown
    }


def test_what_moved_along_is_emptied_with_the_account(ledger, ledger_in, api, olga, ed, vera):
    expense, there = ledger.spend(olga, 60, olga, ed), ledger_in("EUR")
    ledger.comment(expense, vera, "My address")
    moved = moved_to(there, ledger, olga, expense)
    [comment] = there.comments(moved)
    there.answer(olga, "delete", url_of(comment))
    back = moved_to(ledger, there, olga, moved)
    ledger.comment(back, vera, "My other address")
    again = moved_to(there, ledger, olga, back)
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    [row] = there.comments(again)
    assert (row["text"], row["by"]["name"]) == ("", "Deleted user")
    assert not JournalEntry.objects.filter(stored_changes__contains="address").exists()
    assert not DeletedEntry.objects.filter(stored_rows__contains="address").exists()


@pytest.mark.skipif(
    not apps.is_installed("plugins.expense_filters"), reason="without its parameter"
)
@pytest.mark.parametrize(
    ("query", "is_found"),
    [("eléctrico 28", True), ("sugar tram", False), ("100%", True), ("Soup sugar", False)],
)
def test_a_search_finds_an_expense_by_all_words_of_one_comment(ledger, olga, query, is_found):
    expense = ledger.spend(olga, 60, olga, description="Tram")
    ledger.spend(olga, 60, olga, description="Soup")
    for text in ("We took the Eléctrico 28.", "100% sugar"):
        ledger.comment(expense, olga, text)
    page = ledger.answer(olga, "get", f"expenses?search={quote(query)}").json()
    assert [row["id"] for row in page["items"]] == [expense["id"]] * is_found


def test_those_of_an_expense_that_was_deleted_without_them_are_not_shown_and_go(ledger, olga):
    """As if the plugin had been left out when the expense was deleted."""
    expense = ledger.spend(olga, 60, olga)
    ledger.comment(expense, olga)
    ledger.delete(expense, olga)
    Comment.objects.create(
        trip=ledger.trip, expense_id=expense["id"], created_by=olga, text="Tasty."
    )
    assert list(differences()) == []
    assert own_data(olga)["comments"] == []
    assert not Comment.objects.outdated().exists()
    DeletedEntry.objects.all().delete()
    assert Comment.objects.outdated().count() == 1


def test_those_in_the_expense_are_told_by_mail_but_not_the_author(ledger, olga, ed, vera):
    assert "comment.created" in first_notices()
    expense = ledger.spend(olga, 60, olga, ed)
    for user in (olga, ed, vera):
        wanting(user, events="comment.created")
    ledger.comment(expense, ed)
    assert (waiting(olga), waiting(ed), waiting(vera)) == (["COMMENT_CREATED"], [], [])
