"""Settlements, balances and settle-up plans."""

from typing import ClassVar

from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from splits.models import Settlement
from splits.models.balances import Plan, PlanChanged, balances_of
from splits.models.explanation import Explanation
from splits.models.settlement import settlements_of
from splits.serializers.settlement import (
    BalanceLineSerializer,
    BalanceSerializer,
    SettlementRequest,
    SettlementSerializer,
    SettleUpRequest,
    TransferSerializer,
)
from trips.models import Trip, visible_row
from trips.models.trip import CurrencyChanged
from trips.permissions import InTripViewSet
from trips.roles import Can


class SettlementViewSet(InTripViewSet):
    """Money that members handed to one another."""

    area = "expenses"
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
    problems: ClassVar = {"create": [CurrencyChanged]}
    single_statement: ClassVar = frozenset({"retrieve"})

    def list(self, request: Request, trip_id: int) -> Response:
        """Settlements, the latest day first."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        return self.page(settlements_of(trip=trip.pk))

    def retrieve(self, request: Request, trip_id: int, settlement_id: int) -> Response:
        """One settlement."""
        rows = Settlement.objects.shown
        return self.answer(self.guarded(rows, trip_id=trip_id, pk=settlement_id))

    def create(self, request: Request, trip_id: int) -> Response:
        """Record a payment: it covers the sender's open splits, the rest is credit."""
        trip = visible_row(Trip.objects.all, self.caller, pk=trip_id)
        body = self.body(currency=trip.currency)
        amount = body.pop("amount")
        draft = Settlement(trip=trip, created_by=self.caller, **body)
        draft.caller_role = trip.caller_role
        self.check_object_permissions(request, draft)
        draft.record(amount)
        location = f"/api/trips/{trip_id}/settlements/{draft.pk}"
        return self.answer(draft, location=location)

    def destroy(self, request: Request, trip_id: int, settlement_id: int) -> Response:
        """Delete a settlement: what it covered is open again."""
        rows = Settlement.objects.all
        self.guarded(rows, trip_id=trip_id, pk=settlement_id).remove(by=self.caller)
        return self.done()


class BalanceViewSet(InTripViewSet):
    """Where everybody stands, and what would settle it."""

    area = "expenses"
    pagination_class = None
    needs: ClassVar = {
        "list": Can.READ,
        "plan": Can.READ,
        "record_plan": Can.SETTLE,
    }
    bodies: ClassVar = {"record_plan": SettleUpRequest}
    answers: ClassVar = {
        "list": BalanceSerializer,
        "plan": TransferSerializer,
        "record_plan": SettlementSerializer,
    }
    creates: ClassVar = frozenset({"record_plan"})
    lists: ClassVar = frozenset({"list", "plan", "record_plan"})
    single_statement: ClassVar = frozenset({"list"})
    problems: ClassVar = {"record_plan": [PlanChanged]}

    def list(self, request: Request, trip_id: int) -> Response:
        """The balance of every member, and of everybody else with an entry; they sum to zero."""
        rows = balances_of(self.caller, trip=trip_id)
        return self.answer(self.guarded_all(rows, trip_id))

    def plan(self, request: Request, trip_id: int) -> Response:
        """The fewest payments that bring every balance to zero; the `ETag` is the plan's tag."""
        plan = Plan(self.guarded(Trip.objects.all, pk=trip_id))
        response = self.answer(plan.transfers)
        response["ETag"] = f'"{plan.tag}"'
        return response

    def record_plan(self, request: Request, trip_id: int) -> Response:
        """Record the whole plan at once, if it is still the one with this tag."""
        trip = visible_row(Trip.objects.all, self.caller, pk=trip_id)
        plan = Plan(trip)
        plan.caller_role = trip.caller_role
        self.check_object_permissions(request, plan)
        settlements = Plan.record(trip, self.caller, self.body()["tag"])
        return self.answer(settlements, location=f"/api/trips/{trip_id}/settlements")


class ExplanationViewSet(InTripViewSet):
    """Why a balance is what it is."""

    area = "expenses"
    needs: ClassVar = {"explain": Can.READ}
    answers: ClassVar = {"explain": BalanceLineSerializer}
    lists: ClassVar = frozenset({"explain"})

    def explain(self, request: Request, trip_id: int, user_id: int) -> Response:
        """The entries that make up a balance, in the order recorded, with the running sum."""
        trip = self.guarded(Trip.objects.all, pk=trip_id)
        get_object_or_404(trip.members, user_id=user_id)
        return self.page(Explanation(trip, user_id))
