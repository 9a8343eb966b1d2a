"""Tags of a trip."""

from functools import partial

from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.tags.models import is_tag_of_own, rename_tag, tag_or_404, tags_of
from splits.models.tag import MAX_TAG_CHARS
from tripcompanion.api.operations import operation
from tripcompanion.api.serializers import CamelCaseSerializer, StrictText
from trips.roles import Can, may
from trips.viewsets import InTripViewSet


class TagSerializer(CamelCaseSerializer):
    """A tag of a trip."""

    name = serializers.CharField(help_text="As it is written most often.")
    count = serializers.IntegerField(help_text="How many expenses have it.")


class TagRequest(CamelCaseSerializer):
    """Another name for a tag."""

    name = StrictText(
        max_length=MAX_TAG_CHARS, help_text="The new name; if there is such a tag, they become one."
    )


class TagViewSet(InTripViewSet):
    """Tags of a trip."""

    tag = "expenses"
    scope_prefix = "expenses"
    response_serializer = TagSerializer

    @operation("listTags", needs=Can.READ)
    def list(self, request: Request, trip_id: int) -> Response:
        """The tags of a trip, those of most expenses first, then by name."""
        trip = self.get_permitted_trip(trip_id)
        return self.page(tags_of(trip.expenses.all()))

    @operation("renameTag", needs=Can.CHANGE_EXPENSES, takes=TagRequest)
    def partial_update(self, request: Request, trip_id: int, tag_name: str) -> Response:
        """Rename a tag in all expenses of a trip.

        If the new name exists already, the two tags become one. Whoever may change only their own
        expenses may rename a tag that no other expense has.
        """
        trip = self.get_visible_trip(trip_id)
        tag = tag_or_404(trip, tag_name)
        # Before anybody waits for the lock, under which it is asked again.
        are_own = partial(is_tag_of_own, trip, self.caller, tag_name)
        if not may(trip.caller_role, Can.CHANGE_EXPENSES, are_own):
            raise PermissionDenied
        name = self.body(partial=True, current=lambda: tag).get("name")
        return self.answer(tag if name is None else rename_tag(trip, self.caller, tag_name, name))
