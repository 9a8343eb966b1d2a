"""App configuration."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import LoginMethod, MailText, PersonalList, Plugin


class SignInConfig(Plugin):
    name = "plugins.sign_in"
    verbose_name = gettext_lazy("Signing in with a provider")
    links = {"identities": "/api/users/me/identities"}

    def login_methods(self) -> Mapping[str, LoginMethod]:
        from plugins.sign_in.serializers import OidcProviderSerializer

        text = "Of the plugin `sign_in`: the OpenID providers whose identity tokens log in."
        shape = OidcProviderSerializer(many=True, help_text=text)
        return {"oidc": LoginMethod(shape, lambda: settings.OIDC_PROVIDERS)}

    def mails(self) -> Mapping[str, MailText]:
        from plugins.sign_in.models import LOG_IN_LINKED

        subject = gettext_lazy("Another way to log in to your account")
        text = gettext_lazy(
            "Hello,\n\nAn account of another service can log in to your Trip Companion account "
            "from now on. If you did not do this, remove it from the list of linked accounts, and "
            "reset your password.\n"
        )
        return {LOG_IN_LINKED: MailText(gettext_lazy("another way to log in"), subject, text)}

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.sign_in.serializers import IdentitySerializer

        yield PersonalList(
            "identities",
            IdentitySerializer,
            "The accounts of providers with which they log in.",
            lambda user: user.identities.order_by("id"),
        )

    def forget(self, account: Any, by: Any) -> None:
        account.identities.all().delete()
