"""Expenses, splits, settlements, and what follows from them: balances, plans, debts."""

from typing import ClassVar

from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from splits.filters import ExpenseFilter
from splits.models import Division, Expense, Settlement, Split
from splits.models.balances import NoRate, balances_of, plan_of, total_debt
from splits.models.expense import AlreadySplit, ExceedsExpense, ExpenseQuerySet
from splits.serializers import (
    BalanceSerializer,
    CreateSplitRequest,
    DebtQuery,
    ExpenseRequest,
    ExpenseSerializer,
    ExpenseSplitSerializer,
    SettlementRequest,
    SettlementSerializer,
    TotalDebtSerializer,
    TransferSerializer,
)
from tripcompanion.kit.viewsets import ApiViewSet
from trips.models import Trip
from trips.permissions import InTripViewSet
from trips.roles import Can
from users.models import User
from users.permissions import IsSelfOrAdmin


class ExpenseViewSet(InTripViewSet):
    """Expenses of a trip."""

    queryset = Expense.objects.none()
    filter_backends = (DjangoFilterBackend,)
    filterset_class = ExpenseFilter
    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.RECORD,
        "update": Can.CHANGE_EXPENSES,
        "partial_update": Can.CHANGE_EXPENSES,
        "destroy": Can.CHANGE_EXPENSES,
    }
    bodies: ClassVar = {
        "create": ExpenseRequest,
        "update": ExpenseRequest,
        "partial_update": ExpenseRequest,
    }
    answers: ClassVar = {
        "list": ExpenseSerializer,
        "retrieve": ExpenseSerializer,
        "create": ExpenseSerializer,
        "update": ExpenseSerializer,
        "partial_update": ExpenseSerializer,
    }

    def visible(self) -> ExpenseQuerySet:
        return Expense.objects.visible_to(self.caller)

    def list(self, request: Request, trip_id: int) -> Response:
        """Expenses, the newest date first unless `ordering` says otherwise."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        return self.page(self.filter_queryset(trip.expenses.shown()))

    def create(self, request: Request, trip_id: int) -> Response:
        """Record an expense and divide it."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        body = self.body(trip=trip)
        division = Division(**{"entered": None, **body.pop("division")})
        put_in = body.pop("put_in") or {self.caller.pk: body["amount_minor"]}
        expense = Expense.record(trip, self.caller, put_in=put_in, division=division, **body)
        location = f"/api/trips/{trip_id}/expenses/{expense.pk}"
        return self.answer(self._shown(expense), location=location)

    def retrieve(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """An expense with its payers and splits."""
        rows = self.visible().shown()
        return self.answer(self.guarded(rows, trip_id=trip_id, pk=expense_id))

    def update(
        self, request: Request, trip_id: int, expense_id: int, *, partial: bool = False
    ) -> Response:
        """Replace an expense and divide it anew; without payers, those who paid stay."""
        rows = self.visible().select_related("trip")
        expense = self.guarded(rows, trip_id=trip_id, pk=expense_id)
        expense.change(**self.body(partial=partial, trip=expense.trip, expense=expense))
        return self.answer(self._shown(expense))

    def partial_update(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Change the fields that were sent; the rest, and what is not touched by it, stays."""
        return self.update(request, trip_id, expense_id, partial=True)

    def destroy(self, request: Request, trip_id: int, expense_id: int) -> Response:
        """Delete an expense with its splits."""
        self.guarded(self.visible(), trip_id=trip_id, pk=expense_id).remove()
        return self.done()

    def _shown(self, expense: Expense) -> Expense:
        return Expense.objects.shown().get(pk=expense.pk)


class SplitViewSet(InTripViewSet):
    """Splits of an expense."""

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

    def split(self, expense_id: int, split_id: int) -> Split:
        rows = Split.objects.visible_to(self.caller).shown()
        return self.guarded(rows, expense_id=expense_id, pk=split_id)

    def list(self, request: Request, expense_id: int) -> Response:
        """All splits of an expense."""
        expense = self.guarded(Expense.objects.visible_to(self.caller), pk=expense_id)
        return self.answer(list(expense.splits.shown().order_by("id")))

    def retrieve(self, request: Request, expense_id: int, split_id: int) -> Response:
        """One split."""
        return self.answer(self.split(expense_id, split_id))

    def create(self, request: Request, expense_id: int) -> Response:
        """Give one more member a part of the expense."""
        rows = Expense.objects.visible_to(self.caller).select_related("trip")
        expense = self.guarded(rows, pk=expense_id)
        split = expense.add_split(**self.body(currency=expense.trip.currency))
        location = f"/api/expenses/{expense_id}/splits/{split.pk}"
        return self.answer(split, location=location)

    def pay(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Record what is still open as paid. Repeating it changes nothing."""
        split = self.split(expense_id, split_id)
        split.pay(by=self.caller)
        return self.answer(Split.objects.shown().get(pk=split.pk))

    def unpay(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Take back what was paid for it. Repeating it changes nothing."""
        split = self.split(expense_id, split_id)
        split.unpay()
        return self.answer(Split.objects.shown().get(pk=split.pk))

    def destroy(self, request: Request, expense_id: int, split_id: int) -> Response:
        """Delete a split; its part falls to those who paid."""
        split = self.split(expense_id, split_id)
        split.expense.remove_split(split)
        return self.done()


class SettlementViewSet(InTripViewSet):
    """Money that members handed to one another."""

    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.SETTLE,
        "destroy": Can.DELETE_SETTLEMENTS,
    }
    bodies: ClassVar = {"create": SettlementRequest}
    answers: ClassVar = {
        "list": SettlementSerializer,
        "retrieve": SettlementSerializer,
        "create": SettlementSerializer,
    }

    def list(self, request: Request, trip_id: int) -> Response:
        """Settlements, the latest day first."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        return self.page(trip.settlements.shown().order_by("-settled_on", "-id"))

    def retrieve(self, request: Request, trip_id: int, settlement_id: int) -> Response:
        """One settlement."""
        rows = Settlement.objects.visible_to(self.caller).shown()
        return self.answer(self.guarded(rows, trip_id=trip_id, pk=settlement_id))

    def create(self, request: Request, trip_id: int) -> Response:
        """Record a payment: it covers the sender's open splits, the rest is credit."""
        trip = get_object_or_404(Trip.objects.visible_to(self.caller), pk=trip_id)
        body = self.body(currency=trip.currency)
        draft = Settlement(trip=trip, created_by=self.caller, **body)
        draft.caller_role = trip.caller_role
        self.check_object_permissions(request, draft)
        draft.record()
        location = f"/api/trips/{trip_id}/settlements/{draft.pk}"
        return self.answer(draft, location=location)

    def destroy(self, request: Request, trip_id: int, settlement_id: int) -> Response:
        """Delete a settlement: what it covered is open again."""
        rows = Settlement.objects.visible_to(self.caller)
        self.guarded(rows, trip_id=trip_id, pk=settlement_id).remove()
        return self.done()


class BalanceViewSet(InTripViewSet):
    """Where everybody stands."""

    pagination_class = None
    needs: ClassVar = {"balances": Can.READ, "settle_up": Can.READ}
    answers: ClassVar = {"balances": BalanceSerializer, "settle_up": TransferSerializer}
    lists: ClassVar = frozenset({"balances", "settle_up"})

    def balances(self, request: Request, trip_id: int) -> Response:
        """The balance of every member, and of everybody else with an entry; they sum to zero."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        return self.answer(balances_of(trip))

    def settle_up(self, request: Request, trip_id: int) -> Response:
        """The fewest payments that bring every balance to zero."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        return self.answer(plan_of(trip))


class DebtViewSet(ApiViewSet):
    """What a user still owes, in all trips."""

    pagination_class = None
    permission_classes = (IsSelfOrAdmin,)
    answers: ClassVar = {"pending": ExpenseSplitSerializer, "total": TotalDebtSerializer}
    lists: ClassVar = frozenset({"pending"})
    queries: ClassVar = {"total": DebtQuery}
    problems: ClassVar = {"total": [NoRate]}

    def may_forbid(self) -> bool:
        return True

    def pending(self, request: Request, user_id: int) -> Response:
        """Every split of the user that is still open, the oldest first."""
        user = get_object_or_404(User.objects.present(), pk=user_id)
        return self.answer(list(Split.objects.pending(user).shown()))

    def total(self, request: Request, user_id: int) -> Response:
        """The sum of what is still open: one number, in the user's currency or `?currency=`."""
        user = get_object_or_404(User.objects.present(), pk=user_id)
        return self.answer(total_debt(user, self.query().get("currency", user.currency)))
