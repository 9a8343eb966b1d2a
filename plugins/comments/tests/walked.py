"""What the tests that walk all apps need to know of comments; see `tests/walked.py`."""

from typing import Any

from plugins.comments.models import Comment
from plugins.comments.rights import CanComment
from plugins.comments.views import CommentViewSet
from tests.factories import spend
from tests.trips.access import PROMISED as CORE
from tests.trips.access import Row, just
from trips.roles import Can

COMMENTS = "/api/expenses/{expense_id}/comments"
COMMENT = f"{COMMENTS}/{{comment_id}}"
ROWS = [
    Row("GET", COMMENTS, can=Can.READ),
    Row("POST", COMMENTS, 201, CanComment.COMMENT, just(text="Tasty.")),
    Row("PUT", COMMENT, can=CanComment.CHANGE_COMMENTS, body=just(text="Very tasty.")),
    Row("DELETE", COMMENT, 204, CanComment.DELETE_COMMENTS),
]
PROMISED = {
    CanComment.COMMENT: CORE[Can.READ],
    CanComment.CHANGE_COMMENTS: ("own",) * len(CORE[Can.READ]),
    CanComment.DELETE_COMMENTS: CORE[Can.SETTLE],
}
SCOPES_OF = dict.fromkeys(CanComment, "expenses:write")
AREAS = {CommentViewSet: "expenses"}
WRITTEN = {
    f"POST {COMMENTS}": ["comment.created"],
    f"PUT {COMMENT}": ["comment.changed"],
    f"DELETE {COMMENT}": ["comment.deleted"],
}
QUERIES = {COMMENTS: 4}
LISTS = {COMMENTS}
#: What is the same in the Spanish admin site.
DATA = ["Tasty", r"comment\.[a-z]+"]
COMMANDS = [
    (CanComment.COMMENT, "POST", COMMENTS, just(text="Tasty.")),
    (CanComment.CHANGE_COMMENTS, "PUT", COMMENT, just(text="Tasty.")),
    (CanComment.DELETE_COMMENTS, "DELETE", COMMENT),
]
OWNED_TABLES = ["splits_comment"]
PRUNED = ["comments on deleted expenses"]
READ_WHOLE = ["splits_comment"]
GUARDS = {
    "plugins/comments/apps.py": [
        ("trips that an ADMIN only comments in are not locked", "return [written_by(account)]",
         "return []", "plugins/comments/tests/test_comments.py"),
    ],
}  # fmt: skip


def ids(scene: Any, names: list[str]) -> dict[str, int]:
    if "comment_id" not in names:
        return {}
    return {"comment_id": Comment.write(scene.expense, scene.holder, "Tasty.").pk}


def waiting_ids(scene: Any, names: list[str], by: Any, can: Any) -> dict[str, int]:
    """A comment of the caller to change, or of Olga's to delete."""
    if "comment_id" not in names:
        return {}
    author = by if can is CanComment.CHANGE_COMMENTS else scene.olga
    path = f"/expenses/{scene.expense['id']}/comments"
    return {"comment_id": author.done("POST", path, {"text": "Tasty."})["id"]}


def fill_world(world: Any) -> None:
    path = f"/api/expenses/{world.ids['expenseId']}/comments"
    world.ids["commentId"] = world.made(path, {"text": "Tasty."})["id"]
    path = "/api/expenses/{expenseId}/comments"
    world.bodies |= {
        f"POST {path}": [{"text": "Tasty."}],
        f"PUT {path}/{{commentId}}": [{"text": "Very tasty."}],
    }


def many(trip: Any, _olga: Any, people: list[Any], expense: Any) -> dict[str, int]:
    # Each by another, so that a query for each author would be seen.
    Comment.objects.bulk_create(
        Comment(trip=trip, expense=expense, created_by=user, text="Tasty.") for user in people
    )
    return {}


def one_of_each(_trip: Any, _olga: Any, user: Any, expense: Any) -> None:
    Comment.write(expense, user, "Tasty.")


def lengthen(text: str) -> None:
    Comment.objects.update(text=text[:2000])


def sendable(client: Any, trip: Any, olga: Any, ed: Any) -> str:
    dinner = spend(trip, 1000, paid_by=olga, among=[ed])
    path = f"/api/expenses/{dinner.pk}/comments"
    return f"{path}/{client.post(path, {'text': 'Tasty.'}).json()['id']}"


#: Makes what takes back the answer that it gives, and with which method.
SENDABLE = [(sendable, "put")]
