"""All routes of the core, and what plugins add. Any other path is a 404 problem document."""

from typing import Any

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from splits.views import (
    BalanceViewSet,
    CategoryViewSet,
    DebtViewSet,
    ExpenseViewSet,
    SettlementViewSet,
    SplitViewSet,
)
from tripcompanion.api import error_views
from tripcompanion.api.health import HealthViewSet
from tripcompanion.api.url_map import ITEM, KEPT, LIST, REPLACED
from tripcompanion.currency.views import CurrencyViewSet
from tripcompanion.openapi.document import DocumentView
from tripcompanion.plugin import Place, plugins
from trips.views import (
    AccountViewSet,
    GuestViewSet,
    MemberViewSet,
    TokenViewSet,
    TripViewSet,
    UserViewSet,
)
from users.browser_views import BrowserLogin, BrowserLogout, OwnPassword, admin_login
from users.views import EmailTokenViewSet, OwnSessionViewSet, SessionViewSet


def added(place: Place) -> list[Any]:
    """What the installed apps add at a place."""
    return [route for app in plugins() for route in app.routes(place)]


ME = [
    path("", AccountViewSet.as_view(KEPT)),
    path("/verify-email", AccountViewSet.as_view({"post": "verify_email"})),
    path("/logout-everywhere", OwnSessionViewSet.as_view({"post": "logout_everywhere"})),
    path("/sessions", OwnSessionViewSet.as_view({"get": "list"})),
    path("/sessions/<uuid:session_uuid>", OwnSessionViewSet.as_view({"delete": "destroy"})),
    path("/tokens", TokenViewSet.as_view(LIST)),
    path("/tokens/<id:token_id>", TokenViewSet.as_view(KEPT)),
    *added("ME"),
]

USER = [
    path("", UserViewSet.as_view(REPLACED)),
    path("/profile", UserViewSet.as_view({"put": "profile"})),
    path("/pending-debts", DebtViewSet.as_view({"get": "pending"})),
    path("/total-debt", DebtViewSet.as_view({"get": "total"})),
]

USERS: list[Any] = [
    path("register", SessionViewSet.as_view({"post": "register"})),
    path("login", SessionViewSet.as_view({"post": "login"})),
    path("login/methods", SessionViewSet.as_view({"get": "methods"})),
    path("token/refresh", SessionViewSet.as_view({"post": "refresh"})),
    path("logout", SessionViewSet.as_view({"post": "logout"})),
    path("password-reset", EmailTokenViewSet.as_view({"post": "ask"})),
    path("password-reset/confirm", EmailTokenViewSet.as_view({"post": "reset"})),
    path("verify-email", EmailTokenViewSet.as_view({"post": "verify"})),
    path("me", include(ME)),
    path("email/<path:email>", UserViewSet.as_view({"get": "by_email"})),
    path("<id:user_id>", include(USER)),
]

#: The debts of `USER` under the path of the splits, by other names.
OTHER_IDS: Any = {"operation_ids": {"pending": "listPendingSplits", "total": "totalPendingSplits"}}
PENDING_SPLITS = [
    path("<id:user_id>/pending-debts", DebtViewSet.as_view({"get": "pending"}, **OTHER_IDS)),
    path("<id:user_id>/total-debt", DebtViewSet.as_view({"get": "total"}, **OTHER_IDS)),
]

MEMBERS = [
    path("", MemberViewSet.as_view(LIST)),
    path("/leave", MemberViewSet.as_view({"post": "leave"})),
    path("/<id:user_id>", MemberViewSet.as_view(KEPT)),
    path("/<id:user_id>/role", MemberViewSet.as_view({"put": "change_role"})),
]

GUESTS = [
    path("", GuestViewSet.as_view({"post": "create"})),
    path("/<id:user_id>", GuestViewSet.as_view({"put": "update"})),
]

EXPENSES: list[Any] = [
    path("", ExpenseViewSet.as_view(LIST)),
    path("/preview", ExpenseViewSet.as_view({"post": "preview"})),
    path("/<id:expense_id>", ExpenseViewSet.as_view(ITEM)),
    path("/<id:expense_id>/restore", ExpenseViewSet.as_view({"post": "restore"})),
]

SETTLEMENTS = [
    path("", SettlementViewSet.as_view(LIST)),
    path("/<id:settlement_id>", SettlementViewSet.as_view(KEPT)),
    path("/<id:settlement_id>/restore", SettlementViewSet.as_view({"post": "restore"})),
]

TRIP: list[Any] = [
    path("", TripViewSet.as_view(ITEM)),
    path("/expenses", include(EXPENSES)),
    path("/balances", BalanceViewSet.as_view({"get": "list"})),
    path("/settle-up", BalanceViewSet.as_view({"get": "plan", "post": "record_plan"})),
    path("/settlements", include(SETTLEMENTS)),
    path("/members", include(MEMBERS)),
    path("/guests", include(GUESTS)),
    path("/restore", TripViewSet.as_view({"post": "restore"})),
    *added("TRIP"),
]

TRIPS: list[Any] = [
    path("", TripViewSet.as_view(LIST)),
    path("/my-trips", TripViewSet.as_view({"get": "list"}, operation_ids={"list": "listMyTrips"})),
    path("/<id:trip_id>", include(TRIP)),
]

SPLITS = [
    path("", SplitViewSet.as_view(LIST)),
    path("/<id:split_id>", SplitViewSet.as_view(KEPT)),
    path("/<id:split_id>/pay", SplitViewSet.as_view({"put": "pay"})),
    path("/<id:split_id>/unpay", SplitViewSet.as_view({"put": "unpay"})),
]

BROWSER_SESSION = [
    path("login", BrowserLogin.as_view(), name="login"),
    path("logout", BrowserLogout.as_view(), name="logout"),
]

API: list[Any] = [
    path("users/", include(USERS)),
    path("expenses/users/", include(PENDING_SPLITS)),
    path("trips", include(TRIPS)),
    path("expenses/<id:expense_id>/splits", include(SPLITS)),
    path("expenses/<id:expense_id>", include(added("EXPENSE"))),
    path("currencies", CurrencyViewSet.as_view({"get": "list"})),
    path("categories", CategoryViewSet.as_view({"get": "list"})),
    path("health", HealthViewSet.as_view({"get": "live"})),
    path("health/ready", HealthViewSet.as_view({"get": "ready"})),
    path("schema", DocumentView.as_view(), name="schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="schema")),
    path("session/", include((BROWSER_SESSION, "rest_framework"))),
    *added("API"),
]

urlpatterns = [
    # Tried first, because most requests match it.
    path("api/", include(API)),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/password_change/", admin.site.admin_view(OwnPassword.as_view())),
    path("admin/login/", admin_login),
    *added("PAGES"),
    path("admin/", admin.site.urls),
    re_path("", error_views.not_found),
]

handler400 = error_views.bad_request
handler403 = error_views.forbidden
handler404 = error_views.not_found
handler500 = error_views.server_error
