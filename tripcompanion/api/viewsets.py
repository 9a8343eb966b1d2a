"""The base of every viewset, whose actions are declared by `operation`."""

import calendar
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache, partial
from io import SEEK_END
from time import thread_time
from typing import IO, Any, ClassVar, NamedTuple
from weakref import proxy

from django.http import FileResponse
from django.utils.http import http_date
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, AuthenticationFailed, ValidationError
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.throttling import BaseThrottle
from rest_framework.viewsets import GenericViewSet

from tripcompanion.api.etags import etag_of, is_known
from tripcompanion.api.idempotency import HEADER as KEY_HEADER
from tripcompanion.api.idempotency import answer_once, key_of
from tripcompanion.api.operations import collect
from tripcompanion.api.parsing import MAX_OPEN_BYTES, PayloadTooLarge, require_json, require_plain
from tripcompanion.api.rendering import ExactJSONRenderer, FileRenderer, is_json, render_rows
from tripcompanion.api.serializers import CamelCaseSerializer, names_of
from tripcompanion.api.throttling import BYTES_OF_A_REQUEST, Limits
from tripcompanion.api.unknown_names import (
    LENIENT,
    prefers_leniency,
    refused_names,
    refused_parameters,
)
from tripcompanion.compiled import CompiledQuery, serialize
from tripcompanion.database.snapshots import in_snapshot


class Deprecation(NamedTuple):
    """That an action will go: the days from which it is deprecated, and on which it ends."""

    since: date
    until: date

    def headers(self) -> dict[str, str]:
        """Those of RFC 9745 and RFC 8594; a day begins at midnight UTC."""
        since, until = (calendar.timegm(day.timetuple()) for day in self)
        return {"Deprecation": f"@{since}", "Sunset": http_date(until)}


class ApiViewSet(GenericViewSet):
    """Its actions are declared by `operation`, which fills the tables below.

    The OpenAPI document is generated from them. `problems` are errors besides the usual ones.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        collect(cls)

    #: The tag of the operations in the OpenAPI document; `settings.py` has the list.
    tag: ClassVar[str]
    #: The `operationId` of each action: the name of a method in generated clients.
    operation_ids: ClassVar[Mapping[str, str]] = {}
    #: Without `options`: the CORS middleware answers preflight requests.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    request_serializers: ClassVar[Mapping[str, type[CamelCaseSerializer]]] = {}
    #: Actions whose body is a form with a file, or a JSON file itself.
    file_actions: ClassVar[frozenset[str]] = frozenset()
    #: The serializer of what all actions answer but `destroy`, and of those that answer otherwise;
    #: None for an action without a body.
    response_serializer: ClassVar[type[BaseSerializer] | None] = None
    response_serializers: ClassVar[Mapping[str, type[BaseSerializer] | None]] = {}
    problems: ClassVar[Mapping[str, Sequence[type[APIException]]]] = {}
    #: Actions that answer 201. Others answer 200, or 204 without a response serializer.
    creates: ClassVar[frozenset[str]] = frozenset({"create"})
    #: Actions that answer 202: the work is done later, or not at all.
    accepts: ClassVar[frozenset[str]] = frozenset()
    #: Actions that return many rows: a page, or an array if `pagination_class` is None.
    lists: ClassVar[frozenset[str]] = frozenset({"list"})
    #: Actions on a resource with an `ETag`, which support `If-None-Match` or `If-Match`.
    etag_actions: ClassVar[frozenset[str]] = frozenset()
    #: Fields of the answer that `If-Match` ignores; bodies may have them with any value.
    apart: ClassVar[frozenset[str]] = frozenset()
    #: Actions that answer with a file: its media types besides JSON, by what `?format=` calls them.
    files: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    #: What `?format=` calls the only type that this route answers with: its path ends with it.
    only_format: ClassVar[str | None] = None
    #: Actions that will go; their responses say so, and the document.
    deprecated: ClassVar[Mapping[str, Deprecation]] = {}
    #: The serializer of the query parameters of an action without pagination.
    query_serializers: ClassVar[Mapping[str, type[CamelCaseSerializer]]] = {}
    #: The filters of a list.
    filterset_class: Any = None
    #: The throttles of actions that have others than the general one.
    throttles: ClassVar[Mapping[str, Sequence[type[BaseThrottle]]]] = {}
    #: Actions whose response is read in one statement, so that they need no snapshot.
    single_statement: ClassVar[frozenset[str]] = frozenset()
    #: Whether bodies may be other than JSON; `parser_classes` says what they are.
    reads_forms: ClassVar[bool] = False
    #: Actions that read none of the users' data, so that they never need a snapshot.
    without_snapshot: ClassVar[frozenset[str]] = frozenset()

    #: The authenticated user; public actions do not use it.
    caller: Any

    @property
    def success_status(self) -> int:
        """The status of the current action if it succeeds."""
        if self.action in self.creates:
            return 201
        if self.action in self.accepts:
            return 202
        return 200 if self.response_shape(self.action) or self.action in self.files else 204

    def response_shape(self, action: str) -> type[BaseSerializer] | None:
        """The serializer of the response of an action; None without a body."""
        usual = None if action == "destroy" else self.response_serializer
        return self.response_serializers.get(action, usual)

    def usual_problems(self, method: str) -> Iterable[type[APIException]]:
        """What every action of this kind may be refused for, besides its `problems`."""
        return ()

    def who_may(self) -> str:
        """A sentence on who may do the current action; for the document."""
        return ""

    #: Set by DRF, on routes with a POST.
    post: Any
    #: Whether POST supports `Idempotency-Key`.
    safe_retries: ClassVar[bool] = True
    #: Actions whose answer has a secret: it is not stored, and a repeat is 409 `already_made`.
    shows_secret: ClassVar[frozenset[str]] = frozenset()
    #: Actions that only read, although they are a POST: a key is ignored, nothing is stored.
    only_reads: ClassVar[frozenset[str]] = frozenset()

    @property
    def repeats_safely(self) -> bool:
        """Whether the current action, as a POST, supports `Idempotency-Key`."""
        return (self.safe_retries and self.action not in self.only_reads) or (
            self.action in self.shows_secret
        )

    #: Whether the action serves everybody and reads the caller only if the token is valid.
    is_token_optional: ClassVar[bool] = False

    def perform_authentication(self, request: Request) -> None:
        try:
            super().perform_authentication(request)
        except AuthenticationFailed:
            if not self.is_token_optional:
                raise
        self.caller = request.user

    #: What to do once the request has succeeded.
    after_success: Callable[[], None] | None = None
    #: The limits that this request was counted for.
    limits = Limits()

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.after_success is not None and response.status_code < 400:
            self.after_success()
        if self.limits:
            # Outside of the snapshot of an export, which only reads.
            self.limits.charge_time(thread_time() - self._started)
            for name, value in self.limits.headers.items():
                response[name] = value
        if deprecation := self.deprecated.get(self.action):
            for name, value in deprecation.headers().items():
                response[name] = value
        if prefers_leniency(self.request):
            response["Preference-Applied"] = LENIENT
        if isinstance(response, Response):
            response.add_post_render_callback(partial(_after_rendering, self.limits))
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.limits, self._started = Limits(), thread_time()
        is_open = not self.authentication_classes
        if is_open and int(request.META.get("CONTENT_LENGTH") or 0) > MAX_OPEN_BYTES:
            raise PayloadTooLarge(MAX_OPEN_BYTES)
        if "Content-Encoding" in request.headers:
            require_plain(request)
        super().initial(request, *args, **kwargs)
        self._charge_body()
        if self.action and request.query_params:
            self.require_known_parameters()
        has_no_body = self.action not in self.request_serializers and not self.reads_forms
        sends_one = request.META.get("CONTENT_LENGTH") not in {None, "", "0"}
        # Whoever sends one to such an action means another one, or it is a web form. A method
        # without an action is refused by DRF after this.
        if self.action and request.method not in SAFE_METHODS and has_no_body and sends_one:
            require_json(request.content_type or "")
            # Not `request.body`: the CSRF check of a browser's session has read the stream.
            if not self.is_lenient and (errors := refused_names(self.sent_body(), ())):
                raise ValidationError(errors)
        # DRF looks up the handler after this; without an action there is none.
        has_key = request.method == "POST" and self.action and KEY_HEADER in request.headers
        if has_key and self.repeats_safely:
            key, is_secret = key_of(request), self.action in self.shows_secret
            self.post = partial(answer_once, key, self.post, self.require_replayable, is_secret)
        name = str(request.method).lower()
        if name in {"get", "head"} and hasattr(self, name):
            setattr(self, name, self._consistent(getattr(self, name)))

    def _consistent(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """A handler that only reads, in one snapshot."""
        if self.action in self.without_snapshot:
            return handler
        if self.action in self.single_statement and CompiledQuery.reads_at_once:
            return handler
        return partial(in_snapshot, handler)

    def get_throttles(self) -> list[BaseThrottle]:
        return [kind() for kind in self.throttles.get(self.action, self.throttle_classes)]

    def check_throttles(self, request: Request) -> None:
        """Stop at the first exceeded limit, the cheapest first. DRF would go on counting."""
        for throttle in self.get_throttles():
            if not throttle.allow_request(request, self):
                self.throttled(request, throttle.wait() or 0)

    def _charge_body(self) -> None:
        """Count a body with many objects as many requests; raises `Throttled`."""
        # A method without an action is refused by DRF after this.
        has_body = self.action and (
            self.reads_forms
            or (self.action in self.request_serializers and self.action not in self.file_actions)
        )
        if not has_body or self.request.method in SAFE_METHODS or not self.limits.has_general:
            return
        if exceeded := self.limits.charge_body(self.sent_body()):
            self.throttled(self.request, exceeded.seconds_left)

    def sent_body(self) -> Any:
        """The body as it is counted: its lists have the objects."""
        return self.request.data

    def require_replayable(self, location: str) -> None:
        """Raise unless the caller may still read a response that was stored under their key.

        `location` is the stored header, or empty. By default they may.
        """

    def get_authenticate_header(self, request: Request) -> str:
        # DRF turns every 401 of a view without authenticators into a 403.
        return "Bearer"

    def get_serializer_class(self) -> type[BaseSerializer]:
        return self.request_serializers.get(self.action, CamelCaseSerializer)

    def body(
        self,
        *,
        partial: bool = False,
        sent: Any = None,
        shape: type[CamelCaseSerializer] | None = None,
        current: Callable[[], Any] | None = None,
        **context: Any,
    ) -> dict[str, Any]:
        """The validated body of this action; raises `ValidationError` (400).

        `sent` is one of its rows, of this `shape`. `current` returns the object that is
        changed: what responses have of it may be sent back.
        """
        made_by: Any = self.request_serializers[self.action] if sent is None else shape
        action = self.action if sent is None else "retrieve"
        serializer = made_by(
            data=self.request.data if sent is None else sent,
            partial=partial,
            context={
                **self.get_serializer_context(),
                **self.names_context(current, action),
                **context,
            },
        )
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def names_context(
        self, current: Callable[[], Any] | None = None, action: str | None = None
    ) -> dict[str, Any]:
        """What serializers of bodies have to know to refuse names.

        `current` returns an object as `action` answers it; its names may be sent back.
        """
        if current is None:
            return {"is_lenient": self.is_lenient}
        shape, own = self.response_shape(action or self.action), self.get_serializer_context()

        def answered() -> Any:
            shown = ExactJSONRenderer().render(serialize(shape, current(), own))
            stored, sent = json.loads(shown, parse_float=Decimal), self.sent_body()
            fit = {name for name in self.apart if type(sent.get(name)) is type(stored[name])}
            return stored | {name: sent[name] for name in fit}

        return {"is_lenient": self.is_lenient, "answered": cache(answered)}

    #: Whether unknown names in bodies and queries are always ignored.
    always_lenient: ClassVar[bool] = False

    @property
    def is_lenient(self) -> bool:
        """Whether unknown names in the body and in the query of this request are ignored."""
        return self.always_lenient or prefers_leniency(self.request)

    def parameter_names(self) -> set[str]:
        """The query parameters of this action."""
        known: set[str] = set()
        if self.request.method in {"GET", "HEAD"} and self.only_format is None:
            known.add("format")
        if self.action in self.lists and self.pagination_class is not None:
            known |= {"page", "pageSize"}
        if serializer := self.query_serializers.get(self.action):
            known |= {*names_of(serializer)}
        if self.action == "list" and self.filterset_class is not None:
            known |= self.filterset_class.base_filters.keys()
        return known

    def require_known_parameters(self) -> None:
        """Raise `ValidationError` for query parameters that this action does not have.

        One that is repeated is refused, too, unless it takes several values: only its last would
        count. Those that begin with `_` are ignored: scripts add them to avoid caches.
        """
        body = self.request_serializers.get(self.action)
        # The forms of the browsable API send the query of the page that they are on.
        is_form = self.request.method not in {"GET", "HEAD"} and not is_json(self.request)
        if self.is_lenient or is_form or (body is not None and body.is_flexible):
            return
        params = self.request.query_params.lists()
        sent = {name: values for name, values in params if not name.startswith("_")}
        filters = self.filterset_class.base_filters if self.filterset_class is not None else {}
        if errors := refused_parameters(sent, self.parameter_names(), filters):
            raise ValidationError(errors)

    def require_alone(self, name: str) -> None:
        """Raise `ValidationError` for what is sent beside this parameter, except of pages."""
        others = self.parameter_names() - {name, "format", "page", "pageSize"}
        text = _("This cannot be combined with %(name)s.") % {"name": name}
        if errors := {one: [text] for one in others if self.request.query_params.get(one)}:
            raise ValidationError(errors)

    def query(self) -> dict[str, Any]:
        """The validated query parameters of this action; raises `ValidationError` (400)."""
        serializer = self.query_serializers[self.action]
        if not self.request.query_params:
            return dict(_without_parameters(serializer))
        # DRF treats an empty form value as absent; here it is invalid.
        # Other names are those of pages and filters, or are ignored.
        return _validated(serializer, self.request.query_params.dict(), is_lenient=True)

    def answer(self, instance: Any, *, location: str = "", **context: Any) -> Response:
        """`instance`, or a list of them, with this action's response serializer."""
        headers = {"Location": location} if location else None
        data = self._as_declared(instance, **context)
        status = 200 if getattr(instance, "was_created_before", False) else self.success_status
        return Response(data, status=status, headers=headers)

    def _as_declared(self, instance: Any, **context: Any) -> Any:
        shape = self.response_shape(self.action)
        context = {**self.get_serializer_context(), **context}
        many = self.action in self.lists
        if many and not isinstance(instance, list) and is_json(self.request):
            return render_rows(shape, instance, context)
        return serialize(shape, instance, context, many=many)

    def with_etag(self, request: Request, instance: Any) -> Response:
        """`instance` with its `ETag`; 304 without a body if the caller's copy is current."""
        response = self.answer(instance)
        if is_json(request) and not self.apart:
            # Both the tag and the response read it.
            response.data = ExactJSONRenderer().render(response.data)
        response["ETag"] = etag_of(response.data, self.apart)
        if request.method in SAFE_METHODS and is_known(request, response["ETag"]):
            response.status_code, response.data = 304, None
        return response

    def no_content(self) -> Response:
        """A response without a body: 204, or 202."""
        return Response(status=self.success_status)

    def get_format_suffix(self, **kwargs: Any) -> str | None:
        return self.only_format if self.action in self.files else None

    def get_renderers(self) -> list[BaseRenderer]:
        kinds = self.files.get(self.action or "", {})
        return [*super().get_renderers(), *(FileRenderer(*kind) for kind in kinds.items())]

    def file(self, content: IO[bytes], name: str, kind: FileRenderer | None = None) -> FileResponse:
        """A finished file as a download, by default in the format that the caller asked for.

        It counts as several requests if it is large, as every response does.
        """
        chosen: Any = self.request.accepted_renderer
        of: Any = kind or (chosen if isinstance(chosen, FileRenderer) else ExactJSONRenderer)
        name = f"{name}.{of.format}"
        size = content.seek(0, SEEK_END)
        content.seek(0)
        self.limits.charge(size // BYTES_OF_A_REQUEST)
        return FileResponse(content, as_attachment=True, filename=name, content_type=of.media_type)

    def page(self, queryset: Any) -> Response:
        """The requested page of `queryset`."""
        return self.paginated(self.paginate_queryset(queryset))

    def paginated(self, rows: Any) -> Response:
        return self.get_paginated_response(self._as_declared(rows))


def _validated(serializer_class: type[BaseSerializer], data: Any, **context: Any) -> dict[str, Any]:
    serializer = serializer_class(data=data, context=context)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


class OpenViewSet(ApiViewSet):
    """Open to everybody: a stale token in the header locks nobody out."""

    authentication_classes: Any = ()
    permission_classes: Any = (AllowAny,)
    # An `Idempotency-Key` belongs to an account.
    safe_retries = False


@cache
def _without_parameters(serializer_class: type[BaseSerializer]) -> dict[str, Any]:
    """The validated query of a request without parameters: the defaults."""
    return _validated(serializer_class, {})


def _after_rendering(limits: Limits, response: Any) -> None:
    """Count a large response as several requests in the general limit, and free it soon.

    In DRF a response refers to itself and to its view, so it would stay until the garbage collector
    runs: a worker that served pages of 100 expenses grew to 146 MiB instead of 83. These two
    references become weak. Whoever still holds the response or the view sees them unchanged.
    """
    limits.charge(len(response.content) // BYTES_OF_A_REQUEST)
    context = response.renderer_context
    context["response"] = context["view"].response = proxy(response)
