"""The caller's passkeys, and the log-in with one."""

from types import SimpleNamespace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotAuthenticated, NotFound, ValidationError
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.passkeys import serializers
from plugins.passkeys.ceremonies import CredentialRefused, creation_options, request_options
from plugins.passkeys.models import Passkey
from tripcompanion.api.operations import operation
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.viewsets import ApiViewSet, OpenViewSet
from users.models.conflicts import LogInAgain
from users.models.session import require_recent_log_in
from users.random_tokens import digest_of
from users.serializers.session import LoginResponse
from users.throttles import LoginThrottle
from users.views import BadCredentials


class PasskeyRefused(BadCredentials):
    """401 `bad_credentials`: the passkey is unknown or blocked, or proves nothing."""

    default_detail = gettext_lazy("This passkey cannot log in here.")


class PasskeyLoginViewSet(OpenViewSet):
    """Logs in with a passkey. Open to everybody."""

    tag = "sessions"
    response_serializer = LoginResponse

    @operation("getPasskeyLoginOptions", answers=serializers.RequestOptions)
    def prepare(self, request: Request) -> Response:
        """What a browser needs to log in with a passkey: the same for everybody."""
        return self.answer(SimpleNamespace(**request_options()))

    @operation("logInWithPasskey", takes=serializers.PasskeyLoginRequest, problems=[PasskeyRefused])
    def log_in(self, request: Request) -> Response:
        """Log in with a passkey.

        The authenticator has verified the user, so no other factor is asked for.
        """
        credential = self.body()["credential"]
        rows = Passkey.objects.filter(digest=digest_of(credential["rawId"])).select_related("user")
        passkey = rows.first()
        LoginThrottle().require_under(request, passkey.user.email or "" if passkey else "")
        try:
            if passkey is None:
                raise CredentialRefused
            return self.answer(passkey.log_in(credential, request))
        except (CredentialRefused, NotAuthenticated, NotFound) as error:
            raise PasskeyRefused from error


class PasskeyViewSet(ApiViewSet):
    """The caller's own passkeys."""

    tag = "sessions"
    response_serializer = serializers.PasskeySerializer

    @operation(
        "getPasskeyOptions",
        answers=serializers.CreationOptions,
        only_reads=True,
        problems=[LogInAgain],
    )
    def prepare(self, request: Request) -> Response:
        """What a browser needs to make a passkey; only within ten minutes of a log-in."""
        require_recent_log_in(self.caller, request.auth)
        known = [row.credential_data for row in self.caller.passkeys.all()]
        return self.answer(SimpleNamespace(**creation_options(self.caller, known)))

    @operation("listPasskeys")
    def list(self, request: Request) -> Response:
        """The caller's passkeys, oldest first."""
        return self.page(self.caller.passkeys.order_by("id"))

    @operation(
        "addPasskey", takes=serializers.NewPasskeyRequest, problems=[LogInAgain, LimitReached]
    )
    def create(self, request: Request) -> Response:
        """Add a passkey, which logs in without address, password and code; at most 20.

        Only within ten minutes of a log-in, so that a stolen token is not enough.
        """
        require_recent_log_in(self.caller, request.auth)
        body = self.body()
        try:
            passkey = Passkey.add(self.caller, **body)
        except CredentialRefused as error:
            text = _("This is not a new passkey for this site, or its challenge no longer works.")
            raise ValidationError({"credential": [text]}) from error
        return self.answer(passkey, location=f"/api/users/me/passkeys/{passkey.pk}")

    @operation("removePasskey")
    def destroy(self, request: Request, passkey_id: int) -> Response:
        """Remove a passkey. Sessions that it started go on."""
        get_object_or_404(self.caller.passkeys, pk=passkey_id).delete()
        return self.no_content()
