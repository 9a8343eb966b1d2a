"""Settlements, balances and settle-up plans."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from splits.models import DeletedEntry, Settlement
from splits.models.conflicts import ClosesTrip
from splits.models.debt import Debt, TooManyDebts
from splits.models.rate import NoRate
from splits.models.reads import settlements_of
from splits.models.restoring import Deleted, restore_settlement
from splits.reports.balances import Plan, PlanChanged, balances_of
from splits.serializers.settlement import (
    BalanceSerializer,
    RecordedSettlementSerializer,
    SettlementRequest,
    SettlementSerializer,
    SettleUpRequest,
    TransferSerializer,
)
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import CreatedQuery
from trips.models.conflicts import CurrencyChanged, NotRestorable
from trips.roles import Can
from trips.viewsets import InTripViewSet


class SettlementViewSet(InTripViewSet):
    """Payments between members."""

    tag = "settlements"
    scope_prefix = "expenses"
    response_serializer = SettlementSerializer

    @operation("listSettlements", needs=Can.READ, query=CreatedQuery)
    def list(self, request: Request, trip_id: int) -> Response:
        """The settlements of a trip, latest day first.

        `clientId` cannot be combined with `deleted`.
        """
        trip = self.get_permitted_trip(trip_id)
        chosen = self.query()
        if chosen.pop("deleted"):
            self.require_alone("deleted")
            return self.page(Deleted(trip.deleted_entries.settlements()))
        if chosen:
            return self.page(trip.settlements.with_details().filter(**chosen).order_by("id"))
        return self.page(settlements_of(trip=trip.pk))

    @operation("getSettlement", needs=Can.READ, single_statement=True)
    def retrieve(self, request: Request, trip_id: int, settlement_id: int) -> Response:
        """One settlement."""
        rows = Settlement.objects.with_details
        return self.answer(self.get_permitted_object(rows, trip_id=trip_id, pk=settlement_id))

    @operation(
        "createSettlement",
        needs=Can.SETTLE,
        takes=SettlementRequest,
        answers=RecordedSettlementSerializer,
        problems=[NoRate, CurrencyChanged],
    )
    def create(self, request: Request, trip_id: int) -> Response:
        """Record what one member handed to another.

        It covers the sender's open splits owed to the receiver, oldest first; the rest is `credit`.
        """
        trip = self.get_visible_trip(trip_id)
        body = self.body(currency=trip.currency)
        entered = [body.pop("amount"), body.pop("exchange_rate", None)]
        draft = Settlement(trip=trip, created_by=self.caller, **body)
        draft.caller_role = trip.caller_role
        self.check_object_permissions(request, draft)

        def record() -> Settlement:
            draft.record(*entered)
            self.limits.charge_rows(draft.covered_count())
            return draft

        settled = self.created_once(trip_id, Settlement.objects.with_details, record)
        return self.answer(settled, location=f"/api/trips/{trip_id}/settlements/{settled.pk}")

    @operation(
        "deleteSettlement", needs=Can.DELETE_SETTLEMENTS, problems=[ClosesTrip, TooManyDebts]
    )
    def destroy(self, request: Request, trip_id: int, settlement_id: int) -> Response:
        """Delete a settlement; what it covered or closed is open again.

        If a later one brought every balance to zero and used up what was left of this one, that one
        has to be deleted first: `closes_trip`. For 30 days, `restoreSettlement` undoes it.
        """
        rows = Settlement.objects.all
        settlement = self.get_permitted_object(rows, trip_id=trip_id, pk=settlement_id)
        self.limits.charge_rows(settlement.covered_count())
        settlement.remove(by=self.caller)
        return self.no_content()

    @operation("restoreSettlement", needs=Can.DELETE_SETTLEMENTS, problems=[NotRestorable])
    def restore(self, request: Request, trip_id: int, settlement_id: int) -> Response:
        """Restore a deleted settlement, with its id.

        It covers and closes again what it did before, as far as that is still open; the rest is
        credit. If it closed the trip and used up credit that is gone, it closes nothing, unless
        every balance is zero. Neither of the two people may have left the trip since.
        """
        rows = DeletedEntry.objects.settlements
        with self.restoring(Settlement.objects.all, trip_id=trip_id, pk=settlement_id):
            entry = self.get_permitted_object(rows, trip_id=trip_id, object_id=settlement_id)
            restored = restore_settlement(entry, self.caller)
            self.limits.charge_rows(restored.covered_count())
            return self.answer(restored)


class BalanceViewSet(InTripViewSet):
    """The balances of a trip, and the plan that settles them."""

    tag = "balances"
    scope_prefix = "expenses"
    pagination_class = None

    @operation("listBalances", needs=Can.READ, answers=BalanceSerializer, single_statement=True)
    def list(self, request: Request, trip_id: int) -> Response:
        """The balances of a trip, which add up to zero.

        They include all members, and former members with an entry, unless refunds cancel all that
        they paid and bear.
        """
        return self.answer(self.get_permitted_list(balances_of(self.caller, trip=trip_id), trip_id))

    @operation("getSettleUpPlan", needs=Can.READ, answers=TransferSerializer, many=True)
    def plan(self, request: Request, trip_id: int) -> Response:
        """The fewest payments that bring every balance to zero.

        The header `ETag` is the tag of the plan, with which it can be recorded.
        """
        plan = Plan(self.get_permitted_trip(trip_id))
        response = self.answer(plan.transfers)
        response["ETag"] = f'"{plan.tag}"'
        return response

    @operation(
        "recordSettleUpPlan",
        needs=Can.SETTLE,
        takes=SettleUpRequest,
        answers=SettlementSerializer,
        status=201,
        many=True,
        has_etag=True,
        problems=[PlanChanged],
    )
    def record_plan(self, request: Request, trip_id: int) -> Response:
        """Record all payments of the plan at once.

        It takes the `ETag` of the plan that was read, as `tag` or in `If-Match`. If the plan has
        changed since, nothing is recorded.
        """
        trip = self.get_visible_trip(trip_id)
        plan = Plan(trip)
        plan.caller_role = trip.caller_role
        self.check_object_permissions(request, plan)
        tag = self.body().get("tag")
        if tag is None and request.headers.get("If-Match", "*").strip() == "*":
            raise ValidationError({"tag": [_("Send the ETag of the plan, here or in If-Match.")]})
        # Recording covers all of them.
        self.limits.charge_rows(Debt.objects.open().filter(trip=trip_id).count())
        with self.matching(trip_id, lambda: f'"{Plan(trip).tag}"'):
            bare = tag and tag.removeprefix("W/").strip('"')
            settlements = Plan.record(trip, self.caller, bare)
        return self.answer(settlements, location=f"/api/trips/{trip_id}/settlements")
