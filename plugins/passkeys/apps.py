"""App configuration."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy
from rest_framework.serializers import BooleanField

from tripcompanion.plugin import LoginMethod, PersonalList, Plugin


class PasskeysConfig(Plugin):
    name = "plugins.passkeys"
    verbose_name = gettext_lazy("Passkeys")

    def ready(self) -> None:
        super().ready()
        from plugins.passkeys.relying_party import relying_party

        relying_party()

    def login_methods(self) -> Mapping[str, LoginMethod]:
        from plugins.passkeys.relying_party import relying_party

        shape = BooleanField(help_text="With a passkey: `getPasskeyLoginOptions`.")
        return {"passkey": LoginMethod(shape, lambda: relying_party() is not None)}

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.passkeys.serializers import PasskeySerializer

        yield PersonalList(
            "passkeys",
            PasskeySerializer,
            "Their passkeys, without the public keys.",
            lambda user: user.passkeys.order_by("id"),
        )

    def forget(self, account: Any, by: Any) -> None:
        account.passkeys.all().delete()
