"""Comments on an expense."""

from rest_framework.request import Request
from rest_framework.response import Response

from plugins.comments.models import Comment, comments_of
from plugins.comments.rights import CanComment
from plugins.comments.serializers import CommentRequest, CommentSerializer, NewComment
from splits.models import Expense
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import ClientIdQuery
from trips.roles import Can
from trips.viewsets import InTripViewSet


class CommentViewSet(InTripViewSet):
    """Comments on an expense."""

    tag = "comments"
    scope_prefix = "expenses"
    response_serializer = CommentSerializer

    def comment(self, expense_id: int, comment_id: int) -> Comment:
        return self.get_permitted_object(
            Comment.objects.with_expense, expense_id=expense_id, pk=comment_id
        )

    @operation("listComments", needs=Can.READ, query=ClientIdQuery)
    def list(self, request: Request, expense_id: int) -> Response:
        """The comments on an expense, oldest first."""
        expense = self.get_permitted_object(Expense.objects.all, pk=expense_id)
        return self.page(comments_of(expense.pk).filter(**self.query()))

    @operation("createComment", needs=CanComment.COMMENT, takes=NewComment)
    def create(self, request: Request, expense_id: int) -> Response:
        """Write a comment on an expense.

        An expense has at most 500 comments. They are deleted with it.
        """
        expense = self.get_permitted_object(Expense.objects.all, pk=expense_id)
        comment = self.created_once(
            expense.trip_id,
            Comment.objects.with_details,
            lambda: Comment.write(expense, self.caller, **self.body()),
        )
        return self.answer(comment, location=f"/api/expenses/{expense_id}/comments/{comment.pk}")

    @operation("replaceComment", needs=CanComment.CHANGE_COMMENTS, takes=CommentRequest)
    def update(self, request: Request, expense_id: int, comment_id: int) -> Response:
        """Replace the text of one's own comment."""
        comment = self.comment(expense_id, comment_id)
        return self.answer(comment.change(self.caller, **self.body(current=lambda: comment)))

    @operation("deleteComment", needs=CanComment.DELETE_COMMENTS)
    def destroy(self, request: Request, expense_id: int, comment_id: int) -> Response:
        """Delete a comment."""
        self.comment(expense_id, comment_id).remove(by=self.caller)
        return self.no_content()
