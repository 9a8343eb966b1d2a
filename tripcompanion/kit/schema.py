"""The OpenAPI 3.1 document, made from the same tables that the viewsets work with."""

from collections.abc import Iterator
from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework import exceptions, serializers
from rest_framework.exceptions import APIException

from tripcompanion.kit.etags import PreconditionFailed
from tripcompanion.kit.idempotency import HEADER, KeyInProgress, KeyMismatch
from tripcompanion.kit.parsing import MalformedJSON, PayloadTooLarge
from tripcompanion.kit.paths import MAX_ID
from tripcompanion.kit.problems import (
    CONTENT_TYPE,
    InsufficientScope,
    Unavailable,
    code_of,
    problem,
)
from tripcompanion.kit.serializers import Shape, camel_case

EXAMPLE_REQUEST_ID = "5c1d3f0e9b7a4d60a1c2e3f405162738"


class Problem(Shape):
    """What every error looks like (RFC 9457). `message` repeats `detail`."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    message = serializers.CharField()
    code = serializers.CharField(help_text="A stable snake_case word, to be compared by programs.")
    request_id = serializers.CharField(help_text="The answer's `X-Request-ID`; the log knows it.")
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="Texts by field, nested as `splits.0.amount`.",
    )


class BearerScheme(OpenApiAuthenticationExtension):
    """How `Authorization: Bearer` stands in the document."""

    target_class = "users.tokens.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


class ScopedTokenScheme(OpenApiAuthenticationExtension):
    """How scoped tokens stand in the document: with the scope that each operation needs."""

    target_class = "users.tokens.ScopedTokenAuthentication"
    name = "scopedToken"

    def get_security_requirement(self, auto_schema: AutoSchema) -> Any:
        view: Any = auto_schema.view
        scope = view.scope_for(auto_schema.method)
        return {self.name: [scope]} if scope else None

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "tc_…",
            "description": (
                "A token for scripts, made at `/api/users/me/tokens`. It needs the scope that is "
                "named here, and may do no more than the present role of its owner; an ADMIN's "
                "has no powers of an ADMIN. To write does not include to read. One that is "
                "confined to a trip finds no other. Operations that do not list it answer 403 "
                "`insufficient_scope`, and so do all that need another scope."
            ),
        }


class BrowserSessionScheme(SessionScheme):
    """The log-in of the browsable API."""

    target_class = "users.tokens.BrowserSession"


class ExactNumberSchema(OpenApiSerializerFieldExtension):
    """Numbers that may come as text too, with their limits."""

    target_class = "tripcompanion.kit.serializers.ExactNumber"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        field = self.target
        number = {
            "type": "number",
            "exclusiveMinimum": int(field.minimum),
            "maximum": int(field.maximum),
        }
        return {"oneOf": [number, {"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]{1,40})?$"}]}


class ProblemAwareSchema(AutoSchema):
    """Knows from an `ApiViewSet` what each action reads, answers and refuses."""

    view: Any

    def get_override_parameters(self) -> list[Any]:
        """The request headers that the action heeds, and the query of one that is no page."""
        headers = []
        if self._retries_safely():
            text = "1 to 255 visible characters; the same key within 24 hours acts once."
            headers.append((HEADER, text))
        if self.view.action in self.view.tagged_actions:
            reads = self.method == "GET"
            text = "304 if this is the present tag." if reads else "412 unless the tag is present."
            headers.append(("If-None-Match" if reads else "If-Match", text))
        parameters = [
            OpenApiParameter(name, str, OpenApiParameter.HEADER, description=text)
            for name, text in headers
        ]
        query = self.view.queries.get(self.view.action)
        return [*parameters, query] if query else parameters

    def _retries_safely(self) -> bool:
        return self.method == "POST" and self.view.safe_retries

    def get_operation_id(self) -> str:
        """The words of the path and the action: `trips_members_list`, `users_login`."""
        words = [word.replace("-", "_") for word in self._tokenize_path()]
        return "_".join(words if words[-1] == self.view.action else [*words, self.view.action])

    def get_summary(self) -> str:
        """The first sentence of the action's docstring."""
        return self.get_description().split("\n")[0].rstrip(".")

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        kinds = {
            "id": {"type": "integer", "format": "int64", "minimum": 1, "maximum": MAX_ID},
            "uuid": {"type": "string", "format": "uuid"},
        }
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
        return self.view.bodies.get(self.view.action)

    def _get_request_body(self, direction: str = "request") -> Any:
        if self.method != "DELETE" or not self.get_request_serializer():
            return super()._get_request_body(direction)
        # Spectacular knows no DELETE with a body; apart from the method it is as any other.
        self.method = "POST"
        try:
            return super()._get_request_body(direction)
        finally:
            self.method = "DELETE"

    def get_response_serializers(self) -> Any:
        view = self.view
        shape = view.answers.get(view.action)
        status = view.success_status
        if shape is None:
            success: Any = OpenApiResponse(description="Done; no body.")
        elif hasattr(shape, "json_schema"):
            success = OpenApiResponse(shape.json_schema, "Done.")
        elif view.action in view.lists:
            success = OpenApiResponse(shape(many=True), "A list.")
        else:
            success = OpenApiResponse(shape, "Done.")
        responses: dict[Any, Any] = {status: success}
        if self.method == "GET" and view.action in view.tagged_actions:
            responses[304] = OpenApiResponse(description="Not changed; no body.")
        by_status: dict[int, list[OpenApiExample]] = {}
        for example in self._problem_examples():
            by_status.setdefault(example.value["status"], []).append(example)
        for code, examples in sorted(by_status.items()):
            text = "; ".join(example.name for example in examples)
            responses[code, CONTENT_TYPE] = OpenApiResponse(Problem, text, examples)
        return responses

    def _problem_examples(self) -> Iterator[OpenApiExample]:
        refusals = [*self._usual_refusals(), *self.view.problems.get(self.view.action, ())]
        for kind in dict.fromkeys(refusals):
            yield self._example(kind)
        if self.view.authentication_classes:
            refusal = InsufficientScope(self.view.scope_for(self.method))
            yield _example_of(problem(403, refusal.default_code, str(refusal.detail)))
        if self._reads_input():
            text = "This field is required."
            invalid = problem(400, "invalid", f"title: {text}", {"title": [text]})
            yield _example_of(invalid)

    def _usual_refusals(self) -> Iterator[type[APIException]]:
        view = self.view
        if view.bodies.get(view.action):
            yield from (MalformedJSON, PayloadTooLarge)
        if self.method != "GET":
            yield exceptions.UnsupportedMediaType
        if view.authentication_classes:
            yield exceptions.NotAuthenticated
        if view.may_forbid():
            yield exceptions.PermissionDenied
        if "{" in self.path:
            yield exceptions.NotFound
        if self._retries_safely():
            yield from (KeyMismatch, KeyInProgress)
        if view.action in view.tagged_actions and self.method != "GET":
            yield PreconditionFailed
        yield from (exceptions.NotAcceptable, Unavailable)
        if view.get_throttles():
            yield exceptions.Throttled

    def _reads_input(self) -> bool:
        view = self.view
        is_page = view.action in view.lists and view.pagination_class is not None
        reads_query = is_page or view.action in view.queries
        return bool(view.bodies.get(view.action)) or reads_query or self._retries_safely()

    def _example(self, kind: type[APIException]) -> OpenApiExample:
        code = code_of(kind)
        values = getattr(kind, "example_values", {})
        text = str(kind.default_detail)
        if "{" in text:
            text = text.partition(" ")[0] + " is not possible here."
        extensions = getattr(kind, "extensions", {})
        document = problem(kind.status_code, code, text % values if values else text, **extensions)
        return _example_of(document)


def _example_of(document: dict[str, Any]) -> OpenApiExample:
    value = document | {"requestId": EXAMPLE_REQUEST_ID}
    return OpenApiExample(document["code"], value=value)
