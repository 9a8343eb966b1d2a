"""App configuration."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import (
    AssistantTool,
    ExpenseRows,
    Notice,
    Outdated,
    PersonalList,
    Plugin,
    Searched,
    TripObject,
    TripTable,
)


class CommentsConfig(Plugin):
    name = "plugins.comments"
    verbose_name = gettext_lazy("Comments")
    events = {
        "comment.created": gettext_lazy("%(by)s commented on %(what)s."),
        "comment.changed": gettext_lazy("%(by)s changed a comment on %(what)s."),
        "comment.deleted": gettext_lazy("%(by)s deleted a comment on %(what)s."),
    }
    notices = {
        "comment.created": Notice(
            gettext_lazy("notice: comment"),
            gettext_lazy("There is a new comment on an expense that you take part in:"),
            at_first=True,
        )
    }
    tools = {
        "add_comment": AssistantTool(
            "Comments on an expense. An equal call within a day changes nothing, unless it has "
            "another idempotencyKey.",
            "POST /api/expenses/{expense}/comments",
        )
    }

    def objects(self) -> Mapping[str, TripObject]:
        from plugins.comments.models import Comment
        from plugins.comments.serializers import CommentSerializer

        rows = Comment.objects.with_details
        searched = Searched(("text",), "expense__description")
        return {"comment": TripObject("expenses", rows, CommentSerializer, searched=searched)}

    def expense_rows(self) -> Mapping[str, ExpenseRows]:
        from plugins.comments.models import MAX_COMMENTS, Comment

        return {"comments": ExpenseRows(Comment, "comment", "text", MAX_COMMENTS, Comment.add)}

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.comments.models import Comment
        from plugins.comments.serializers import ExportedComment

        yield PersonalList(
            "comments",
            ExportedComment,
            "The comments that they wrote.",
            lambda user: Comment.objects.with_expense().filter(created_by=user).order_by("id"),
        )

    def traces(self, account: Any) -> Iterable[QuerySet[Any]]:
        """An ADMIN can comment in trips without being a member."""
        from plugins.comments.models import written_by

        return [written_by(account)]

    def forget(self, account: Any, by: Any) -> None:
        from plugins.comments.models import forget_comments_of

        forget_comments_of(account, by)

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.comments.models import Comment

        yield "comments on deleted expenses", [Comment.objects.outdated()]

    def trip_tables(self) -> Iterable[TripTable]:
        from plugins.comments.models import Comment, shown
        from plugins.comments.serializers import CommentRequest

        yield TripTable("comments", Comment, only=shown, request=CommentRequest)
