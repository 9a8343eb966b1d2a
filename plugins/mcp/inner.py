"""Requests to our own API within the process, in the name of the caller.

So a tool may do what its caller may do by HTTP, and nothing else: token, scope, role, throttles,
quotas and validation are those of the view that answers.
"""

import io
import json
import secrets
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.http import FileResponse
from django.template.response import SimpleTemplateResponse
from django.urls import resolve
from rest_framework.request import Request

from tripcompanion.api.rendering import ExactJSONRenderer

#: What the request to a tool says of itself.
_OWN_HEADERS = (
    "HTTP_IF_MATCH",
    "HTTP_IF_NONE_MATCH",
    "HTTP_IDEMPOTENCY_KEY",
    "HTTP_ORIGIN",
    "HTTP_PREFER",
)


#: Nobody can put it into a field: it is another one in each process.
_BOUNDARY = secrets.token_hex(16)


class ToolFailed(Exception):
    """A tool that could not do its work: `text` for the assistant, and `data` that may help it."""

    def __init__(self, text: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.data = dict(data or {})


class Api:
    """The API for the caller of `request`; raises `ToolFailed` for what it refuses."""

    def __init__(self, request: Request) -> None:
        self.caller: Any = request.user
        self.token: Any = request.auth
        self._environ = {
            name: value for name, value in request.META.items() if name not in _OWN_HEADERS
        }
        #: The idempotency key of every POST; empty for none.
        self.key = ""
        #: Whether an answer is that of an earlier request with the same key.
        self.was_replayed = False
        #: The tag of the last answer, without its quotes.
        self.tag = ""

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a GET with these parameters."""
        return self.send("GET", path, query)

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        form: Mapping[str, Any] | None = None,
        accept: str = "application/json",
    ) -> Any:
        """The JSON of an answer, with numbers as `Decimal`; None if it has none, or its text.

        `form` is sent in place of a JSON `body`; its `file` is the text of one. What is null in a
        `query` or a `form` is not sent, and a list in a query as one value or several.
        """
        form, query = without_null(form or {}), without_null(query or {})
        texts = {name: _as_text(value, name) for name, value in query.items()}
        kind = f"multipart/form-data; boundary={_BOUNDARY}" if form else "application/json"
        try:
            content = b"" if body is None else ExactJSONRenderer().render(body)
        except TypeError as error:  # a number beyond 64 bits
            raise ToolFailed("A number is too large.") from error
        content = _multipart(form) if form else content
        environ = self._environ | {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": urlencode(texts, doseq=True),
            "CONTENT_TYPE": kind if content else "",
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.input": io.BytesIO(content),
            "HTTP_ACCEPT": accept,
        }
        if self.key and method == "POST":
            environ["HTTP_IDEMPOTENCY_KEY"] = self.key
        request: Any = WSGIRequest(environ)
        request.resolver_match = found = resolve(path)
        response = found.func(request, *found.args, **found.kwargs)
        if isinstance(response, SimpleTemplateResponse):  # a replayed one is not
            response.render()
        content = response.getvalue()
        if isinstance(response, FileResponse) and response.file_to_stream:
            response.file_to_stream.close()
        self.tag = response.get("ETag", "").strip('"')
        is_json = "json" in response.get("Content-Type", "json")
        answer: Any = content.decode()
        if is_json:
            answer = json.loads(content, parse_float=Decimal) if content else None
        if response.status_code >= 400:
            raise ToolFailed(answer["detail"], answer)
        self.was_replayed = self.was_replayed or "Idempotency-Replayed" in response
        return answer


def _multipart(form: Mapping[str, Any]) -> bytes:
    lines = []
    for name, value in form.items():
        file = '; filename="import.txt"' if name == "file" else ""
        lines += [f"--{_BOUNDARY}", f'Content-Disposition: form-data; name="{name}"{file}']
        lines += ["", str(value)]
    return "\r\n".join([*lines, f"--{_BOUNDARY}--", ""]).encode()


def without_null(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a client left out, some assistants send as null."""
    return {name: value for name, value in values.items() if value is not None}


def _as_text(value: Any, name: str = "") -> str | list[str]:
    """A parameter as it is sent; a list is repeated, but orders are one text with commas."""
    if isinstance(value, list):
        texts = [str(_as_text(one)) for one in value]
        return ",".join(texts) if name == "ordering" else texts
    return str(value).lower() if isinstance(value, bool) else str(value)
