"""Registration, log-in and log-out, and one's own account.

What one sees of others depends on shared trips, so `/api/users/{userId}` is served by `trips`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import (
    LoginView,
    LogoutView,
    PasswordChangeView,
    redirect_to_login,
)
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework_simplejwt.tokens import RefreshToken

from tripcompanion.kit.problems import method_not_allowed
from tripcompanion.kit.throttling import Limit
from tripcompanion.kit.viewsets import ApiViewSet
from users.forms import LimitedLogin, OwnPasswordForm
from users.limits import LoginAddressLimit, LoginLimit, MailLimit, RefreshLimit, RegisterLimit
from users.models import EmailTaken, Link, LinkInvalid, Mail, Session, User
from users.serializers import (
    LoginRequest,
    LoginResponse,
    NewPasswordRequest,
    PasswordResetRequest,
    RefreshRequest,
    RegisterRequest,
    SessionSerializer,
    UserSerializer,
    VerifyEmailRequest,
)
from users.tokens import (
    TokenExpired,
    TokenRefused,
    issuing_session,
    log_in,
    session_of,
    token_pair,
)


class BadCredentials(AuthenticationFailed):
    """401 `bad_credentials`: unknown address, wrong password or deactivated user, all alike."""

    default_detail = _("E-mail or password is wrong.")
    default_code = "bad_credentials"


class SessionViewSet(ApiViewSet):
    """Open to everybody: here one gets, renews and gives back tokens."""

    safe_retries = False
    # A stale token in the header must not lock anybody out of logging in.
    authentication_classes = ()
    permission_classes = (AllowAny,)
    bodies: ClassVar = {
        "register": RegisterRequest,
        "login": LoginRequest,
        "refresh": RefreshRequest,
        "logout": RefreshRequest,
    }
    answers: ClassVar = {
        "register": LoginResponse,
        "login": LoginResponse,
        "refresh": LoginResponse,
    }
    creates: ClassVar = frozenset({"register"})
    problems: ClassVar = {
        "register": [EmailTaken],
        "login": [BadCredentials],
        "refresh": [TokenRefused, TokenExpired],
        "logout": [TokenRefused, TokenExpired],
    }
    limits: ClassVar[Mapping[str, list[type[Limit]]]] = {
        "register": [RegisterLimit],
        "login": [LoginAddressLimit, LoginLimit],
        "refresh": [RefreshLimit],
        "logout": [RefreshLimit],
    }

    def get_throttles(self) -> list[BaseThrottle]:
        limits = self.limits.get(self.action)
        return [limit() for limit in limits] if limits else super().get_throttles()

    def register(self, request: Request) -> Response:
        """Make an account; the answer logs it in."""
        body = self.body()
        with transaction.atomic():
            user = User.register(**body)
            tokens = log_in(user, request)
        return self.answer(tokens, location=f"/api/users/{user.pk}")

    def login(self, request: Request) -> Response:
        """Exchange e-mail and password for a pair of tokens."""
        body = self.body()
        user = authenticate(request, username=body["email"], password=body["password"])
        if user is None:
            raise BadCredentials
        try:
            return self.answer(log_in(user, request))
        except NotAuthenticated as error:
            raise BadCredentials from error

    def refresh(self, request: Request) -> Response:
        """Spend a refresh token for a new pair. Using one twice ends its whole family."""
        session, token = session_of(self.body()["refresh_token"], RefreshToken)
        if not session.renew(token["jti"]):
            raise TokenRefused
        return self.answer(token_pair(session))

    def logout(self, request: Request) -> Response:
        """End the log-in that a refresh token belongs to, with all its tokens. May be repeated."""
        session, _token = issuing_session(self.body()["refresh_token"], RefreshToken)
        session.end()
        return self.done()


class LinkViewSet(ApiViewSet):
    """Open to everybody: links that are sent by mail, and what their tokens are good for."""

    safe_retries = False
    authentication_classes = ()
    permission_classes = (AllowAny,)
    bodies: ClassVar = {
        "ask": PasswordResetRequest,
        "reset": NewPasswordRequest,
        "verify": VerifyEmailRequest,
    }
    accepts: ClassVar = frozenset({"ask"})
    problems: ClassVar = {"reset": [LinkInvalid], "verify": [LinkInvalid]}

    def get_throttles(self) -> list[BaseThrottle]:
        return [MailLimit()] if self.action == "ask" else super().get_throttles()

    def ask(self, request: Request) -> Response:
        """Ask for a link to set a new password. The answer is the same if nobody is called so."""
        Mail.objects.ask_for_reset(self.body()["email"])
        return self.done()

    def reset(self, request: Request) -> Response:
        """Set a new password with the token of the link, which works once; all log-ins end."""
        body = self.body()
        Link.reset_password(body["token"], body["new_password"])
        return self.done()

    def verify(self, request: Request) -> Response:
        """Confirm an e-mail address with the token of the link that was sent there."""
        Link.verify_email(self.body()["token"])
        return self.done()


class BrowserLogin(LoginView):
    """The log-in page of the browsable API."""

    template_name = "rest_framework/login.html"
    authentication_form = LimitedLogin

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, LimitedLogin.THROTTLED):
            response.status_code = 429
        return response

    http_method_names = ["get", "post", "head"]

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kw: Any) -> HttpResponse:
        return method_not_allowed(request, [name.upper() for name in self.http_method_names])


class BrowserLogout(LogoutView):
    """Where the browsable API's log-out button posts to."""

    http_method_names = ["post"]

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kw: Any) -> HttpResponse:
        return method_not_allowed(request, [name.upper() for name in self.http_method_names])


class OwnPassword(PasswordChangeView):
    """The page of the admin site where one changes one's own password."""

    form_class = OwnPasswordForm
    success_url = reverse_lazy("admin:password_change_done")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(**admin.site.each_context(self.request), **context)

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return super().form_valid(form)
        except NotAuthenticated:
            return redirect_to_login(self.request.get_full_path(), reverse("admin:login"))


class OwnSessionViewSet(ApiViewSet):
    """The caller's own log-ins."""

    answers: ClassVar = {"list": SessionSerializer}

    def list(self, request: Request) -> Response:
        """The log-ins that are alive, the last used first."""
        own = request.auth.pk if isinstance(request.auth, Session) else None
        sessions = Session.objects.of(self.caller).annotate(
            current=ExpressionWrapper(Q(pk=own), BooleanField())
        )
        return self.page(sessions.order_by("-used_at", "-created_at", "pk"))

    def destroy(self, request: Request, session_uuid: UUID) -> Response:
        """End one of them, with all its tokens."""
        if not Session.objects.of(self.caller).filter(pk=session_uuid).end():
            raise NotFound
        return self.done()

    def logout_everywhere(self, request: Request) -> Response:
        """End all of them, this one and those in browsers too. Scoped tokens live on."""
        self.caller.log_out_everywhere(by=self.caller)
        return self.done()


class MeView(ApiViewSet):
    """One's own account."""

    answers: ClassVar = {"retrieve": UserSerializer}
    single_statement: ClassVar = frozenset({"retrieve"})
    accepts: ClassVar = frozenset({"verify_email"})
    limits: ClassVar[Mapping[str, type[BaseThrottle]]] = {"verify_email": MailLimit}

    def get_throttles(self) -> list[BaseThrottle]:
        limit = self.limits.get(self.action)
        return [limit()] if limit else super().get_throttles()

    def retrieve(self, request: Request) -> Response:
        """The account of the caller, whole."""
        return self.answer(self.caller)

    def verify_email(self, request: Request) -> Response:
        """Send the link that confirms one's e-mail address again."""
        self.caller.ask_to_verify(by=self.caller)
        return self.done()
