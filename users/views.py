"""Registration, login and logout, password reset, and the caller's sessions.

Views of `/api/users/{userId}` need the trips, so they are in `trips`.
"""

from types import SimpleNamespace
from uuid import UUID

from django.contrib.auth import authenticate
from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.operations import operation
from tripcompanion.api.viewsets import ApiViewSet, OpenViewSet
from users.models import EmailTaken, EmailToken, EmailTokenInvalid, Mail, Session, User
from users.passwords import HashedPassword
from users.serializers.session import (
    LoginMethodsSerializer,
    LoginRequest,
    LoginResponse,
    LogoutRequest,
    NewPasswordRequest,
    PasswordResetRequest,
    RefreshRequest,
    RegisterRequest,
    SessionSerializer,
    VerifyEmailRequest,
)
from users.throttles import (
    LoginAddressThrottle,
    LoginThrottle,
    MailThrottle,
    RefreshThrottle,
    RegisterThrottle,
)
from users.tokens import (
    RefreshToken,
    TokenExpired,
    TokenRefused,
    issuing_session,
    log_in,
    log_in_problems,
    token_pair,
)


class BadCredentials(AuthenticationFailed):
    """401 `bad_credentials`: unknown address, wrong password or deactivated user."""

    default_detail = gettext_lazy("The e-mail address or the password is wrong.")
    default_code = "bad_credentials"


class SessionViewSet(OpenViewSet):
    """Issues, refreshes and revokes tokens. Open to everybody."""

    tag = "sessions"
    response_serializer = LoginResponse

    @operation(
        "register",
        takes=RegisterRequest,
        status=201,
        problems=[EmailTaken],
        throttles=[RegisterThrottle],
    )
    @extend_schema(tags=["accounts"])
    def register(self, request: Request) -> Response:
        """Create an account and log it in.

        A link to confirm the address is sent to it. No log-in is needed.
        """
        body = self.body()
        # Hashing is slow, and on SQLite nobody else writes during a transaction.
        body["password"] = HashedPassword.of_nobody_yet(body["password"])
        with transaction.atomic():
            user = User.register(**body)
            with user.just_created():
                tokens = log_in(user, request, is_complete=True)
        return self.answer(tokens, location=f"/api/users/{user.pk}")

    @operation("getLoginMethods", answers=LoginMethodsSerializer, without_snapshot=True)
    def methods(self, request: Request) -> Response:
        """How people can log in here."""
        added = LoginMethodsSerializer.added.items()
        values = {name: method.value() for name, method in added}
        return self.answer(SimpleNamespace(password=True, **values))

    @operation(
        "login",
        takes=LoginRequest,
        problems=[BadCredentials, *log_in_problems()],
        throttles=[LoginAddressThrottle, LoginThrottle],
    )
    def login(self, request: Request) -> Response:
        """Log in with e-mail address and password.

        Unknown addresses, wrong passwords and deactivated accounts are refused alike.
        """
        body = self.body()
        user = authenticate(request, username=body["email"], password=body["password"])
        if user is None:
            raise BadCredentials
        try:
            return self.answer(log_in(user, request))
        except NotAuthenticated as error:
            raise BadCredentials from error

    @operation(
        "refreshToken",
        takes=RefreshRequest,
        problems=[TokenRefused, TokenExpired],
        throttles=[RefreshThrottle],
    )
    def refresh(self, request: Request) -> Response:
        """Exchange a refresh token for a new pair.

        The old one becomes invalid: using it again ends the session, because it may have been
        stolen.
        """
        session, token = issuing_session(self.body()["refresh_token"], RefreshToken)
        if not (session.is_good() and session.renew(token["jti"])):
            raise TokenRefused
        return self.answer(token_pair(session))

    @operation(
        "logout",
        takes=LogoutRequest,
        answers=None,
        problems=[TokenRefused, TokenExpired],
        throttles=[RefreshThrottle],
    )
    def logout(self, request: Request) -> Response:
        """End the session of a refresh token, with all its tokens.

        The request may be repeated.
        """
        session, _token = issuing_session(self.body()["refresh_token"], RefreshToken)
        session.end()
        return self.no_content()


class EmailTokenViewSet(OpenViewSet):
    """Sends links by mail, and accepts their tokens. Open to everybody."""

    tag = "accounts"

    @operation(
        "requestPasswordReset", takes=PasswordResetRequest, status=202, throttles=[MailThrottle]
    )
    def ask(self, request: Request) -> Response:
        """Request a password reset link.

        The response never reveals whether the account exists.
        """
        Mail.objects.ask_for_reset(self.body()["email"])
        return self.no_content()

    @operation("resetPassword", takes=NewPasswordRequest, problems=[EmailTokenInvalid])
    def reset(self, request: Request) -> Response:
        """Set a new password with the token from the link.

        It works once and ends all sessions.
        """
        body = self.body()
        EmailToken.reset_password(body["token"], body["new_password"])
        return self.no_content()

    @operation("verifyEmail", takes=VerifyEmailRequest, problems=[EmailTokenInvalid])
    def verify(self, request: Request) -> Response:
        """Confirm an e-mail address with the token from a mailed link."""
        EmailToken.verify_email(self.body()["token"])
        return self.no_content()


class OwnSessionViewSet(ApiViewSet):
    """The caller's own sessions."""

    tag = "sessions"

    @operation("listSessions", answers=SessionSerializer)
    def list(self, request: Request) -> Response:
        """The caller's active sessions, most recently used first."""
        own = request.auth.pk if isinstance(request.auth, Session) else None
        sessions = Session.objects.of(self.caller).annotate(
            current=ExpressionWrapper(Q(pk=own), BooleanField())
        )
        return self.page(sessions.order_by("-used_at", "-created_at", "pk"))

    @operation("endSession")
    def destroy(self, request: Request, session_uuid: UUID) -> Response:
        """End a session, with all its tokens."""
        if not Session.objects.of(self.caller).filter(pk=session_uuid).end():
            raise NotFound
        return self.no_content()

    @operation("logoutEverywhere")
    def logout_everywhere(self, request: Request) -> Response:
        """End all sessions, including this one and browser sessions.

        Scoped tokens stay valid.
        """
        self.caller.log_out_everywhere(by=self.caller)
        return self.no_content()
