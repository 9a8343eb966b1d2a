"""App configuration."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import PersonalList, Plugin


class CalendarConfig(Plugin):
    name = "plugins.calendar"
    verbose_name = gettext_lazy("Calendars")
    scopes = {
        "calendar:read": gettext_lazy("See whether you have links to calendars of your trips"),
        "calendar:write": gettext_lazy("Make links that show all that your trips have planned"),
    }
    links = {"calendarLink": "/api/users/me/calendar-link"}

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.calendar.serializers import ExportedCalendarLink

        yield PersonalList(
            "calendar_links",
            ExportedCalendarLink,
            "The addresses of calendars that they made.",
            lambda user: user.calendar_links.order_by("id"),
        )

    def forget(self, account: Any, by: Any) -> None:
        account.calendar_links.all().delete()

    def revoked(self, trip_id: int, user_id: int, *, is_deleted: bool) -> Iterable[Any]:
        from plugins.calendar.models import end_with_membership

        end_with_membership(trip_id, user_id)
        return ()
