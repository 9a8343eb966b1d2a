"""The scope that each route needs."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from drf_spectacular.views import SpectacularSwaggerSplitView

from splits.views import (
    BalanceViewSet,
    CategoryViewSet,
    DebtViewSet,
    ExpenseViewSet,
    SettlementViewSet,
    SplitViewSet,
)
from tests.trips.access import OPEN, Endpoint, endpoints
from tests.walked import merged
from tripcompanion.api.health import HealthViewSet
from tripcompanion.currency.views import CurrencyViewSet
from tripcompanion.openapi.document import DocumentView
from trips.roles import Can
from trips.views import (
    AccountViewSet,
    GuestViewSet,
    MemberViewSet,
    TokenViewSet,
    TripViewSet,
    UserViewSet,
)
from users.browser_views import BrowserLogin, BrowserLogout
from users.scopes import all_scopes
from users.views import EmailTokenViewSet, OwnSessionViewSet, SessionViewSet

#: The scopes of which one opens each capability.
SCOPES_OF = {
    Can.READ: " ".join(scope for scope in all_scopes() if scope.endswith(":read")),
    Can.LEAVE: "trips:write",
    Can.SETTLE: "expenses:write",
    Can.ADD_MEMBERS: "trips:write",
    Can.RECORD: "expenses:write",
    Can.CHANGE_EXPENSES: "expenses:write",
    Can.DELETE_SPLITS: "expenses:write",
    Can.DELETE_SETTLEMENTS: "expenses:write",
    Can.MANAGE_MEMBERS: "trips:write",
    Can.MANAGE_TRIP: "trips:write",
    **merged("SCOPES_OF"),
}
SCOPES_OF[Can.READ] += "".join(f" {area}:read" for area in {*merged("AREAS").values()} if area)

#: The area of each viewset, which with the method makes the scope that a scoped token needs. None
#: is closed to scoped tokens.
AREAS: Mapping[Any, str | None] = {
    CurrencyViewSet: OPEN,
    CategoryViewSet: OPEN,
    SessionViewSet: OPEN,
    HealthViewSet: OPEN,
    DocumentView: OPEN,
    SpectacularSwaggerSplitView: OPEN,
    BrowserLogin: OPEN,
    BrowserLogout: OPEN,
    EmailTokenViewSet: OPEN,
    AccountViewSet: None,
    OwnSessionViewSet: None,
    TokenViewSet: None,
    UserViewSet: None,
    TripViewSet: "trips",
    MemberViewSet: "trips",
    GuestViewSet: "trips",
    ExpenseViewSet: "expenses",
    SplitViewSet: "expenses",
    SettlementViewSet: "expenses",
    BalanceViewSet: "expenses",
    DebtViewSet: "expenses",
    **merged("AREAS"),
}


#: What a token needs besides, for what is shown or changed outside of the area.
MORE = merged("MORE")


@cache
def served_by_name() -> dict[str, Endpoint]:
    return {str(end): end for end in endpoints()}


def scopes_of(endpoint: Any) -> tuple[str, ...]:
    """All scopes that an endpoint or a row needs; only for those with one."""
    return str(scope_of(endpoint)), *MORE.get(served_by_name()[str(endpoint)].view, ())


def scope_of(endpoint: Any) -> str | None:
    """The scope of an endpoint or a row: a word of `Scope`, None or `OPEN`."""
    served = served_by_name()[str(endpoint)]
    area = AREAS[served.view]
    if area in {OPEN, None}:
        return area
    return f"{area}:{'read' if served.method == 'GET' else 'write'}"
