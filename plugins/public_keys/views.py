"""The JWK Set (RFC 7517) of the keys that sign tokens."""

from hashlib import sha256

import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_control
from django.views.decorators.http import etag

from tripcompanion.api.error_views import ProblemView
from users import tokens

#: A new key signs only after every cache has it, so operators wait that long between both steps.
KEY_SET_MAX_AGE_SECONDS = 300


def _key_set() -> bytes:
    return orjson.dumps({"keys": tokens.KEYS.public_jwks})


def _key_set_etag(request: HttpRequest) -> str:
    return f'"{sha256(_key_set()).hexdigest()[:32]}"'


@method_decorator(cache_control(public=True, max_age=KEY_SET_MAX_AGE_SECONDS), "get")
@method_decorator(etag(_key_set_etag), "get")
class KeySet(ProblemView):
    """The public keys of tokens, at `/.well-known/jwks.json`, for services that verify.

    Secrets are left out, because they can sign as well.
    """

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(_key_set(), content_type="application/jwk-set+json")
