"""The OpenAPI document: its last touches, and `/api/schema`, where it is served."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from hashlib import sha256
from itertools import count
from threading import Lock
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import get_language, override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

from tripcompanion.kit.etags import is_known
from tripcompanion.kit.problems import CONTENT_TYPE
from tripcompanion.kit.serializers import camel_case

#: How drf-spectacular names the bodies of a PATCH, before the name of the whole body.
_PATCH = "Patched"


class Rendered(NamedTuple):
    """The document as it is sent, with its tag."""

    body: bytes
    etag: str


_generating = Lock()


def document(language: str, form: str) -> Rendered:
    """The document in `language` as "yaml" or "json"; only the first caller generates it."""
    with _generating:
        return _generated(language)[form]


@cache
def _generated(language: str) -> dict[str, Rendered]:
    with override(language):
        # Without the request: what one caller gets is what all get.
        schema = SchemaGenerator().get_schema(request=None, public=True)
    forms = {}
    for renderer in (OpenApiYamlRenderer(), OpenApiJsonRenderer()):
        body = renderer.render(schema, renderer_context={})
        forms[renderer.format] = Rendered(body, f'"{sha256(body).hexdigest()[:32]}"')
    return forms


class DocumentView(SpectacularAPIView):
    """drf-spectacular's view generates the document anew for every request.

    It also repeats `?version=` in a header and in the document; this one does not read it.
    """

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The document; `?lang=` is a language that wins over `Accept-Language`."""
        language = request.query_params.get("lang")
        if language not in dict(settings.LANGUAGES):
            language = get_language() or settings.LANGUAGE_CODE
        renderer = request.accepted_renderer
        body, etag = document(language, renderer.format)
        if is_known(request, etag):
            return HttpResponse(status=304, headers={"ETag": etag})
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        name = f"{settings.SPECTACULAR_SETTINGS['TITLE']}.{renderer.format}"
        headers = {"ETag": etag, "Content-Disposition": f'inline; filename="{name}"'}
        return HttpResponse(body, content_type=f"{renderer.media_type}{charset}", headers=headers)


def finish_document(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Spectacular's hook: path parameters in camelCase, headers of answers, refusals once each."""
    result["paths"] = {_wire_path(path): item for path, item in result["paths"].items()}
    for item in result["paths"].values():
        for operation in item.values():
            names = [parameter["name"] for parameter in operation.get("parameters", ())]
            for status, response in operation["responses"].items():
                headers = dict(_HEADERS.get(status, {}))
                if {"If-Match", "If-None-Match"} & {*names} and status in {"200", "304", "412"}:
                    headers["ETag"] = _header("string", "The tag of what is stored now.")
                if headers:
                    response["headers"] = headers
            operation["responses"] = {
                status: _shared(response, result["components"])
                for status, response in operation["responses"].items()
            }
    bodies = _schemas_of_bodies(result)
    for name, schema in bodies.items():
        whole = bodies.get(name.removeprefix(_PATCH), schema)
        _finish_body(schema, whole.get("required", ()), is_patch=name.startswith(_PATCH))
    # RFC 9457, 3.2: a kind of problem may have members of its own.
    result["components"]["schemas"]["Problem"]["additionalProperties"] = True
    for schema in result["components"]["schemas"].values():
        # A docstring's first paragraph is for users of the API, the rest for who works on it.
        if "description" in schema:
            schema["description"] = schema["description"].split("\n\n")[0]
    return result


def _schemas_of_bodies(result: dict[str, Any]) -> dict[str, Any]:
    """The objects that requests consist of, by name, those inside of others too."""
    schemas, found = result["components"]["schemas"], {}
    wanted = [
        operation["requestBody"]
        for item in result["paths"].values()
        for operation in item.values()
        if "requestBody" in operation
    ]
    while wanted:
        for name in re.findall(r"'#/components/schemas/(\w+)'", repr(wanted.pop())):
            if name not in found and "properties" in schemas[name]:
                found[name] = schemas[name]
                wanted.append(schemas[name])
    return found


def _finish_body(schema: dict[str, Any], required: Collection[str], *, is_patch: bool) -> None:
    """A PATCH has no defaults; what is not `required` in the whole body may be null (see `Shape`).

    What a PATCH leaves out stays as it is, and generated clients would send the default.
    """
    for name, field in schema["properties"].items():
        if is_patch:
            field.pop("default", None)
        if name not in required:
            _explain_null(field)


def _explain_null(field: dict[str, Any]) -> None:
    if _is_nullable(field):
        field.setdefault("description", "`null` clears it.")
        return
    field["description"] = " ".join(
        filter(None, (field.get("description"), "`null` counts as left out."))
    )
    if "oneOf" in field:
        field["oneOf"] = [*field["oneOf"], {"type": "null"}]
    elif "type" in field and "enum" not in field:
        field["type"] = [field["type"], "null"]
    else:
        kind = field.pop("allOf", None) or [{"$ref": field.pop("$ref")}]
        field["oneOf"] = [*kind, {"type": "null"}]


def _is_nullable(field: dict[str, Any]) -> bool:
    options = (field, *field.get("oneOf", ()))
    return any("null" in option.get("type", ()) for option in options)


def _shared(response: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """A reference to the refusal, which stands once among the components."""
    if CONTENT_TYPE not in response.get("content", {}):
        return response
    codes = response["content"][CONTENT_TYPE]["examples"]  # in CamelCase
    words = "Or".join(codes)
    kept = components.setdefault("responses", {})
    # The same words may stand with other texts or headers.
    names = (f"{words}{number}" if number > 1 else words for number in count(1))
    name = next(name for name in names if kept.setdefault(name, response) == response)
    return {"$ref": f"#/components/responses/{name}"}


def _wire_path(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda match: "{" + camel_case(match[1]) + "}", path)


def _header(schema_type: str, text: str) -> Mapping[str, Any]:
    return {"description": text, "schema": {"type": schema_type}}


_RETRY_AFTER = {"Retry-After": _header("integer", "Seconds to wait before the next try.")}
_HEADERS = {
    "201": {"Location": _header("string", "The path of what was made.")},
    "401": {"WWW-Authenticate": _header("string", "Always `Bearer`.")},
    "429": _RETRY_AFTER,
    "503": _RETRY_AFTER,
}
