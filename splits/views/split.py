"""Splits of an expense, and what a user still owes in all trips."""

from typing import ClassVar

from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from splits.models import Expense, Split
from splits.models.balances import total_debt
from splits.models.expense import AlreadySplit, ExceedsExpense
from splits.models.rate import NoRate
from splits.models.split import pending_of, shown_splits, splits_of
from splits.serializers.split import (
    CreateSplitRequest,
    DebtQuery,
    ExpenseSplitSerializer,
    TotalDebtSerializer,
)
from tripcompanion.kit.viewsets import ApiViewSet
from trips.permissions import InTripViewSet
from trips.roles import Can
from users.models import User
from users.permissions import IsSelfOrAdmin


class SplitViewSet(InTripViewSet):
    """Splits of an expense."""

    area = "expenses"
    pagination_class = None
    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.RECORD,
        "pay": Can.SETTLE,
        "unpay": Can.SETTLE,
        "destroy": Can.DELETE_SPLITS,
    }
    bodies: ClassVar = {"create": CreateSplitRequest}
    answers: ClassVar = {
        "list": ExpenseSplitSerializer,
        "retrieve": ExpenseSplitSerializer,
        "create": ExpenseSplitSerializer,
        "pay": ExpenseSplitSerializer,
        "unpay": ExpenseSplitSerializer,
    }
    problems: ClassVar = {"create": [AlreadySplit, ExceedsExpense]}
    single_statement: ClassVar = frozenset({"retrieve"})

    def split(self, expense_id: int, split_id: int) -> Split:
        return self.guarded(Split.objects.changeable, expense_id=expense_id, pk=split_id)

    def list(self, request: Request, expense_id: int) -> Response:
        """All splits of an expense."""
        expense = self.guarded(Expense.objects.all, pk=expense_id)
        return self.answer(splits_of(expense=expense.pk))

    def retrieve(self, request: Request, expense_id: int, split_id: int) -> Response:
        """One split."""
        return self.answer(self.split(expense_id, split_id))

    def create(self, request: Request, expense_id: int) -> Response:
        """Give one more member a part of the expense."""
        expense = self.guarded(Expense.objects.with_trip, pk=expense_id)
        split = expense.add_split(self.caller, **self.body(currency=expense.trip.currency))
        location = f"/api/expenses/{expense_id}/splits/{split.pk}"
        return self.answer(split, location=location)

    def pay(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Record what is still open as paid. Repeating it changes nothing."""
        split = self.split(expense_id, split_id)
        split.pay(by=self.caller)
        return self.answer(shown_splits(pk=split.pk).get())

    def unpay(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Take back what was paid for it. Repeating it changes nothing."""
        split = self.split(expense_id, split_id)
        split.unpay(by=self.caller)
        return self.answer(shown_splits(pk=split.pk).get())

    def destroy(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Delete a split; its part falls to those who paid."""
        split = self.split(expense_id, split_id)
        split.expense.remove_split(split, by=self.caller)
        return self.done()


class DebtViewSet(ApiViewSet):
    """What a user still owes, in all trips."""

    area = "expenses"
    pagination_class = None
    permission_classes = (IsSelfOrAdmin,)
    answers: ClassVar = {"pending": ExpenseSplitSerializer, "total": TotalDebtSerializer}
    lists: ClassVar = frozenset({"pending"})
    #: The total is one statement, or takes a snapshot of its own.
    single_statement: ClassVar = frozenset({"pending", "total"})
    queries: ClassVar = {"total": DebtQuery}
    problems: ClassVar = {"total": [NoRate]}

    def may_forbid(self) -> bool:
        return True

    def pending(self, request: Request, user_id: int) -> Response:
        """Every split of the user that is still open, the oldest first."""
        return self.answer(pending_of(self._user(user_id)))

    def total(self, request: Request, user_id: int) -> Response:
        """The sum of what is still open: one number, in the user's currency or `?currency=`."""
        user = self._user(user_id)
        return self.answer(total_debt(user, self.query().get("currency", user.currency)))

    def _user(self, user_id: int) -> User:
        """The user with this id; the caller as they came, which may be confined to a trip."""
        if user_id == self.caller.pk:
            return self.caller
        return get_object_or_404(User.objects.present(), pk=user_id)
