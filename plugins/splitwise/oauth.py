"""Log-in of programs by OAuth 2 (RFC 6749, RFC 7636), whose access tokens are scoped tokens.

django-oauth-toolkit checks the requests; of its tables, only applications and codes are used. This
module is imported only if its app is installed.
"""

import hmac
import json
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from oauth2_provider.exceptions import FatalClientError
from oauth2_provider.forms import AllowForm
from oauth2_provider.models import Application, Grant
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.views import AuthorizationView, TokenView
from oauthlib.oauth2.rfc6749 import errors
from rest_framework.exceptions import APIException, Throttled

from tripcompanion.api.error_views import ProblemView, refusal
from tripcompanion.plugin import plugins
from users.models import MAX_TOKEN_NAME_CHARS, ScopedToken, User
from users.models.token import PREFIX
from users.scopes import Scope
from users.throttles import LoginAddressThrottle

#: How many tokens an account has of one application; a new one replaces the oldest.
TOKENS_OF_APPLICATION = 5
_CLIENT_ID_CHARS = 8
_GRANT_TYPES = frozenset({"authorization_code", "client_credentials"})
#: What only OpenID Connect and RFC 8707 have: every token is for this service.
_UNUSED = frozenset({"nonce", "claims", "resource"})
#: The page runs no scripts. Its form leads on to the program, so there is no `form-action`.
_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'"


class Validator(OAuth2Validator):
    """The toolkit's rules, but the access token is a `ScopedToken`, without a refresh token."""

    def is_pkce_required(self, client_id: str, request: Any) -> bool:
        """Programs that can keep a secret may do without."""
        return bool(request.client.client_type == Application.CLIENT_PUBLIC)

    def validate_code(self, client_id: str, code: str, *arguments: Any, **options: Any) -> bool:
        """No code has control characters, and PostgreSQL would fail on NUL."""
        return code.isprintable() and super().validate_code(client_id, code, *arguments, **options)

    def _load_application(self, client_id: str | None, request: Any) -> Any:
        """No program has control characters in its name, which may come in a header, too."""
        is_text = (client_id or "").isprintable()
        return super()._load_application(client_id, request) if is_text else None

    def save_authorization_code(self, client_id: str, code: Any, request: Any, *a: Any) -> None:
        """Store the code, under the lock of the account: whatever ends its sessions deletes it."""
        Grant.objects.filter(expires__lte=timezone.now()).delete()
        try:
            with request.user.locked(by=request.user):
                super().save_authorization_code(client_id, code, request, *a)
        except APIException as error:
            raise errors.AccessDeniedError(request=request) from error

    def invalidate_authorization_code(self, *arguments: Any, **options: Any) -> None:
        """`_save_bearer_token` has done so."""

    def _save_bearer_token(self, token: Any, request: Any, *arguments: Any, **options: Any) -> None:
        """Issue the token, in a transaction. Raises an `OAuth2Error`."""
        has_code = request.grant_type != "client_credentials"
        account = request.user if has_code else request.client.user
        if account is None:
            raise errors.InvalidGrantError(_("There is no such account."), request=request)
        token.pop("refresh_token", None)
        code = Grant.objects.filter(code=request.code, application=request.client)
        try:
            with account.locked(by=account) as owner:
                # Of two requests with the same code only one gets a token.
                if has_code and not code.delete()[0]:
                    raise errors.InvalidGrantError(request=request)
                raw_token = token_of(request.code) if has_code else ""
                token["access_token"] = issue(owner, request.client, token, raw_token)
        except APIException as error:
            raise errors.InvalidGrantError(str(error.detail), request=request) from error


def token_of(code: str) -> str:
    """The token that a code is exchanged for: nothing else has to say which one it was."""
    key = settings.SECRET_KEY.encode()
    return PREFIX + hmac.digest(key, f"{__name__} {code}".encode(), "sha256").hex()


def revoke_token_of(code: str, since: datetime) -> None:
    """Revoke what a code was exchanged for before `since`: somebody else has it, too.

    RFC 6749, 4.1.2. A program that sent it several times at once keeps its token.
    """
    spent = ScopedToken.presented(token_of(code))
    if spent is not None and spent.created_at < since:
        ScopedToken.objects.filter(pk=spent.pk).delete()


def issue(account: User, application: Application, token: Any, raw_token: str) -> str:
    """A scoped token with the `scope` and `expires_in` of `token`; raises an `APIException`.

    It is `raw_token`, or a random one if that is empty.
    """
    mark = f" ({application.client_id[:_CLIENT_ID_CHARS]})"
    name = application.name[: MAX_TOKEN_NAME_CHARS - len(mark)] + mark
    expires_at = timezone.now() + timedelta(seconds=token["expires_in"])
    with account.locked(by=account) as owner:
        older = owner.scoped_tokens.filter(name=name).order_by("-id")[TOKENS_OF_APPLICATION - 1 :]
        owner.scoped_tokens.filter(pk__in=[one.pk for one in older]).delete()
        issued = ScopedToken.issue(
            owner,
            name=name,
            scopes=token["scope"].split(),
            expires_at=expires_at,
            raw_token=raw_token,
        )
    return issued.token


class ConsentForm(AllowForm):
    """What the page sends back, without `_UNUSED`."""

    nonce = claims = resource = None


@method_decorator(never_cache, name="dispatch")
class ConsentPage(ProblemView, AuthorizationView):
    """Asks whether a program may act for the user. Who has not logged in does so first."""

    http_method_names = ["get", "head", "post"]
    template_name = "splitwise/authorize.html"
    form_class = ConsentForm

    def dispatch(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        response: Any = super().dispatch(request, *arguments, **options)
        response["Content-Security-Policy"] = _POLICY
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        if not Application.objects.filter(client_id=form.cleaned_data["client_id"]).exists():
            error = errors.InvalidClientIdError()
            return self.error_response(FatalClientError(error), None)
        return super().form_valid(form)

    def get(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        _leave_out(request, _UNUSED)
        if not _fits(request.GET):
            return self.form_invalid(None)
        response: HttpResponse = super().get(request, *arguments, **options)
        return response

    def post(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        # The form is sent to the address of the page, and has what is needed of its query.
        _leave_out(request, {*request.GET})
        if not _fits(request.POST):
            return self.form_invalid(None)
        response: HttpResponse = super().post(request, *arguments, **options)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.error_response(FatalClientError(errors.InvalidRequestFatalError()), None)

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        """The page with its texts; the toolkit makes that of an error without any."""
        texts = {
            "title": _("Access for a program"),
            "language": get_language(),
            "refused": _("The program asked for access in a wrong way:"),
            "hint": _("You can revoke it at any time among the tokens of your account."),
            "allow": _("Allow"),
            "deny": _("Do not allow"),
        }
        if "application" in context:
            user: Any = self.request.user
            names = {"name": context["application"].name, "email": user.email}
            texts["question"] = _("Do you want to let “%(name)s” act for %(email)s?") % names
        response: Any = super().render_to_response(texts | context, **options)
        return response


def _leave_out(request: HttpRequest, names: Collection[str]) -> None:
    """Leave parameters out of the query: the toolkit reads both its text and its values."""
    query = {name: texts for name, texts in request.GET.lists() if name not in names}
    request.META["QUERY_STRING"] = urlencode(query, doseq=True)
    request.GET = QueryDict(request.META["QUERY_STRING"])


def _fits(sent: QueryDict) -> bool:
    """Whether no text is longer than its column of a code: no form checks what is stored."""
    columns = {field.name: field.max_length for field in Grant._meta.concrete_fields}
    return all(len(text) <= (columns.get(name) or len(text)) for name, text in sent.items())


def count_log_in(request: HttpRequest) -> None:
    """Count that a program asks for a token; raises `Throttled`."""
    throttle = LoginAddressThrottle()
    if not throttle.allow_request(request, None):  # type: ignore[arg-type]
        raise Throttled(throttle.wait())


class TokenEndpoint(ProblemView, TokenView):
    """Exchanges a code, or the secret of an application, for a scoped token.

    The toolkit knows more ways to get a token, with tables of its own. PyPI's `splitwise` sends its
    form without a Content-Type.
    """

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponse:
        try:
            count_log_in(request)
        except Throttled as error:
            return refusal(request, error)
        if not request.content_type:
            request.content_type = "application/x-www-form-urlencoded"
        if request.POST.get("grant_type") not in _GRANT_TYPES:
            unknown = errors.UnsupportedGrantTypeError()
            return HttpResponse(unknown.json, "application/json", status=unknown.status_code)
        since = timezone.now()
        try:
            _url, headers, body, status = self.create_token_response(request)
        except Grant.DoesNotExist:
            # Another request has used the code since this one found it.
            refused = errors.InvalidGrantError()
            headers, body, status = refused.headers, refused.json, refused.status_code
        if status == 400 and json.loads(body)["error"] == "invalid_grant":
            revoke_token_of(request.POST.get("code", ""), since)
        return HttpResponse(body, status=status, headers=headers)


class Scopes:
    """The scopes of tokens, for the toolkit.

    A program that names none asks for those that the calls of Splitwise need.
    """

    def get_all_scopes(self) -> dict[str, str]:
        """What each scope lets a program do, for the page."""
        return {name: str(text) for app in plugins() for name, text in app.scopes.items()}

    def get_available_scopes(self, *arguments: Any, **options: Any) -> list[str]:
        return list(self.get_all_scopes())

    def get_default_scopes(self, *arguments: Any, **options: Any) -> list[str]:
        return [*Scope]
