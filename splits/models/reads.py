"""Compiled queries behind the lists and details of the API."""

from splits.models.expense import Expense, ExpenseQuerySet
from splits.models.settlement import Settlement, SettlementQuerySet
from splits.models.split import Split, SplitQuerySet
from tripcompanion.compiled import CompiledQuery, Param
from trips.models import CompiledForViewer, Member, ViewerParam
from users.models import User


@CompiledForViewer
def expenses_of(user: ViewerParam, trip: Param) -> ExpenseQuerySet:
    """The expenses of a trip that a user may see, with details, the newest first."""
    found = Expense.objects.visible_to(user).with_details().filter(trip=trip)
    return found.order_by("-expense_date", "-id")


@CompiledQuery
def splits_of(expense: Param) -> SplitQuerySet:
    """The splits of an expense with details."""
    return Split.objects.with_details().filter(expense=expense).order_by("id")


@CompiledForViewer
def pending_of(user: ViewerParam) -> SplitQuerySet:
    """The open splits of a user with details, the oldest first."""
    return Split.objects.pending(user).with_details()


def pending_in(user: User, *, answered: bool) -> SplitQuerySet:
    """Like `pending_of`, but only in trips that the user has answered, or only in the others."""
    own = Member.objects.filter(user=user, introduced_by__isnull=answered)
    return Split.objects.pending(user).with_details().filter(trip__in=own.values("trip"))


@CompiledQuery
def settlements_of(trip: Param) -> SettlementQuerySet:
    """The settlements of a trip with details, the latest day first."""
    return Settlement.objects.with_details().filter(trip=trip).order_by("-settled_on", "-id")
