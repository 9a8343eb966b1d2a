"""The field of accounts that says which mails they get."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from plugins.notices.kinds import NOTICES
from tripcompanion.api.serializers import CamelCaseSerializer, StrictChoice, StrictList
from tripcompanion.plugin import AccountField
from users.models import NoticeMode, current_language

EVENTS = [(event, event) for event in NOTICES]
_MODES = (
    "`each`: at once, or five minutes after the last such mail; `daily`: one mail a day at 16:00 "
    "UTC; `off`: never."
)


class _Words(serializers.ListField):
    """The words of a column."""

    def to_representation(self, data: Any) -> list[str]:
        return data.split()


class NoticesSerializer(CamelCaseSerializer):
    """What the account is notified of by mail."""

    email = serializers.ChoiceField(
        choices=NoticeMode.choices, source="notice_mode", help_text=_MODES
    )
    events = _Words(
        child=serializers.ChoiceField(choices=EVENTS),
        source="notice_events",
        help_text="The events that are reported.",
    )


class NoticesRequest(CamelCaseSerializer):
    """When to send mails about the trips of the account, and about what."""

    is_flexible = True

    email = StrictChoice(choices=NoticeMode.choices, help_text=_MODES)
    events = StrictList(
        child=StrictChoice(choices=EVENTS),
        required=False,
        allow_empty=False,
        max_length=len(EVENTS),
        help_text="The events to report. Omitted: as before; at first all but those of plugins.",
    )


def _stored(chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    columns = {"notice_mode": chosen["email"], "notice_language": current_language()}
    if events := chosen.get("events"):
        columns["notice_events"] = " ".join(event for event in NOTICES if event in events)
    return columns


FIELD = AccountField(
    NoticesSerializer(
        source="*", allow_null=True, help_text="Which mails the account gets. Null for other users."
    ),
    NoticesRequest(
        required=False,
        help_text=(
            "Mails about the trips, in the language of this request. Only to a confirmed address, "
            "and never about what the user did."
        ),
    ),
    _stored,
)
