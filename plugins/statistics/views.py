"""The statistics of a trip and of a person, and balances as a picture and explained."""

from django.http import HttpResponseBase
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.statistics.explanation import Explanation
from plugins.statistics.files import (
    balances_chart,
    chart_of,
    csv_file,
    personal_chart,
    personal_csv,
)
from plugins.statistics.personal import Between, PersonalStatistics
from plugins.statistics.pictures import MEDIA_TYPE
from plugins.statistics.report import Statistics
from plugins.statistics.serializers import (
    BalanceLineSerializer,
    BetweenSerializer,
    PersonalStatisticsSerializer,
    StatisticsQuery,
    StatisticsSerializer,
    YearQuery,
)
from plugins.statistics.viewset import DrawnViewSet
from splits.models.settlement import today
from splits.reports.balances import balances_of
from tripcompanion.api.operations import operation
from trips.roles import Can
from trips.viewsets import InTripViewSet
from users.scopes import Scope


class BalancesPictureViewSet(DrawnViewSet, InTripViewSet):
    """The balances of a trip as a picture."""

    tag = "balances"
    scope_prefix = "expenses"
    only_format = "svg"

    @operation(
        "getBalancesPicture",
        needs=Can.READ,
        answers=None,
        single_statement=True,
        files={"svg": MEDIA_TYPE},
    )
    def picture(self, request: Request, trip_id: int) -> HttpResponseBase:
        """The balances of a trip as bars: who gets money back, and who owes it."""
        rows = self.get_permitted_list(balances_of(self.caller, trip=trip_id), trip_id)
        return self.file(balances_chart(rows), f"trip-{trip_id}-balances")


class StatisticsViewSet(DrawnViewSet, InTripViewSet):
    """What a trip has cost."""

    tag = "balances"
    scope_prefix = "trips"
    more_scopes = (Scope.EXPENSES_READ,)

    @operation(
        "getTripStatistics",
        needs=Can.READ,
        query=StatisticsQuery,
        answers=StatisticsSerializer,
        has_etag=True,
        files={"csv": "text/csv", "svg": MEDIA_TYPE},
    )
    def retrieve(self, request: Request, trip_id: int) -> HttpResponseBase:
        """What a trip has cost, by category, tag, member, day, month or currency as entered.

        Expenses up to the day `asOf` count, without it all, also those dated ahead, as in balances;
        deleted ones do not. All sums are exact. In each group,
        `paid` is what was spent and `share` is the caller's part of it; by member, they are what
        the member paid and the member's own part. Both add up: `paid` to the `total`, `share` to
        the whole share of the caller, or of all members, which is the `total` too.
        By tag, an expense is in the group of each of its tags, so the groups may exceed the total;
        there are at most 1,000, those for which most was spent.
        With `Accept: text/csv` it is a table, with `Accept: image/svg+xml` a picture; `?format=csv`
        and `?format=svg` do the same, and so does the path with `.svg`.
        """
        query = self.query()
        as_of, by = query.get("as_of"), query["by"]
        trip = self.get_permitted_trip(trip_id)
        self.limits.charge_rows(trip.expenses_recorded)
        statistics = Statistics(trip, self.caller, as_of, by)
        name = f"trip-{trip_id}-{by}-{as_of or today()}"
        return self.in_any_format(request, statistics, name, csv=csv_file, svg=chart_of)


class PersonalStatisticsViewSet(DrawnViewSet, InTripViewSet):
    """What the caller's trips have cost, and what is between the caller and somebody else."""

    tag = "balances"
    scope_prefix = "trips"
    more_scopes = (Scope.EXPENSES_READ,)

    @operation(
        "getMyStatistics",
        needs=None,
        query=YearQuery,
        answers=PersonalStatisticsSerializer,
        has_etag=True,
        files={"csv": "text/csv", "svg": MEDIA_TYPE},
    )
    def retrieve(self, request: Request) -> HttpResponseBase:
        """What the caller paid, and the caller's own part, in all trips or in those of a year.

        By currency of the trips, and in each by trip, category and month. With `Accept: text/csv`
        it is a table, with `Accept: image/svg+xml` a picture by trip.
        """
        shown = PersonalStatistics.of(self.caller, self.query().get("year"))
        self.limits.charge_rows(shown.expenses)
        writers = {"csv": personal_csv, "svg": personal_chart}
        return self.in_any_format(request, shown, "statistics", **writers)

    @operation("getBetween", needs=None, answers=BetweenSerializer, problems=[NotFound])
    def between(self, request: Request, user_id: int) -> Response:
        """What is open between the caller and another member of their trips, and what each sent.

        Only trips of which both are members now count. What is owed are the debts of
        `pending-debts`, and what was paid beyond them, which the receiver owes the sender.
        """
        return self.answer(Between.people(self.caller, user_id))


class ExplanationViewSet(InTripViewSet):
    """Explains a balance."""

    tag = "balances"
    scope_prefix = "expenses"

    @operation("explainBalance", needs=Can.READ, answers=BalanceLineSerializer, many=True)
    def explain(self, request: Request, trip_id: int, user_id: int) -> Response:
        """The entries of a balance, in the order of recording, with the running sum."""
        trip = self.get_permitted_trip(trip_id)
        get_object_or_404(trip.members, user_id=user_id)
        page = self.page(Explanation(trip, user_id))
        # The running sum needs all entries, whichever page was asked for.
        self.limits.charge_rows(page.data["total"])
        return page
