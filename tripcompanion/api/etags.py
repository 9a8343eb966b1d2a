"""Prevents lost updates: strong entity tags, `If-Match` and `If-None-Match` (RFC 9110)."""

from collections.abc import Collection
from hashlib import sha256
from typing import Any

from django.utils.http import parse_etags
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from tripcompanion.api.rendering import ExactJSONRenderer

#: How much of a list of tags is read: a repeated header may have 800 KB, which takes a second.
_MOST_CHARS = 8190


class PreconditionFailed(APIException):
    """412 `precondition_failed`: the resource has changed since the caller read it."""

    status_code = 412
    default_code = "precondition_failed"
    default_detail = gettext_lazy("It was changed since you read it. Please reload it.")

    def __init__(self, current: str) -> None:
        super().__init__()
        self.headers = {"ETag": current}


def etag_of(shown: Any, apart: Collection[str] = ()) -> str:
    """The strong tag of a response: a hash of its whole JSON, and one of the fields `apart`."""
    own = {name: shown[name] for name in apart}
    parts = [{**shown, **dict.fromkeys(own)}, own] if own else [shown]
    rendered = map(ExactJSONRenderer().render, parts)
    return f'"{".".join(sha256(part).hexdigest()[:32] for part in rendered)}"'


def require_match(request: Request, current: str) -> None:
    """Raise `PreconditionFailed` unless `If-Match` names the current tag (or is `*`).

    What the tag says of the fields `apart` is ignored.
    """
    wanted = request.headers.get("If-Match", "*")
    known = [tag.partition(".")[0] for tag in parse_etags(wanted[:_MOST_CHARS])]
    if wanted.strip() != "*" and current.partition(".")[0] not in known:
        raise PreconditionFailed(current)


def is_known(request: Request, current: str) -> bool:
    """Whether `If-None-Match` names the current tag, so that the caller's copy is current."""
    known = parse_etags(request.headers.get("If-None-Match", "")[:_MOST_CHARS])
    return "*" in known or current in [tag.removeprefix("W/") for tag in known]
