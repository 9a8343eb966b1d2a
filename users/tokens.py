"""The tokens of a log-in: SimpleJWT signs and verifies, the session row decides what is alive."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, Token
from rest_framework_simplejwt.utils import aware_utcnow, datetime_from_epoch

from tripcompanion.kit.problems import CsrfFailed
from tripcompanion.kit.throttling import address_of
from users.models import Session, User, sessions_of
from users.models.token import PREFIX, ScopedToken

_SCHEME = b"bearer"


class TokenRefused(AuthenticationFailed):
    """401 `token_invalid`: forged, foreign, malformed, revoked, or of a dead account."""

    default_detail = _("The token is not valid.")
    default_code = "token_invalid"


class TokenExpired(AuthenticationFailed):
    """401 `token_expired`: it was good once; a refresh or a new log-in helps."""

    default_detail = _("The token has expired.")
    default_code = "token_expired"


class TokenPair(NamedTuple):
    """What a log-in gets: two tokens, their lifetimes in seconds, and whose they are."""

    token: str
    refresh_token: str
    user: User
    type: str = "Bearer"
    expires_in: int = settings.ACCESS_TOKEN_LIFETIME
    refresh_expires_in: int = settings.REFRESH_TOKEN_LIFETIME


def log_in(user: User, request: Request) -> TokenPair:
    """The tokens of a new log-in of `user`, from where `request` comes."""
    device = request.headers.get("User-Agent", "")
    return token_pair(Session.start(user, device, address_of(request)))


def token_pair(session: Session) -> TokenPair:
    """A fresh access and refresh token of `session`."""
    access, refresh = AccessToken(), RefreshToken()
    for token in (access, refresh):
        token["sub"] = str(session.user_id)
        token["sid"] = session.pk.hex
    refresh["jti"] = session.refresh_jti
    return TokenPair(str(access), str(refresh), session.user)


@lru_cache(maxsize=2048)
def _claims(raw_token: str, kind: Any) -> Mapping[str, Any]:
    """What a token of `kind` says; a good signature is good each time, so it is checked once.

    Whether the token is still alive is another question, which the caller asks each time.
    """
    return kind(raw_token).payload


def session_of(raw_token: str, kind: type[Token]) -> tuple[Session, Mapping[str, Any]]:
    """The live session that a token of `kind` belongs to, with its user, and what the token says.

    Raises `TokenExpired` or `TokenRefused`, whatever the token holds.
    """
    session, token = issuing_session(raw_token, kind)
    if not session.is_good():
        raise TokenRefused
    return session, token


def issuing_session(raw_token: str, kind: type[Token]) -> tuple[Session, Mapping[str, Any]]:
    """The same, also where that session has ended: the token is ours, and not expired."""
    try:
        # Verified by hand: SimpleJWT grants its leeway to `exp` as well.
        token = _claims(raw_token, kind)  # type: ignore[arg-type]
        if datetime_from_epoch(token["exp"]) <= aware_utcnow():
            raise TokenExpired
        session = sessions_of(pk=UUID(hex=token["sid"])).first()
    except ExpiredTokenError as error:
        raise TokenExpired from error
    except (
        TokenError,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
    ) as error:
        raise TokenRefused from error
    if session is None or token.get("sub") != str(session.user_id):
        raise TokenRefused
    return session, token


class BrowserSession(SessionAuthentication):
    """The log-in of the browsable API, with the CSRF token that a browser needs."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise CsrfFailed from error


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <access token>`; `request.auth` is the session."""

    def authenticate(self, request: Request) -> tuple[User, Session] | None:
        scheme, _space, raw_token = get_authorization_header(request).partition(b" ")
        if not scheme:
            return None
        if scheme.lower() != _SCHEME:
            raise TokenRefused
        try:
            session, _token = session_of(raw_token.lstrip(b" ").decode("ascii"), AccessToken)
        except UnicodeDecodeError as error:
            raise TokenRefused from error
        session.note_use()
        session.user.by_session = session.pk
        return session.user, session

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ScopedTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer tc_…`; `request.auth` is the scoped token, which the user knows."""

    def authenticate(self, request: Request) -> tuple[User, ScopedToken] | None:
        scheme, _space, raw_token = get_authorization_header(request).partition(b" ")
        text = raw_token.lstrip(b" ").decode("latin-1")
        if scheme.lower() != _SCHEME or not text.startswith(PREFIX):
            return None
        token = ScopedToken.presented(text)
        if token is None or not token.is_good():
            raise TokenRefused
        if token.has_expired:
            raise TokenExpired
        token.note_use()
        token.user.by_token = token
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
