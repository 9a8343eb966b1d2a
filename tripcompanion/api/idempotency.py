"""Safe retries: a POST with an `Idempotency-Key` acts once, and its response is replayed.

Follows draft-ietf-httpapi-idempotency-key-header. The key's row is inserted first, in the same
transaction as the effect: a concurrent duplicate blocks on the unique index until the first
request ends, and an error rolls the key back. Before a response is replayed, the view checks that
the caller may still read it.
"""

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from django.db import OperationalError, connection, transaction
from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request

from tripcompanion.api.problems import Conflict
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.database.models import IdempotencyRecord
from tripcompanion.database.watching import is_lock_timeout
from tripcompanion.observability.instruments import REPLAYS

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
#: Visible ASCII characters.
KEY_PATTERN = "^[!-~]{1,255}$"
_VISIBLE = re.compile(KEY_PATTERN.strip("^$"))
_WAIT_SECONDS = 3


class KeyMismatch(APIException):
    """422 `idempotency_mismatch`: the key was used for another request."""

    status_code = 422
    default_code = "idempotency_mismatch"
    default_detail = gettext_lazy("This idempotency key was used for another request.")


class KeyInProgress(Conflict):
    """409 `idempotency_in_progress`: the first request with this key is still running."""

    default_code = "idempotency_in_progress"
    default_detail = gettext_lazy("The first request with this idempotency key is still running.")
    wait = 2


class AlreadyMade(Conflict):
    """409 `already_made`: the first request with this key made the object `id`.

    Its answer had a secret, which is not stored: revoke the object, or renew its secret.
    """

    default_code = "already_made"
    default_detail = gettext_lazy("The first request with this idempotency key made it already.")
    extensions: Mapping[str, Any] = {"id": 12}

    def __init__(self, location: str) -> None:
        super().__init__()
        self.extensions = {"id": int(location.rpartition("/")[2])}


def key_of(request: Request) -> str:
    """The key of a request that has one; raises `ValidationError` if it is invalid."""
    key = request.headers[HEADER]
    if not _VISIBLE.fullmatch(key):
        raise ValidationError({HEADER: [_("Must be 1 to 255 visible ASCII characters.")]})
    return key


def answer_once(
    key: str,
    handler: Callable[..., HttpResponseBase],
    require_replayable: Callable[[str], None],
    is_secret: bool,
    request: Request,
    *args: Any,
    **kwargs: Any,
) -> HttpResponseBase:
    """The response of `handler`, or the stored one if this key was used for the same request.

    `require_replayable` gets the stored `Location` and raises if the caller may no longer read the
    stored response. A response without a body reveals nothing, so it is always replayed. One that
    `is_secret` is not stored: its repeat raises `AlreadyMade`. Raises `KeyMismatch`,
    `KeyInProgress`, and whatever `handler` raises; the key stays unused then.
    """
    fingerprint = _fingerprint(request)
    with transaction.atomic():
        mine = _claim(request.user.pk, key, fingerprint)
        if not mine:
            given = IdempotencyRecord.objects.get(user=request.user.pk, key=key)
            if given.fingerprint != fingerprint:
                raise KeyMismatch
            if given.body or is_secret:
                require_replayable(given.location)
            if is_secret:
                raise AlreadyMade(given.location)
            return _replay(given)
        response: Any = handler(request, *args, **kwargs)
        IdempotencyRecord.objects.filter(user=request.user.pk, key=key).update(
            status=response.status_code,
            location=response.get("Location", ""),
            body=b"" if is_secret else ExactJSONRenderer().render(response.data),
        )
        return response


def _fingerprint(request: Request) -> str:
    body = json.dumps(request.data, default=str, sort_keys=True).encode()
    # A response is not replayed to a scoped token that may not see it.
    apart = getattr(request.auth, "keys_apart", "")
    head = f"{request.method} {request.get_full_path()}{apart}\n".encode()
    return sha256(head + body).hexdigest()


def _claim(user_id: int | None, key: str, fingerprint: str) -> bool:
    """Claim the key for this request; False if it is taken. Waits for a concurrent duplicate."""
    IdempotencyRecord.objects.filter(user=user_id, key=key).expired().delete()
    with connection.cursor() as cursor:
        is_postgresql = connection.vendor == "postgresql"
        if is_postgresql:
            cursor.execute(
                "SELECT current_setting('lock_timeout'), set_config('lock_timeout', %s, true)",
                [f"{_WAIT_SECONDS}s"],
            )
            before, _now = cursor.fetchone()
        try:
            cursor.execute(
                "INSERT INTO kit_idempotencyrecord"
                " (user_id, key, fingerprint, status, location, body, created_at)"
                " VALUES (%s, %s, %s, 0, '', %s, %s) ON CONFLICT (user_id, key) DO NOTHING",
                [user_id, key, fingerprint, b"", timezone.now()],
            )
        except OperationalError as error:
            if is_lock_timeout(error):
                raise KeyInProgress from error
            raise
        taken = cursor.rowcount == 1
        if is_postgresql:
            # Behind a pooler, resetting it to the default would set another value.
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [before])
    return taken


def _replay(given: IdempotencyRecord) -> HttpResponse:
    REPLAYS.inc()
    content_type = "application/json" if given.body else None
    response = HttpResponse(bytes(given.body), status=given.status, content_type=content_type)
    if given.location:
        response["Location"] = given.location
    response[REPLAYED] = "true"
    return response
