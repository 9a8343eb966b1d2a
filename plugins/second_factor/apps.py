"""App configuration."""

from typing import Any

from django.http import HttpRequest

from tripcompanion.plugin import Plugin


class SecondFactorConfig(Plugin):
    name = "plugins.second_factor"

    def log_in_step(self, request: HttpRequest, user: Any) -> str:
        from plugins.second_factor.log_in import is_missing

        return "second_factor_code" if is_missing(request, user) else ""

    def forget(self, account: Any, by: Any) -> None:
        from plugins.second_factor.models import forget

        forget(account)
