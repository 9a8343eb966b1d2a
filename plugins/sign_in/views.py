"""Logging in with an identity token, and the accounts of providers that the caller has linked."""

import logging
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework.exceptions import NotAuthenticated, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.sign_in.id_tokens import NONCE_SECONDS, IdToken, TokenRefused, new_nonce, read_id_token
from plugins.sign_in.keys import ProviderUnavailable
from plugins.sign_in.models import Identity, IdentityTaken, LastWayIn, LinkFirst
from plugins.sign_in.serializers import IdentitySerializer, IdTokenRequest, NonceSerializer
from tripcompanion.api.operations import operation
from tripcompanion.api.viewsets import ApiViewSet, OpenViewSet
from tripcompanion.openapi.examples import examples
from tripcompanion.openapi.schema import ProblemAwareSchema
from users.models.conflicts import LogInAgain
from users.models.session import require_recent_log_in
from users.serializers.session import LoginResponse
from users.throttles import LoginAddressThrottle, RegisterThrottle
from users.tokens import log_in, log_in_problems
from users.views import BadCredentials

logger = logging.getLogger(__name__)


def token_in(body: dict[str, Any]) -> IdToken:
    """The checked token of a body. Raises `ValidationError`, and what `read_id_token` raises."""
    providers = {each.provider: each for each in settings.OIDC_PROVIDERS}
    if body["provider"] not in providers:
        raise ValidationError({"provider": [_("There is no such provider.")]})
    try:
        return read_id_token(providers[body["provider"]], body["id_token"])
    except TokenRefused as error:
        # For operators; the client is not told.
        logger.info("A token of %s was refused: %s", body["provider"], error)
        raise


def refusal() -> str:
    """What is said of a token that is refused, whatever the reason is."""
    return _("This token does not log you in. Start again at the provider, with a new nonce.")


class ProviderLoginSchema(ProblemAwareSchema):
    """With 200 beside 201: not every log-in makes an account."""

    def get_response_serializers(self) -> Any:
        responses = super().get_response_serializers()
        if self.view.action == "log_in":
            responses[200] = OpenApiResponse(LoginResponse, "There was an account already.")
            made = examples()["register"][0]
            responses[201].examples = [OpenApiExample(made.name, made.response)]
        return responses


class ProviderLoginViewSet(OpenViewSet):
    """Log-ins with the identity token of a provider. Open to everybody."""

    tag = "sessions"
    schema = ProviderLoginSchema()

    @operation("createLoginNonce", answers=NonceSerializer)
    def nonce(self, request: Request) -> Response:
        """Get a nonce for the request to a provider.

        The identity token has it, and logs in once while the nonce is valid.
        """
        return Response({"nonce": new_nonce(), "expiresIn": NONCE_SECONDS})

    @operation(
        "logInWithProvider",
        takes=IdTokenRequest,
        answers=LoginResponse,
        status=201,
        problems=[BadCredentials, LinkFirst, ProviderUnavailable, *log_in_problems()],
        throttles=[LoginAddressThrottle],
    )
    def log_in(self, request: Request) -> Response:
        """Log in with the identity token of a provider.

        The first log-in makes an account, if the provider has verified the address and nobody has
        it. A token that is wrong, old or used is refused like a wrong password.
        """
        try:
            token = token_in(self.body())
            if Identity.of(token) is None and token.email:
                throttle = RegisterThrottle()
                if not throttle.allow_request(request, self):
                    self.throttled(request, throttle.wait() or 0)
            user, is_new = Identity.log_in(token)
            tokens = log_in(user, request)
        except (TokenRefused, NotAuthenticated) as error:
            raise BadCredentials(refusal()) from error
        response = self.answer(tokens, location=f"/api/users/{user.pk}" if is_new else "")
        response.status_code = 201 if is_new else 200
        return response


class IdentityViewSet(ApiViewSet):
    """The accounts of providers that log in to the caller's account."""

    tag = "sessions"
    response_serializer = IdentitySerializer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.action == "create":
            # A request that can be repeated runs in a transaction: it finds the keys fetched.
            with suppress(TokenRefused):
                token_in(self.body())

    @operation("listIdentities")
    def list(self, request: Request) -> Response:
        """The accounts of providers that log in to the caller's account, oldest first."""
        return self.page(self.caller.identities.order_by("id"))

    @operation(
        "linkIdentity",
        takes=IdTokenRequest,
        problems=[IdentityTaken, LogInAgain, ProviderUnavailable],
        throttles=[LoginAddressThrottle],
    )
    def create(self, request: Request) -> Response:
        """Let an account of a provider log in to the caller's account.

        Only within ten minutes of a log-in, so that a stolen token adds no way in. The owner is
        told by mail.
        """
        require_recent_log_in(self.caller, request.auth)
        try:
            identity = Identity.link(self.caller, token_in(self.body()))
        except TokenRefused as error:
            raise ValidationError({"idToken": [refusal()]}) from error
        return self.answer(identity, location="/api/users/me/identities")

    @operation("unlinkIdentity", problems=[LastWayIn, LogInAgain])
    def destroy(self, request: Request, identity_id: int) -> Response:
        """Remove an account of a provider, which then does not log in any more.

        Only within ten minutes of a log-in. The last one stays until there is a password.
        """
        require_recent_log_in(self.caller, request.auth)
        Identity.unlink(self.caller, identity_id)
        return self.no_content()
