"""Generates the OpenAPI 3.1 document from the declarations of the viewsets."""

from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework import exceptions, serializers
from rest_framework.exceptions import APIException

from tripcompanion.api.etags import PreconditionFailed
from tripcompanion.api.idempotency import HEADER, KEY_PATTERN, KeyInProgress, KeyMismatch
from tripcompanion.api.parsing import MalformedJSON, PayloadTooLarge
from tripcompanion.api.problems import (
    CONTENT_TYPE,
    OutcomeUnknown,
    Unavailable,
    code_of,
    meaning_of,
    problem,
)
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.api.serializers import NUMBER_SCHEMA, CamelCaseSerializer, FixedText, camel_case

EXAMPLE_REQUEST_ID = "5c1d3f0e9b7a4d60a1c2e3f405162738"


class Problem(CamelCaseSerializer):
    """The form of every error (RFC 9457)."""

    type = FixedText("about:blank", help_text="Programs use `code` instead.")
    title = serializers.CharField(help_text="The meaning of the status.")
    status = serializers.IntegerField(help_text="The HTTP status.")
    detail = serializers.CharField(
        help_text="What went wrong, for people, in the language of `Accept-Language`."
    )
    message = serializers.CharField(help_text="The same as `detail`.")
    code = serializers.CharField(
        help_text="What went wrong, for programs: a stable word in snake_case."
    )
    request_id = serializers.CharField(
        help_text="The `X-Request-ID` of the response, which is also in the log."
    )
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text=(
            "For a refused body or query: the messages by field, with dotted paths such as "
            "`payers.0.amount`."
        ),
    )


class FilterParameters(DjangoFilterExtension):
    """Filters, which an HTML form also sends when they are empty; they then count as absent."""

    priority = 1

    def get_schema_operation_parameters(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        parameters = super().get_schema_operation_parameters(*args, **kwargs)
        return [parameter | {"allowEmptyValue": True} for parameter in parameters]


class ProblemAwareSchema(AutoSchema):
    """Reads the requests, responses and errors of each action from its `ApiViewSet`."""

    view: Any

    def get_override_parameters(self) -> list[Any]:
        """The action's request headers, and its query parameters unless it is a `list`."""
        headers = []
        if self._retries_safely():
            text = (
                "1 to 255 visible characters that the client chooses, such as a UUID. Within 24 "
                "hours the request acts once; repeated with the same body, it gets the same answer."
            )
            headers.append((HEADER, text))
        if self.view.action in self.view.etag_actions:
            reads = self.method == "GET"
            text = (
                "The `ETag` of the copy that the client has; if it is current, the answer is 304."
                if reads
                else "The `ETag` that was read; if it has changed since, the answer is 412."
            )
            headers.append(("If-None-Match" if reads else "If-Match", text))
        parameters = [
            OpenApiParameter(
                name,
                {"type": "string", "pattern": KEY_PATTERN} if name == HEADER else str,
                OpenApiParameter.HEADER,
                description=text,
            )
            for name, text in headers
        ]
        if "format" in self.view.parameter_names():
            parameters.append(self._format_parameter())
        # drf-spectacular takes only actions with the name `list` for lists.
        if self.view.action in self.view.lists - {"list"} and self.view.pagination_class:
            parameters += [
                OpenApiParameter(field["name"], field["schema"], description=field["description"])
                for field in self.view.paginator.get_schema_operation_parameters(self.view)
            ]
        query = self.view.query_serializers.get(self.view.action)
        return [*parameters, query] if query else parameters

    def _files(self) -> Mapping[str, str]:
        """The media types of files beside the response, by their formats.

        Beside a file, generated clients could not rely on an array; so none is documented there.
        """
        view = self.view
        shape = view.response_shape(view.action)
        is_array = shape is not None and view.action in view.lists and not view.pagination_class
        return {} if is_array else view.files.get(view.action, {})

    def _format_parameter(self) -> OpenApiParameter:
        left_out = {"api", *self.view.files.get(self.view.action, {})} - self._files().keys()
        kinds = [kind.format for kind in self.view.get_renderers() if kind.format not in left_out]
        values = {"pattern": f"^({'|'.join(kinds)})$"} if kinds[1:] else {"const": kinds[0]}
        text = "The format of the response, instead of `Accept`."
        return OpenApiParameter("format", {"type": "string", **values}, description=text)

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        """The schema of an object; a body has no other names, unless it is flexible."""
        schema = super()._map_basic_serializer(serializer, direction)
        if direction == "request" and isinstance(serializer, CamelCaseSerializer):
            if not serializer.is_flexible:
                schema["additionalProperties"] = False
            if serializer.exactly_one:
                schema |= _one_of(*serializer.exactly_one)
            # For `schema_hooks`: a PATCH may omit these, but not send null.
            needed = [name for name, field in serializer.fields.items() if field.required]
            schema["x-needed"] = needed
            if serializer.partial and "id" in needed:
                schema["required"] = ["id"]
        return schema

    def _map_serializer_field(self, field: Any, direction: Any, *args: Any) -> Any:
        """The schema of a field; drf-spectacular does not say that a list may not be empty."""
        schema = super()._map_serializer_field(field, direction, *args)
        if direction == "request" and getattr(field, "allow_empty", True) is False:
            if "array" in schema.get("type", ()):
                schema.setdefault("minItems", 1)
            elif "object" in schema.get("type", ()):
                schema.setdefault("minProperties", 1)
        return schema

    def _retries_safely(self) -> bool:
        return self.method == "POST" and self.view.repeats_safely

    def get_operation_id(self) -> str:
        """The name of a method in generated clients, from the declaration of the view."""
        return self.view.operation_ids[self.view.action]

    def is_deprecated(self) -> bool:
        return self.view.action in self.view.deprecated

    def get_tags(self) -> list[str]:
        return [self.view.tag]

    def get_auth(self) -> list[dict[str, Any]]:
        """The security schemes; none at all if the operation ignores tokens.

        The one with the scope of the operation comes first.
        """
        schemes = super().get_auth() if self.view.authentication_classes else []
        return sorted(schemes, key=lambda scheme: not any(scheme.values()))

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        """The class name; drf-spectacular appends "Request" to the names of bodies."""
        name = super().get_serializer_name(serializer, direction)
        return name.removesuffix("Request") if direction == "request" else name

    def get_description(self) -> str:  # type: ignore[override]
        """The docstring of the action, who may do it, and whether there is another path to it."""
        view, action = self.view, self.view.action
        usual, own = type(view).operation_ids.get(action), view.operation_ids.get(action)
        same = f"The same as `{usual}`." if own != usual else ""
        return "\n\n".join(filter(None, (super().get_description(), view.who_may(), same)))

    def map_renderers(self, attribute: str) -> list[Any]:
        """Without the types of files, whose responses are named one by one."""
        return [
            getattr(renderer, attribute)
            for renderer in self.view.get_renderers()
            if isinstance(renderer, ExactJSONRenderer)
        ]

    def get_summary(self) -> str:
        """The first line of the action's docstring."""
        return self.get_description().split("\n")[0].rstrip(".")

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        kinds = {"id": NUMBER_SCHEMA, "uuid": {"type": "string", "format": "uuid"}}
        return [
            {
                "in": "path",
                "name": camel_case(name),
                "required": True,
                "schema": kinds.get(name.rpartition("_")[2], {"type": "string"}),
            }
            for name in variables
        ]

    def get_request_serializer(self) -> Any:
        """The serializer of the body; by media type if it is a file."""
        body = self.view.request_serializers.get(self.view.action)
        if self.view.action not in self.view.file_actions:
            return body
        content = {
            "type": ["object", "array"],
            "items": {},
            "description": "The content of a JSON file.",
        }
        return {"multipart/form-data": body, "application/json": content}

    def _get_request_body(self, direction: str = "request") -> Any:
        if self.method != "DELETE" or not self.get_request_serializer():
            return super()._get_request_body(direction)
        # drf-spectacular does not support a DELETE with a body.
        self.method = "POST"
        try:
            return super()._get_request_body(direction)
        finally:
            self.method = "DELETE"

    def get_response_serializers(self) -> Any:
        view = self.view
        shape = view.response_shape(view.action)
        status = view.success_status
        if shape is None:
            success: Any = OpenApiResponse(description="Done; no body.")
        elif hasattr(shape, "json_schema"):
            success = OpenApiResponse(shape.json_schema, _first_paragraph(shape))
        elif view.action in view.lists:
            text = "One page." if view.pagination_class else "All rows, as an array."
            success = OpenApiResponse(shape(many=True), text)
        else:
            success = OpenApiResponse(shape, _first_paragraph(shape))
        is_only_file = shape is None and view.action in view.files
        responses: dict[Any, Any] = {} if is_only_file else {status: success}
        body = view.request_serializers.get(view.action)
        if status == 201 and body and "clientId" in body().fields:
            text = "It was created before, by the same body with this `clientId`."
            responses[200] = OpenApiResponse(shape, text)
        for kind in self._files().values():
            responses[status, kind] = OpenApiResponse(OpenApiTypes.BINARY, "A file.")
        if self.method == "GET" and view.action in view.etag_actions:
            responses[304] = OpenApiResponse(description="Not changed; no body.")
        by_status: dict[int, list[OpenApiExample]] = {}
        for example in self._problem_examples():
            by_status.setdefault(example.value["status"], []).append(example)
        for code, examples in sorted(by_status.items()):
            lines = [f"`{example.value['code']}`: {example.description}" for example in examples]
            text = lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
            responses[code, CONTENT_TYPE] = OpenApiResponse(Problem, text, examples)
        return responses

    def _problem_examples(self) -> Iterator[OpenApiExample]:
        refusals = [*self._usual_refusals(), *self.view.problems.get(self.view.action, ())]
        for kind in dict.fromkeys(refusals):
            yield self._example(kind)
        for permission in self.view.get_permissions():
            refusals_of = getattr(permission, "refusals", lambda _view, _method: ())
            for refusal in refusals_of(self.view, self.method):
                kind = type(refusal)
                document = problem(refusal.status_code, code_of(kind), str(refusal.detail))
                yield _example_of(kind, document, getattr(refusal, "example_name", ""))
        name, field, text = self._usual_mistake()
        invalid = problem(400, "invalid", f"{field}: {text}", {field: [text]})
        yield _example_of(exceptions.ValidationError, invalid, name)

    def _usual_mistake(self) -> tuple[str, str, str]:
        """The name of an example, a field or parameter, and what may be wrong with it."""
        view = self.view
        if body := view.request_serializers.get(view.action):
            required = [name for name, field in body().fields.items() if field.required]
            return "invalid", next(iter(required), "nonFieldErrors"), "This field is required."
        if query := view.query_serializers.get(view.action):
            return "invalid_query", next(iter(query().fields)), '"?" is not a valid choice.'
        if view.action in view.lists and view.pagination_class is not None:
            return "invalid_page", "page", "Must be a whole number of at least 1."
        if self._retries_safely():
            return "invalid_key", HEADER, "Must be 1 to 255 visible ASCII characters."
        return "unknown_name", "limit", "There is no such field."

    def _usual_refusals(self) -> Iterator[type[APIException]]:
        view = self.view
        if view.request_serializers.get(view.action):
            yield PayloadTooLarge
        if self.method != "GET":
            yield from (MalformedJSON, exceptions.UnsupportedMediaType)
        if view.authentication_classes and not view.is_token_optional:
            yield exceptions.NotAuthenticated
        if "{" in self.path:
            yield exceptions.NotFound
        yield from view.usual_problems(self.method)
        if self._retries_safely():
            yield from (KeyMismatch, KeyInProgress)
        if view.action in view.etag_actions and self.method != "GET":
            yield PreconditionFailed
        yield from (exceptions.NotAcceptable, Unavailable)
        if self.method != "GET":
            yield OutcomeUnknown
        if view.get_throttles():
            yield exceptions.Throttled

    def _example(self, kind: type[APIException]) -> OpenApiExample:
        code = code_of(kind)
        values = getattr(kind, "example_values", {})
        text = str(kind.default_detail)
        if "{" in text:
            text = text.partition(" ")[0] + " is not possible here."
        text = text % values if values else text
        field, extensions = getattr(kind, "field", ""), getattr(kind, "extensions", {})
        errors = {field: [text]} if field else None
        document = problem(kind.status_code, code, text, errors, **extensions)
        return _example_of(kind, document)


def _one_of(first: str, second: str) -> dict[str, Any]:
    """Conditions on an object that has exactly one of two properties, or null in the other one.

    Generators of clients would make two types of `oneOf`.
    """

    def has(name: str) -> dict[str, Any]:
        return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}

    return {
        "if": has(first),
        "then": {"properties": {second: {"type": "null"}}},
        "else": has(second),
    }


def _first_paragraph(shape: type) -> str:
    """The part of a docstring that is for users of the API."""
    return " ".join((shape.__doc__ or "").split("\n\n")[0].split())


def _example_of(
    kind: type[APIException], document: dict[str, Any], name: str = ""
) -> OpenApiExample:
    value = document | {"requestId": EXAMPLE_REQUEST_ID}
    return OpenApiExample(name or document["code"], value=value, description=meaning_of(kind))
