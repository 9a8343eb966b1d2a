"""Log-in of programs by OAuth 1.0a (RFC 5849), which sign every request.

oauthlib verifies the signatures. No secret is stored: each is an HMAC, with the `SECRET_KEY`, of
what it belongs to. The verifier is a code of OAuth 2 from the same page, and the access token
stands for a scoped token, which nobody gets to see. This module is imported only if the toolkit is
installed.
"""

import json
import string
import time
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.models import Application, Grant
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth1 import (
    SIGNATURE_HMAC_SHA1,
    SIGNATURE_HMAC_SHA256,
    RequestValidator,
    SignatureOnlyEndpoint,
)
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from tripcompanion.api.error_views import ProblemView, refusal
from tripcompanion.database.models import ThrottleCounter
from tripcompanion.splitwise.oauth import ConsentPage, count_log_in, issue
from users.models import ScopedToken, User
from users.random_tokens import digest_of
from users.tokens import TokenRefused, use_scoped_token

_SALT = "tripcompanion.splitwise.oauth1"
_FORM = "application/x-www-form-urlencoded"
#: How long somebody has to allow access.
REQUEST_SECONDS = 600
#: How far the clock of a program may be off. Nonces are kept for as long.
CLOCK_SECONDS = 300


def secret_of(client_id: str, token: str = "") -> str:
    """The secret of a program or, with `token`, the one of its request or access token."""
    names = json.dumps([client_id, token])
    return salted_hmac(_SALT, names, algorithm="sha256").hexdigest()


class Validator(RequestValidator):
    """What oauthlib asks about a request; it checks the form of its parameters itself."""

    # Whether HTTPS is required is a setting of the service.
    enforce_ssl = False
    allowed_signature_methods = (SIGNATURE_HMAC_SHA1, SIGNATURE_HMAC_SHA256)
    timestamp_lifetime = CLOCK_SECONDS
    client_key_length = nonce_length = (1, 100)
    safe_characters = frozenset(string.printable)
    dummy_client = ""

    def validate_timestamp_and_nonce(self, *arguments: Any, **options: Any) -> bool:
        """`signed` notes the nonce once the signature is good: others must fill no table."""
        return True

    def validate_client_key(self, client_key: str, request: Any) -> bool:
        request.application = Application.objects.filter(
            client_id=client_key,
            client_type=Application.CLIENT_CONFIDENTIAL,
            authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        ).first()
        return request.application is not None

    def get_client_secret(self, client_key: str, request: Any) -> str:
        return secret_of(client_key)

    def get_access_token_secret(self, client_key: str, token: str, request: Any) -> str:
        return secret_of(client_key, token)


_ENDPOINT = SignatureOnlyEndpoint(Validator())


def signed(request: Any) -> Any:
    """The parameters of a request, once its signature was verified; raises `TokenRefused`.

    They have the `application`, too. The signature covers the public address of the service.
    """
    kind = request.META.get("CONTENT_TYPE", "").lower()
    headers = {"Authorization": request.META.get("HTTP_AUTHORIZATION", ""), "Content-Type": kind}
    try:
        body = request.body.decode() if kind.startswith(_FORM) else ""
        address = request.build_absolute_uri()
        is_good, found = _ENDPOINT.validate_request(address, request.method, body, headers)
    except ValueError as error:
        # The header, the query or the form is malformed.
        raise TokenRefused from error
    if not is_good:
        raise TokenRefused
    once = json.dumps([found.client_key, found.resource_owner_key, found.timestamp, found.nonce])
    key = f"nonce {sha256(once.encode()).hexdigest()}"
    if ThrottleCounter.add(key, time.time() + 2 * CLOCK_SECONDS) > 1:
        raise TokenRefused
    return found


class SignedAuthentication(BaseAuthentication):
    """`Authorization: OAuth …`; `request.auth` is the scoped token."""

    def authenticate(self, request: Request) -> tuple[User, ScopedToken] | None:
        if not get_authorization_header(request).lower().startswith(b"oauth "):
            return None
        digest = signed(request).resource_owner_key or ""
        return use_scoped_token(
            ScopedToken.objects.select_related("user").filter(digest=digest).first()
        )


@method_decorator(csrf_exempt, name="dispatch")
class SignedEndpoint(ProblemView):
    """Answers a signed request with a token and its secret, as a form."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            count_log_in(request)
            found = signed(request)
            token = self.token(found)
        except APIException as error:
            return refusal(request, error)
        answer = {"oauth_token": token, "oauth_token_secret": secret_of(found.client_key, token)}
        return HttpResponse(urlencode(answer | {"oauth_callback_confirmed": "true"}), _FORM)

    def token(self, found: Any) -> str:
        raise NotImplementedError


class RequestTokenEndpoint(SignedEndpoint):
    """Issues request tokens. They say which program asks and where to return; nothing is stored."""

    def token(self, found: Any) -> str:
        registered = [*found.application.redirect_uris.split(), ""]
        back = found.redirect_uri or "oob"
        back = registered[0] if back == "oob" else back
        if not found.application.redirect_uri_allowed(back):
            raise TokenRefused
        return signing.dumps([found.client_key, back, found.nonce], salt=_SALT)


class AccessTokenEndpoint(SignedEndpoint):
    """Exchanges a request token and its verifier for an access token."""

    def token(self, found: Any) -> str:
        """Issue a scoped token; its digest names it and gives no access by itself."""
        asked = found.resource_owner_key or ""
        client_id, _back = _asked_by(asked)
        verifier = found.verifier or ""
        if client_id != found.client_key or not verifier.isprintable():
            raise TokenRefused
        rows = Grant.objects.filter(
            application=found.application,
            code=verifier,
            code_challenge=_challenge(asked),
            expires__gt=timezone.now(),
        )
        grant = rows.select_related("user").first()
        if grant is None:
            raise TokenRefused
        with grant.user.locked(by=grant.user) as owner:
            # Of two requests with the same verifier only one gets a token.
            if not rows.delete()[0]:
                raise TokenRefused
            lifetime = oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS
            about = {"scope": grant.scope, "expires_in": lifetime}
            return digest_of(issue(owner, found.application, about))


class SignedConsentPage(ConsentPage):
    """The same page for a request token: as its code is a verifier, that of OAuth 2 is made."""

    def get(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        asked = request.GET.get("oauth_token")
        if asked is None:
            page: HttpResponse = super().get(request, *arguments, **options)
            return page
        try:
            client_id, back = _asked_by(asked)
        except TokenRefused:
            # Without a program, the page says that it asked in a wrong way.
            client_id = back = ""
        query = {"response_type": "code", "client_id": client_id, "redirect_uri": back}
        query |= {"state": asked, "code_challenge_method": "S256"}
        query["code_challenge"] = _challenge(asked)
        return redirect(f"{request.path}?{urlencode(query)}")

    def redirect(self, redirect_to: str, application: Any) -> HttpResponse:
        """Return to the program with the names that OAuth 1.0a has for them."""
        names = {"code": "oauth_verifier", "state": "oauth_token"}
        parts = urlsplit(redirect_to)
        query = [(names.get(name, name), value) for name, value in parse_qsl(parts.query, True)]
        back: Any = super().redirect(parts._replace(query=urlencode(query)).geturl(), application)
        return back


def _challenge(request_token: str) -> str:
    """Ties a code to a request token, in the place of PKCE: OAuth 2 does not accept the code."""
    return sha256(request_token.encode()).hexdigest()


def _asked_by(request_token: str) -> tuple[str, str]:
    """The program of a request token and where to return; raises `TokenRefused`."""
    try:
        client_id, back, _nonce = signing.loads(request_token, salt=_SALT, max_age=REQUEST_SECONDS)
    except signing.BadSignature as error:
        raise TokenRefused from error
    return client_id, back
