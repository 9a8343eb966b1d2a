"""The base of the views: bodies, errors, and what a repeated request answers."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar

from django.db.models import Q, QuerySet
from django.urls import resolve
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from plugins.invitations.throttles import InvitationMailThrottle
from plugins.splitwise.errors import answer_error
from plugins.splitwise.parsing import Fields, FormBody, JsonBody, MultipartBody, once
from plugins.splitwise.people import Circle
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.api.throttling import WindowThrottle, count_against_limit
from trips.models import Member, Trip
from trips.viewsets import PeopleViewSet
from users.throttles import account_key
from users.tokens import BearerAuthentication

PREFIX = "/api/v3.0"


class SplitwiseViewSet(PeopleViewSet):
    """Base of the views. Success is always 200; see `errors.py` for anything else.

    They find rows by `visible_to`, and the commands of the models check the roles, under the lock.
    """

    # Its own document is openapi.yaml.
    schema = None
    authentication_classes: Any = (BearerAuthentication,)
    parser_classes = (JsonBody, FormBody, MultipartBody)
    renderer_classes = (ExactJSONRenderer,)
    reads_forms = True
    # Programs for Splitwise's API send what it ignores.
    always_lenient = True
    scope_prefix = "expenses"
    #: What a refused write answers besides `errors`.
    stubs: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def get_exception_handler(self) -> Callable[..., Response]:
        return partial(answer_error, stub=self.stubs.get(self.action or ""))

    @cached_property
    def fields(self) -> Fields:
        """The fields of the body."""
        return Fields(dict(self.request.data))

    @cached_property
    def parameters(self) -> Fields:
        """The parameters of the query, each once."""
        query = self.request.query_params
        return Fields(once([(name, text) for name, texts in query.lists() for text in texts]))

    @property
    def trips(self) -> QuerySet[Trip]:
        """The trips of the caller, in the order of the groups."""
        return Trip.objects.of_member(self.caller).order_by("-start_date", "-id")

    def friends(self, *user_ids: int) -> Circle:
        """What the caller shares with these people."""
        shared = Member.objects.present().filter(user__in=user_ids)
        trips = self.trips.filter(pk__in=shared.values("trip"))
        return Circle(self.caller, trips, Q(user__in=user_ids))

    def sent_body(self) -> Any:
        return [row.values for row in self.fields.rows()] or self.fields.values

    def validated(
        self, shape: type[BaseSerializer], body: Mapping[str, Any], **context: Any
    ) -> dict[str, Any]:
        """What our own API reads from such a body; raises `ValidationError`."""
        partly = context.pop("partial", False)
        context = {**self.get_serializer_context(), **self.names_context(), **context}
        serializer = shape(data=body, partial=partly, context=context)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def count(self, throttle: WindowThrottle) -> None:
        """Count something besides the request; raises `Throttled`."""
        if not throttle.allow_request(self.request, self):
            self.throttled(self.request, throttle.wait() or 0)

    def count_mail(self, email: str) -> None:
        """Count a mail to this address, as all invitations are; raises `Throttled`."""
        address = f"invited {account_key(email)}"
        state = count_against_limit(InvitationMailThrottle.scope, address, request=self.request)
        if state is not None and state.is_over:
            self.throttled(self.request, state.seconds_left)

    def done(self, answer: Mapping[str, Any], *trip_ids: int) -> Response:
        """The answer to a write in these trips: a repeat gets it again only in the first."""
        self.note_answer_in(*trip_ids)
        return Response(answer, headers={"Location": f"{PREFIX}/get_group/{trip_ids[0]}"})

    def require_replayable(self, location: str) -> None:
        if location:
            self.get_visible_trip(resolve(location).kwargs["group_id"])
