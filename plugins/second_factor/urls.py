"""The routes of the second factor."""

from typing import Any

from django.contrib import admin
from django.urls import include, path

from plugins.second_factor.api_views import SecondFactorLoginViewSet, SecondFactorViewSet
from plugins.second_factor.views import (
    CodePage,
    RecoveryCodesPage,
    SecondFactorPage,
    SetUpPage,
    TurnOffPage,
)

SECOND_FACTOR = [
    path("", admin.site.admin_view(SecondFactorPage.as_view()), name="second_factor"),
    path("code/", CodePage.as_view(), name="second_factor_code"),
    path("set-up/", SetUpPage.as_view(), name="second_factor_set_up"),
    path(
        "recovery-codes/",
        admin.site.admin_view(RecoveryCodesPage.as_view()),
        name="second_factor_recovery_codes",
    ),
    path("turn-off/", admin.site.admin_view(TurnOffPage.as_view()), name="second_factor_turn_off"),
]

OWN: Any = {"get": "retrieve", "post": "create", "delete": "destroy"}
ME = [
    path("/second-factor", SecondFactorViewSet.as_view(OWN)),
    path("/second-factor/confirm", SecondFactorViewSet.as_view({"post": "confirm"})),
]
API = [path("users/login/second-factor", SecondFactorLoginViewSet.as_view({"post": "log_in"}))]
PAGES = [path("admin/second-factor/", include(SECOND_FACTOR))]
