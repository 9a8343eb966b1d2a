"""The statistics of a trip."""

from typing import ClassVar

from django.http import HttpResponseBase
from rest_framework.request import Request

from splits.models.settlement import today
from tripcompanion.statistics.report import Statistics
from tripcompanion.statistics.serializers import StatisticsQuery, StatisticsSerializer
from tripcompanion.statistics.sheet import csv_file
from trips.models import Trip
from trips.roles import Can
from trips.viewsets import ETAG_ACTIONS, InTripViewSet
from users.scopes import Scope


class StatisticsViewSet(InTripViewSet):
    """What a trip has cost."""

    tag = "balances"
    operation_ids: ClassVar = {"retrieve": "getTripStatistics"}
    scope_prefix = "trips"
    more_scopes = (Scope.EXPENSES_READ,)
    needs: ClassVar = {"retrieve": Can.READ}
    query_serializers: ClassVar = {"retrieve": StatisticsQuery}
    response_serializers: ClassVar = {"retrieve": StatisticsSerializer}
    files: ClassVar = {"retrieve": {"csv": "text/csv"}}
    etag_actions = ETAG_ACTIONS

    def retrieve(self, request: Request, trip_id: int) -> HttpResponseBase:
        """What a trip has cost: by category, member, day, month and currency, and of its budget.

        Expenses up to the day `asOf` count, deleted ones do not. All sums are exact: the amounts of
        `byCategory`, `byDay` and `byMonth`, and both columns of `byMember`, add up to `total`.
        With `Accept: text/csv`, or `?format=csv`, it is a table with the columns `group`, `key`,
        `name`, `amount`, `currency`, `count` and `entered`, and a row for each sum. The groups are
        `total`, `category`, `paid` and `share` (`key` is the id of a member), `day`, `month`,
        `enteredCurrency` and `budget`.
        """
        as_of = self.query().get("as_of") or today()
        trip = self.get_permitted_object(Trip.objects.all, pk=trip_id)
        statistics = Statistics(trip, self.caller, as_of)
        if request.accepted_renderer.format == "csv":
            return self.file(csv_file(statistics), f"trip-{trip_id}-{statistics.as_of}")
        return self.with_etag(request, statistics)
