"""The keys that a provider signs with (OpenID Connect Discovery 1.0). Each process keeps them."""

import logging
import time
from functools import cache
from threading import Lock
from typing import Any

import orjson
from django.utils.translation import gettext_lazy

from plugins.outgoing import NotAnswered, get
from plugins.sign_in.providers import Provider
from tripcompanion.api.problems import Unavailable
from tripcompanion.database.lending import without_connection

logger = logging.getLogger(__name__)

#: For both requests together, and how many bytes of each answer are read.
FETCH_SECONDS, MAX_BYTES, MAX_KEYS = 5.0, 128 * 1024, 100
#: How long keys are used: one that the provider withdraws ends then.
KEPT_SECONDS = 3600.0
#: How soon they are fetched again for a key that is not known, and after a failure.
UNKNOWN_KEY_SECONDS, FAILURE_SECONDS = 60, 10


class ProviderUnavailable(Unavailable):
    """503 `provider_unavailable`: the keys of the provider cannot be had now; try again."""

    default_code = "provider_unavailable"
    default_detail = gettext_lazy("The provider does not answer. Please try again later.")
    wait = FAILURE_SECONDS


class KeyCache:
    """The keys of one provider. One thread at a time fetches them; it holds no connection."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._lock = Lock()
        self._keys: list[dict[str, Any]] = []
        self._old_at = self._next_at = float("-inf")

    def find(self, kid: str | None) -> list[dict[str, Any]]:
        """The keys with this id, or all of them without one; raises `ProviderUnavailable`."""
        if not self._current(kid):
            # Nobody waits for longer than one fetch: after it, nobody fetches for a while.
            with without_connection(), self._lock:
                if not self._current(kid) and time.monotonic() >= self._next_at:
                    self._next_at = time.monotonic() + FAILURE_SECONDS
                    self._keys = _fetch(self.provider)
                    self._old_at = time.monotonic() + KEPT_SECONDS
                    self._next_at = time.monotonic() + UNKNOWN_KEY_SECONDS
        if time.monotonic() >= self._old_at:
            raise ProviderUnavailable
        return self._current(kid)

    def _current(self, kid: str | None) -> list[dict[str, Any]]:
        keys = self._keys if time.monotonic() < self._old_at else []
        return [key for key in keys if kid is None or key.get("kid") == kid]


@cache
def keys_of(provider: Provider) -> KeyCache:
    """The keys of a provider; there are as many as the settings have."""
    return KeyCache(provider)


def _fetch(provider: Provider) -> list[dict[str, Any]]:
    """The keys for signatures that the provider publishes now; raises `ProviderUnavailable`."""
    deadline = time.monotonic() + FETCH_SECONDS

    # On this machine, in development.
    is_local = provider.issuer.startswith("http:")

    def document(url: str) -> Any:
        seconds = max(deadline - time.monotonic(), 0.01)
        return orjson.loads(get(url, max_bytes=MAX_BYTES, allow_private=is_local, seconds=seconds))

    try:
        about = document(f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration")
        if about["issuer"] != provider.issuer:
            raise ValueError("the document is of another issuer")
        keys = [*document(str(about["jwks_uri"]))["keys"]][:MAX_KEYS]
        return [key for key in keys if isinstance(key, dict) and key.get("use", "sig") == "sig"]
    except (NotAnswered, LookupError, TypeError, ValueError) as error:
        logger.warning("The keys of %s cannot be had: %s", provider.issuer, error)
        raise ProviderUnavailable from error
