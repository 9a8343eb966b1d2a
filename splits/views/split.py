"""Splits of an expense, and a user's open splits and total debt."""

from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from splits.models import Expense, Split
from splits.models.conflicts import AlreadySplit, ClosesTrip, ExceedsExpense
from splits.models.debt import TooManyDebts
from splits.models.individual_splits import add_split, remove_split
from splits.models.rate import NoLatestRate
from splits.models.reads import pending_in, pending_of, splits_of
from splits.reports.balances import total_debt
from splits.serializers.split import (
    CreateSplitRequest,
    DebtQuery,
    ExpenseSplitSerializer,
    PendingQuery,
    TotalDebtSerializer,
)
from tripcompanion.api.operations import operation
from trips.roles import Can
from trips.viewsets import InTripViewSet, PeopleViewSet
from users.models import User
from users.permissions import IsSelfOrAdmin


class SplitViewSet(InTripViewSet):
    """Splits of an expense."""

    tag = "splits"
    scope_prefix = "expenses"
    pagination_class = None
    response_serializer = ExpenseSplitSerializer

    def split(self, expense_id: int, split_id: int) -> Split:
        return self.get_permitted_object(
            Split.objects.for_permission, expense_id=expense_id, pk=split_id
        )

    @operation("listSplits", needs=Can.READ)
    def list(self, request: Request, expense_id: int) -> Response:
        """All splits of an expense."""
        expense = self.get_permitted_object(Expense.objects.all, pk=expense_id)
        return self.answer(splits_of(expense=expense.pk))

    @operation("getSplit", needs=Can.READ, single_statement=True)
    def retrieve(self, request: Request, expense_id: int, split_id: int) -> Response:
        """One split."""
        rows = Split.objects.with_details
        return self.answer(self.get_permitted_object(rows, expense_id=expense_id, pk=split_id))

    @operation(
        "createSplit",
        needs=Can.RECORD,
        takes=CreateSplitRequest,
        problems=[AlreadySplit, ExceedsExpense, ClosesTrip, TooManyDebts],
    )
    def create(self, request: Request, expense_id: int) -> Response:
        """Add a split for another member.

        All splits together may not exceed the expense; what none covers is borne by the payers.
        """
        expense = self.get_permitted_object(Expense.objects.with_trip, pk=expense_id)
        body = self.body(currency=expense.trip.currency)
        split = add_split(expense, self.caller, **body)
        return self.answer(split, location=f"/api/expenses/{expense_id}/splits/{split.pk}")

    @operation("paySplit", needs=Can.SETTLE)
    def pay(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Pay what is still open of a split.

        This records a settlement. Repeating it changes nothing.
        """
        return self.answer(self.split(expense_id, split_id).pay(by=self.caller))

    @operation("unpaySplit", needs=Can.SETTLE, problems=[ClosesTrip, TooManyDebts])
    def unpay(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Undo the payments of a split.

        Settlements that `paySplit` recorded for it are deleted. Repeating it changes nothing.
        """
        return self.answer(self.split(expense_id, split_id).unpay(by=self.caller))

    @operation("deleteSplit", needs=Can.DELETE_SPLITS, problems=[ClosesTrip, TooManyDebts])
    def destroy(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Delete a split; the payers bear its part."""
        remove_split(self.split(expense_id, split_id), by=self.caller)
        return self.no_content()


class DebtViewSet(PeopleViewSet):
    """A user's open splits and total debt in all trips."""

    tag = "debts"
    scope_prefix = "expenses"
    pagination_class = None
    permission_classes = (IsSelfOrAdmin,)

    def usual_problems(self, method: str) -> list[type[APIException]]:
        return [PermissionDenied]

    @operation(
        "listPendingDebts",
        query=PendingQuery,
        answers=ExpenseSplitSerializer,
        many=True,
        single_statement=True,
    )
    def pending(self, request: Request, user_id: int) -> Response:
        """The splits of which a user still owes something.

        In all trips, oldest first, as a plain array. Allowed to the user and to an ADMIN.
        """
        user, answered = self._user(user_id), self.query().get("answered")
        if answered is None:
            return self.answer(pending_of(user))
        return self.answer(list(pending_in(user, answered=answered)))

    @operation(
        "totalDebt",
        query=DebtQuery,
        answers=TotalDebtSerializer,
        # Or it opens a snapshot itself.
        single_statement=True,
        problems=[NoLatestRate],
    )
    def total(self, request: Request, user_id: int) -> Response:
        """What a user still owes, as one number.

        In the user's currency or in `currency`; other currencies are converted at the latest stored
        rate. Allowed to the user and to an ADMIN.
        """
        user, query = self._user(user_id), self.query()
        currency = query.get("currency", user.currency)
        return self.answer(total_debt(user, currency, answered=query.get("answered")))

    def _user(self, user_id: int) -> User:
        """The user with this id; for the caller, the authenticated object with its token scope."""
        if user_id == self.caller.pk:
            return self.caller
        return get_object_or_404(User.objects.present_with_guests(), pk=user_id)
