"""Authentication by token. SimpleJWT signs and verifies; the session row decides validity."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import jwt
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import APIException, AuthenticationFailed, PermissionDenied
from rest_framework.request import Request
from rest_framework_simplejwt import tokens as simplejwt
from rest_framework_simplejwt.backends import TokenBackend
from rest_framework_simplejwt.exceptions import (
    ExpiredTokenError,
    TokenBackendError,
    TokenBackendExpiredToken,
    TokenError,
)
from rest_framework_simplejwt.utils import aware_utcnow, datetime_from_epoch

from tripcompanion.api.problems import UNSET, CsrfFailed
from tripcompanion.api.throttling import address_of
from tripcompanion.plugin import plugins
from users.models import Session, User, Via, sessions_of
from users.models.token import PREFIX, ScopedToken
from users.random_tokens import digest_of
from users.signing_keys import SigningKey

_SCHEME = b"bearer"
#: The accuracy of `used_at`: it is updated only if it is older than this.
_NOTED_EVERY = timedelta(minutes=10)
_NO_TOKEN = gettext_lazy(
    "%(word)s is not a token, but what an empty variable becomes. Log in at POST /api/users/login, "
    "and send the token of the answer."
)
#: What reading a token may raise if it is not ours, besides `ExpiredTokenError`.
_FORGED = (TokenError, KeyError, ValueError, TypeError, AttributeError, OverflowError)


class _KeyBackend(TokenBackend):
    """SimpleJWT's backend for one key, which it names in the header as `kid`."""

    def __init__(self, key: SigningKey, **claims: Any) -> None:
        super().__init__(key.algorithm, **claims)
        self.key = key

    def get_verifying_key(self, token: Any) -> Any:
        return self.key.verifying

    def encode(self, payload: dict[str, Any]) -> str:
        return jwt.encode(
            {**payload, "aud": self.audience, "iss": self.issuer},
            self.key.signing,
            self.key.algorithm,
            headers={"kid": self.key.kid},
        )


class KeyRing(_KeyBackend):
    """Signs with the first key and verifies with each.

    A key verifies only tokens of its own algorithm, so a public key is never taken for a secret.
    """

    def __init__(self, keys: Sequence[SigningKey], **claims: Any) -> None:
        super().__init__(keys[0], **claims)
        self._backends = [_KeyBackend(key, **claims) for key in keys]

    @property
    def public_jwks(self) -> list[dict[str, str]]:
        """The public keys as JWKs (RFC 7517), each once; a secret has none."""
        keys = {one.key.kid: one.key.public_jwk for one in self._backends if one.key.public_jwk}
        return [dict(jwk) for jwk in keys.values()]

    def decode(self, token: Any, verify: bool = True) -> dict[str, Any]:
        """The claims of a token; raises `TokenBackendError`.

        Its `kid` only decides which key is tried first: older tokens have none.
        """
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise TokenBackendError("Token is invalid") from error
        for backend in sorted(self._backends, key=lambda one: one.key.kid != header.get("kid")):
            try:
                return dict(backend.decode(token, verify))
            except TokenBackendExpiredToken:
                raise
            except TokenBackendError:
                continue
        raise TokenBackendError("No key verifies this token")


#: All keys of access and refresh tokens.
KEYS = KeyRing(
    settings.JWT_KEYS,
    audience=settings.SIMPLE_JWT["AUDIENCE"],
    issuer=settings.SIMPLE_JWT["ISSUER"],
    leeway=settings.SIMPLE_JWT["LEEWAY"],
)


class _WithOurKeys:
    """A token that `KEYS` signs and verifies."""

    def get_token_backend(self) -> Any:
        return KEYS


class AccessToken(_WithOurKeys, simplejwt.AccessToken):
    """A token that authenticates requests."""


class RefreshToken(_WithOurKeys, simplejwt.RefreshToken):  # type: ignore[misc]  # its own bases disagree
    """A token that is exchanged for a new pair."""


class TokenRefused(AuthenticationFailed):
    """401 `token_invalid`: forged, foreign, malformed, revoked, or of an inactive account."""

    default_detail = gettext_lazy("The token is not valid.")
    default_code = "token_invalid"


class TokenExpired(AuthenticationFailed):
    """401 `token_expired`: the token has expired; refresh it or log in again."""

    default_detail = gettext_lazy("The token has expired.")
    default_code = "token_expired"


class TokenPair(NamedTuple):
    """The result of a login: two tokens, their lifetimes in seconds, and the user."""

    token: str
    refresh_token: str
    user: User
    type: str = "Bearer"
    expires_in: int = settings.ACCESS_TOKEN_LIFETIME
    refresh_expires_in: int = settings.REFRESH_TOKEN_LIFETIME


def log_in(user: User, request: Request, *, is_complete: bool = False) -> TokenPair:
    """Start a session of `user` from the client of `request`, and return its tokens.

    Unless the log-in is complete, raises one of `log_in_problems` if a plugin asks for more.
    """
    for app in () if is_complete else plugins():
        app.require_log_in(request, user)
    device = request.headers.get("User-Agent", "")
    return token_pair(Session.start(user, device, address_of(request)))


def log_in_problems() -> list[type[APIException]]:
    """What plugins may raise in `log_in`."""
    return [problem for app in plugins() for problem in app.log_in_problems()]


def token_pair(session: Session) -> TokenPair:
    """A new access and refresh token of `session`."""
    access, refresh = AccessToken(), RefreshToken()
    for token in (access, refresh):
        token["sub"] = str(session.user_id)
        token["sid"] = session.pk.hex
    refresh["jti"] = session.refresh_jti
    return TokenPair(str(access), str(refresh), session.user)


@lru_cache(maxsize=2048)
def _claims(raw_token: str, kind: Any) -> Mapping[str, Any]:
    """The claims of a token of `kind`. The signature is verified once, then cached.

    The caller checks expiry and revocation every time.
    """
    return kind(raw_token).payload


#: The accounts of scoped tokens that were used here, by the digest of the token.
_OWNERS: dict[str, int] = {}
_MAX_OWNERS = 4096


def account_of(authorization: str) -> str:
    """The account of a token without asking the database, or "" if it is not known.

    A scoped token that this process has not seen yet is counted by itself.
    """
    scheme, _space, raw_token = authorization.partition(" ")
    raw_token = raw_token.strip()
    if scheme.lower() != "bearer":
        return ""
    if raw_token.startswith(PREFIX):
        digest = digest_of(raw_token)
        return str(_OWNERS.get(digest, digest))
    return str(_genuine_claims(raw_token, AccessToken).get("sub", ""))


def issuing_session(
    raw_token: str, kind: type[simplejwt.Token]
) -> tuple[Session, Mapping[str, Any]]:
    """The session of a token of `kind`, with its user, and the claims of the token.

    The token is genuine and has not expired, but the session may have ended. For any other token,
    raises `TokenExpired` or `TokenRefused`, and nothing else.
    """
    try:
        # Checked here, because SimpleJWT applies its leeway to `exp` too.
        token = _claims(raw_token, kind)  # type: ignore[arg-type]  # classes have a hash
        if datetime_from_epoch(token["exp"]) <= aware_utcnow():
            raise TokenExpired
        session = sessions_of.first(pk=UUID(hex=token["sid"]))
    except ExpiredTokenError as error:
        raise TokenExpired from error
    except _FORGED as error:
        if kind is AccessToken and _genuine_claims(raw_token, RefreshToken):
            raise TokenRefused(_("This is a refresh token; send the access token.")) from error
        raise TokenRefused from error
    if session is None or token.get("sub") != str(session.user_id):
        raise TokenRefused
    return session, token


def _genuine_claims(raw_token: str, kind: Any) -> Mapping[str, Any]:
    """The claims of a token; none if it is not a genuine one of this kind."""
    try:
        return _claims(raw_token, kind)
    except _FORGED:
        return {}


class BrowserSession(SessionAuthentication):
    """Session authentication of the browsable API; a failed CSRF check is a `CsrfFailed`."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        found: Any = super().authenticate(request)
        if found is not None:
            found[0].via = Via.SESSION
        return found

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise CsrfFailed from error


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`: `request.auth` is the session of an access token.

    For a scoped token, `request.auth` is that, and `user.by_token` its limits.
    """

    def authenticate(self, request: Request) -> tuple[User, Session | ScopedToken] | None:
        scheme, _space, raw_token = get_authorization_header(request).partition(b" ")
        if not scheme:
            return None
        if scheme.lower() != _SCHEME or not raw_token:
            raise TokenRefused(_("Send the header as Authorization: Bearer <token>."))
        if UNSET.fullmatch(raw_token.decode("latin-1").strip()):
            raise TokenRefused(_NO_TOKEN % {"word": raw_token.decode("latin-1").strip()})
        try:
            text = raw_token.lstrip(b" ").decode("ascii")
        except UnicodeDecodeError as error:
            raise TokenRefused from error
        if text.startswith(PREFIX):
            return use_scoped_token(ScopedToken.presented(text))
        session, _token = issuing_session(text, AccessToken)
        if not session.is_good():
            raise TokenRefused
        note_use(session)
        session.user.by_session, session.user.via = session.pk, Via.SESSION
        return session.user, session

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def note_use(row: Session | ScopedToken) -> None:
    """Set `used_at` of a session or token to now, unless it is more recent than `_NOTED_EVERY`."""
    now = timezone.now()
    if row.used_at is None or row.used_at <= now - _NOTED_EVERY:
        type(row).objects.filter(pk=row.pk, used_at=row.used_at).update(used_at=now)


def use_scoped_token(token: ScopedToken | None) -> tuple[User, ScopedToken]:
    """Note that a token was used; returns its user, who has its limits, and the token.

    Raises `TokenRefused` or `TokenExpired` if it is not valid.
    """
    if token is None or not token.is_good():
        raise TokenRefused
    if token.has_expired:
        raise TokenExpired
    note_use(token)
    if len(_OWNERS) >= _MAX_OWNERS:
        _OWNERS.clear()
    _OWNERS[token.digest] = token.user_id
    token.user.by_token, token.user.via = token.limits, Via.TOKEN
    return token.user, token
