"""Comments and notifications."""

from typing import Any, ClassVar

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.comments.models import Comment
from plugins.comments.serializers import CommentRequest
from plugins.splitwise import objects
from plugins.splitwise.entries import comments_on, find_one
from plugins.splitwise.errors import refused
from plugins.splitwise.notifications import newest
from plugins.splitwise.viewset import SplitwiseViewSet
from splits.models import Expense
from trips.models import get_visible_or_404
from users.throttles import ExportThrottle

_FAILED: dict[str, Any] = {"comment": {}}


class CommentViewSet(SplitwiseViewSet):
    """Comments on an expense; a payment has none."""

    stubs: ClassVar = {"create_comment": _FAILED, "delete_comment": _FAILED}

    def get_comments(self, request: Request) -> Response:
        entry = find_one(self.caller, self.parameters.required_id("expense_id"))
        self.note_answer_in(entry.trip.pk)
        return Response({"comments": comments_on(entry)})

    def create_comment(self, request: Request) -> Response:
        expense_id = self.fields.required_id("expense_id")
        if expense_id >= objects.PAYMENTS_FROM:
            find_one(self.caller, expense_id)
            raise refused(_("A payment has no comments."), "expense_id")
        expense = get_visible_or_404(Expense.objects.all, self.caller, pk=expense_id)
        body = self.validated(CommentRequest, {"text": self.fields.text("content")})
        comment = Comment.write(expense, self.caller, **body)
        return self.done({"comment": objects.comment(comment), "errors": {}}, expense.trip_id)

    def delete_comment(self, request: Request, comment_id: int) -> Response:
        comment = get_visible_or_404(Comment.objects.with_expense, self.caller, pk=comment_id)
        comment.remove(by=self.caller)
        shown = objects.comment(comment, timezone.now())
        return self.done({"comment": shown, "errors": {}}, comment.trip_id)


class NotificationViewSet(SplitwiseViewSet):
    """What happened in the caller's trips."""

    more_scopes: ClassVar[Any] = ("trips:read",)
    throttles: ClassVar = {"get_notifications": [ExportThrottle]}

    def get_notifications(self, request: Request) -> Response:
        limit, since = self.parameters.count("limit"), self.parameters.instant("updated_after")
        return Response({"notifications": newest(self.caller, limit or 0, since)})
