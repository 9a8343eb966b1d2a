"""App configuration."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException

from tripcompanion.plugin import Outdated, PersonalList, Plugin, until


class SecondFactorConfig(Plugin):
    name = "plugins.second_factor"
    verbose_name = gettext_lazy("Second factor")
    links = {"secondFactor": "/api/users/me/second-factor"}

    def log_in_step(self, request: HttpRequest, user: Any) -> str:
        from plugins.second_factor.log_in import is_missing

        return "second_factor_code" if is_missing(request, user) else ""

    def require_log_in(self, request: Any, user: Any) -> None:
        from plugins.second_factor.log_in import require_code

        require_code(user)

    def log_in_problems(self) -> Iterable[type[APIException]]:
        from plugins.second_factor.log_in import SecondFactorRequired

        return [SecondFactorRequired]

    def require_new_address(self, request: Any, user: Any) -> None:
        from plugins.second_factor.models import AuthenticatorApp
        from users.models.session import require_recent_log_in

        if AuthenticatorApp.of(user) is not None:
            require_recent_log_in(user, request.auth)

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.second_factor.models import Challenge

        yield "challenges of log-ins", [until(now, Challenge, "expires_at")]

    def personal_data(self) -> Iterable[PersonalList]:
        from django_otp.plugins.otp_totp.models import TOTPDevice

        from plugins.second_factor.serializers import ExportedApp

        yield PersonalList(
            "authenticator_apps",
            ExportedApp,
            "Their authenticator app, without its secret.",
            lambda user: TOTPDevice.objects.filter(user=user).order_by("pk"),
        )

    def forget(self, account: Any, by: Any) -> None:
        from plugins.second_factor.models import forget

        forget(account)
