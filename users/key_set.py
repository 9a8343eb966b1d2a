"""The public keys of tokens, for services that verify them: `/.well-known/jwks.json` (RFC 7517)."""

from hashlib import sha256
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import cache_control
from django.views.decorators.http import etag

from tripcompanion.api.error_views import method_not_allowed
from users import tokens

#: A new key signs only after every cache has it, so operators wait that long between both steps.
MAX_AGE_SECONDS = 300


def _body() -> bytes:
    return orjson.dumps({"keys": tokens.KEYS.public_jwks})


def _etag(request: HttpRequest) -> str:
    return f'"{sha256(_body()).hexdigest()[:32]}"'


@method_decorator(cache_control(public=True, max_age=MAX_AGE_SECONDS), "get")
@method_decorator(etag(_etag), "get")
class KeySet(View):
    """The JWK Set of the keys that verify tokens, without secrets: those can sign as well."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(_body(), content_type="application/jwk-set+json")

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kw: Any) -> HttpResponse:
        return method_not_allowed(request, [name.upper() for name in self.http_method_names])
