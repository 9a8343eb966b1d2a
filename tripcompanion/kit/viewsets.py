"""The base of every viewset: what an action reads and answers stands in two tables."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from tripcompanion.kit.etags import etag_of, is_known
from tripcompanion.kit.idempotency import answer_once, key_of
from tripcompanion.kit.parsing import require_json_or_nothing
from tripcompanion.kit.prepared import Found
from tripcompanion.kit.rendering import is_json
from tripcompanion.kit.serializers import Shape
from tripcompanion.kit.showing import show, show_all, show_as_json
from tripcompanion.kit.snapshots import in_snapshot
from tripcompanion.kit.throttling import Spent


class ApiViewSet(GenericViewSet):
    """Actions declare `bodies` (what they read) and `answers` (what they give back).

    The same tables make the OpenAPI document, together with `problems`: the refusals that an
    action may answer besides the usual ones.
    """

    #: Without `options`: browsers' preflights are answered by the CORS middleware.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    bodies: ClassVar[Mapping[str, type[Shape]]] = {}
    answers: ClassVar[Mapping[str, type[BaseSerializer]]] = {}
    problems: ClassVar[Mapping[str, Sequence[type[APIException]]]] = {}
    #: Actions that answer 201; without an answer it is 204, else 200.
    creates: ClassVar[frozenset[str]] = frozenset({"create"})
    #: Actions that answer 202: what was asked for is done later, or not at all.
    accepts: ClassVar[frozenset[str]] = frozenset()
    #: Actions that answer many rows: a page, or an array if `pagination_class` is None.
    lists: ClassVar[frozenset[str]] = frozenset({"list"})
    #: Actions on something with an `ETag`: they heed `If-None-Match` or `If-Match`.
    tagged_actions: ClassVar[frozenset[str]] = frozenset()
    #: Query parameters of an action that is no page, as a shape.
    queries: ClassVar[Mapping[str, type[Shape]]] = {}
    #: Actions that read what they answer in one statement, and so need no snapshot.
    single_statement: ClassVar[frozenset[str]] = frozenset()

    @property
    def caller(self) -> Any:
        """The account that is logged in; actions that are open to everybody do not ask."""
        return self.request.user

    @property
    def success_status(self) -> int:
        """The status of the present action when all goes well."""
        if self.action in self.creates:
            return 201
        if self.action in self.accepts:
            return 202
        return 200 if self.action in self.answers else 204

    #: The first half of the scope that a scoped token must have here; with None none is let in.
    area: ClassVar[str | None] = None

    @classmethod
    def scope_for(cls, method: str) -> str | None:
        """The scope that a request with `method` needs: GET and HEAD read, all others write."""
        return cls.area and f"{cls.area}:{'read' if method in {'GET', 'HEAD'} else 'write'}"

    def check_permissions(self, request: Request) -> None:
        """Ask first whether what the caller came with covers the action at all.

        That is before anything is fetched, so the refusal is the same whether or not there is
        such a trip, and says nothing about it.
        """
        require_scope = getattr(request.auth, "require", None)
        if require_scope is not None and self.action is not None:
            require_scope(self.scope_for(request.method or ""))
        super().check_permissions(request)

    def may_forbid(self) -> bool:
        """Whether the present action answers 403 to some who are logged in; for the document."""
        return False

    #: Set by DRF, on routes with a POST.
    post: Any
    #: Whether a POST with an `Idempotency-Key` acts once.
    safe_retries: ClassVar[bool] = True

    def initialize_request(self, request: Any, *args: Any, **kwargs: Any) -> Request:
        #: What the limits of this request have counted.
        self.spent: list[Spent] = []
        return super().initialize_request(request, *args, **kwargs)

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.spent:
            response["RateLimit-Policy"] = ", ".join(spent.policy for spent in self.spent)
            response["RateLimit"] = ", ".join(spent.state for spent in self.spent)
        if isinstance(response, Response):
            response.add_post_render_callback(_let_go)
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method not in {"GET", "HEAD"} and self.action not in self.bodies:
            require_json_or_nothing(request)
        # DRF looks the handler up after this.
        key = key_of(request) if self.safe_retries and request.method == "POST" else None
        if key is not None:
            self.post = partial(answer_once, key, self.post, self.require_replayable)
        if request.method in {"GET", "HEAD"} and self.action not in self.single_statement:
            name = request.method.lower()
            if handler := getattr(self, name, None):
                setattr(self, name, partial(in_snapshot, handler))

    def require_replayable(self, location: str) -> None:
        """Raise unless the caller may still read an answer that was stored under their key.

        `location` is the stored header, empty if there was none. Without a rule they may.
        """

    def get_authenticate_header(self, request: Request) -> str:
        # DRF turns every 401 of a view without authenticators into a 403.
        return "Bearer"

    def get_serializer_class(self) -> type[BaseSerializer]:
        return self.bodies.get(self.action) or self.answers.get(self.action) or Shape

    def body(self, *, partial: bool = False, **context: Any) -> dict[str, Any]:
        """The validated body of this action; raises `ValidationError` (400)."""
        serializer = self.bodies[self.action](
            data=self.request.data,
            partial=partial,
            context={**self.get_serializer_context(), **context},
        )
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def query(self) -> dict[str, Any]:
        """The validated query parameters of this action; raises `ValidationError` (400)."""
        # Of a form DRF takes an empty value for an absent one; here it is a wrong one.
        serializer = self.queries[self.action](data=self.request.query_params.dict())
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def answer(self, instance: Any, *, location: str = "", **context: Any) -> Response:
        """`instance`, or a list of them, in the shape of this action."""
        headers = {"Location": location} if location else None
        data = self._as_declared(instance, context)
        return Response(data, status=self.success_status, headers=headers)

    def _as_declared(self, instance: Any, context: Mapping[str, Any]) -> Any:
        shape = self.answers[self.action]
        context = {**self.get_serializer_context(), **context}
        if isinstance(instance, Found) and is_json(self.request):
            return show_as_json(shape, instance, context)
        if isinstance(instance, list | Found):
            return show_all(shape, instance, context)
        return show(shape, instance, context)

    def tagged(self, request: Request, instance: Any) -> Response:
        """`instance` with its `ETag`; 304 without a body if the caller has this one."""
        response = self.answer(instance)
        response["ETag"] = etag_of(response.data)
        if request.method == "GET" and is_known(request, response["ETag"]):
            response.status_code, response.data = 304, None
        return response

    def done(self) -> Response:
        """Nothing to show: 204, or 202."""
        return Response(status=self.success_status)

    def page(self, queryset: Any, **context: Any) -> Response:
        """The page of `queryset` that the request asks for."""
        rows = self.paginate_queryset(queryset)
        return self.get_paginated_response(self._as_declared(rows, context))


def _let_go(response: Any) -> None:
    """Untie a rendered answer from its request and its view.

    DRF lets the three name each other, so that they, and the thousands of rows that an answer may
    hold, would be there until the garbage collector comes by.
    """
    context = response.renderer_context
    context["request"].parser_context.clear()
    vars(context["view"]).clear()
    context.clear()
