"""Strict parsing of JSON request bodies (RFC 8259, RFC 7493)."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import IO, Any, ClassVar

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from tripcompanion.api.rendering import ExactJSONRenderer

MAX_DEPTH = 32
#: The longest body of an operation that needs no log-in.
MAX_OPEN_BYTES = 16 * 1024


class MalformedJSON(ParseError):
    """400: the body is not acceptable JSON; `errors` names the place if it is known."""

    default_code = "malformed_json"

    def __init__(self, detail: str, errors: dict[str, list[str]] | None = None) -> None:
        super().__init__(detail)
        self.errors = errors or {}


class NotAnObject(MalformedJSON):
    """400: the body is JSON, but no object."""


class PayloadTooLarge(APIException):
    """413: the body is larger than 1 MiB, 10 MiB for files, 16 KiB where no log-in is needed."""

    status_code = 413
    default_code = "payload_too_large"
    default_detail = gettext_lazy("The body is larger than %(limit)s bytes.")
    example_values: ClassVar = {"limit": 1024 * 1024}

    def __init__(self, limit: int | None = None) -> None:
        limit = limit or settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        super().__init__(str(self.default_detail) % {"limit": limit})


class EncodedBody(UnsupportedMediaType):
    """415: the body is compressed."""

    default_detail = gettext_lazy("Send the body as it is, without Content-Encoding: %(coding)s.")
    default_code = "unsupported_media_type"
    headers: ClassVar = {"Accept-Encoding": "identity"}

    def __init__(self, coding: str) -> None:
        super().__init__("", str(self.default_detail) % {"coding": coding})


class LengthRequired(APIException):
    """411: a chunked body without a length, which would otherwise be read as empty."""

    status_code = 411
    default_code = "length_required"
    default_detail = gettext_lazy("Send the body with a Content-Length.")


class StrictJSONParser(BaseParser):
    """Parses a JSON object: UTF-8, depth up to 32, no duplicate key, NaN, NUL or lone surrogate.

    Numbers with a fraction become `Decimal`, so that amounts are exact.
    """

    media_type = "application/json"
    #: What the pages of the browsable API write the fields of an empty body with.
    renderer_class = ExactJSONRenderer

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        require_json(media_type or "")
        return read_object(stream.read())


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`; raises `MalformedJSON` on anything else."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_without_duplicates,
        )
    except UnicodeDecodeError as error:
        raise MalformedJSON(_("The body is not UTF-8.")) from error
    except RecursionError as error:
        raise MalformedJSON(_too_deep()) from error
    except json.JSONDecodeError as error:
        text = _("The body is not valid JSON: line %(line)s, column %(column)s.")
        raise MalformedJSON(text % {"line": error.lineno, "column": error.colno}) from error
    except (ValueError, ArithmeticError) as error:
        raise MalformedJSON(_("A number in the body is too long.")) from error
    if not isinstance(value, dict):
        raise NotAnObject(_("The body must be a JSON object."))
    for path, text in _texts(value, ()):
        if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            why = _("Contains a character that is not allowed (NUL or a lone surrogate).")
            where = ".".join(path)
            raise MalformedJSON(f"{where}: {why}", {where: [why]}) if where else MalformedJSON(why)
    return value


def require_plain(request: Request) -> None:
    """Raise `EncodedBody` if the body is compressed."""
    coding = request.headers.get("Content-Encoding", "").strip().lower()
    if coding not in {"", "identity"} and request.META.get("CONTENT_LENGTH") not in {None, "", "0"}:
        raise EncodedBody(coding)


def require_json(media_type: str) -> None:
    """Raise `UnsupportedMediaType` unless it is JSON in UTF-8; `*/*` is not a media type."""
    kind, *parameters = media_type.split(";")
    if kind.strip().lower() != StrictJSONParser.media_type:
        raise UnsupportedMediaType(media_type)
    for parameter in parameters:
        name, _equals, value = parameter.strip().partition("=")
        if name.lower() == "charset" and value.strip('"').lower() not in {"utf-8", "utf8"}:
            raise UnsupportedMediaType(media_type)


def _refuse_constant(name: str) -> None:
    raise MalformedJSON(_("%(name)s is not a JSON number.") % {"name": name})


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedJSON(_("An object contains the same key twice."))
    return members


def _too_deep() -> str:
    return _("The body is nested deeper than %(limit)s levels.") % {"limit": MAX_DEPTH}


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every string in `value`, including keys, with its path."""
    if isinstance(value, str):
        yield path, value
        return
    if not isinstance(value, dict | list):
        return
    if len(path) >= MAX_DEPTH:
        raise MalformedJSON(_too_deep())
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(key, str):
            yield path, key
        yield from _texts(item, (*path, str(key)))
