"""The view that merges a guest with another member."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from splits.models.merge import Merge, NamesBoth, NotAGuest
from splits.serializers.merge import MergeRequest, MergeSerializer
from trips.models import Member
from trips.roles import Can
from trips.viewsets import InTripViewSet
from users.scopes import Scope


class MergeViewSet(InTripViewSet):
    """Merges a guest with another member."""

    tag = "members"
    operation_ids: ClassVar = {"merge": "mergeGuest"}
    scope_prefix = "trips"
    # It shows balances and gives entries to another person.
    more_scopes = (Scope.EXPENSES_READ, Scope.EXPENSES_WRITE)
    needs: ClassVar = {"merge": Can.MANAGE_MEMBERS}
    request_serializers: ClassVar = {"merge": MergeRequest}
    response_serializers: ClassVar = {"merge": MergeSerializer}
    problems: ClassVar = {"merge": [NotAGuest, NamesBoth]}

    def merge(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Give all entries of a guest to another member, and delete the guest.

        No amount changes, only the name. It is refused (409 `names_both`) if an expense or a
        settlement names both people, even a deleted one: `expenses` and `settlements` are the ids.
        """
        guest: Any = self.get_permitted_object(
            Member.objects.with_details, trip_id=trip_id, user_id=user_id
        )
        return self.answer(Merge.order(guest, self.caller, **self.body()))
