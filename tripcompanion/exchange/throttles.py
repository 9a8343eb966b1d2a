"""The throttles of imports."""

from typing import Any

from rest_framework.request import Request

from tripcompanion.api.throttling import UserThrottle
from trips.models import Member
from trips.throttles import LookupThrottle


class ImportThrottle(UserThrottle):
    """Files that are planned, and plans that are confirmed, per user."""

    scope = "import"


class MappingThrottle(LookupThrottle):
    """Accounts that people of a file are mapped to, unless they share a trip with the caller."""

    def allow_request(self, request: Request, view: Any) -> bool:
        chosen = {*view.choices.get("mapping", {}).values()} - {None, view.caller.pk}
        shared = Member.objects.sharing_a_trip_with(view.caller).filter(user__in=chosen)
        strangers = chosen - {*shared.values_list("user", flat=True)} if chosen else chosen
        return all(super(MappingThrottle, self).allow_request(request, view) for _ in strangers)
