"""Serializers of polls."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from plugins.fields import BoundedNumber
from plugins.polls.models import (
    MAX_OPTION_CHARS,
    MAX_OPTIONS,
    MAX_QUESTION_CHARS,
    MIN_OPTIONS,
    ShowsVotes,
)
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictBoolean,
    StrictChoice,
    StrictInstant,
    StrictList,
    StrictText,
)
from users.serializers.account import UserSummary

#: How far ahead a poll may close.
MAX_AHEAD = timedelta(days=3650)
#: How many votes a file may claim for an option, and the largest id: new options have larger ones.
MAX_COUNTED, MAX_OPTION_ID = 10**6, 10**9
_SHOWS_VOTES = (
    "Who sees how others voted: everybody `always`, voters `after_vote`, everybody `after_close`."
)


class NewOption(CamelCaseSerializer):
    """An option to vote for."""

    text = StrictText(max_length=MAX_OPTION_CHARS, help_text="1 to 100 characters.")


class ChangedOption(NewOption):
    """An option that stays or is new."""

    id = IdField(required=False, help_text="The id of an option that stays. New ones have none.")


class FutureInstant(StrictInstant):
    """An instant that has not passed, at most `MAX_AHEAD` from now.

    The one that is stored, `closes_at` in the context, changes nothing.
    """

    default_error_messages = {
        "passed": gettext_lazy("Must be in the future."),
        "too_late": gettext_lazy("Must be within ten years."),
    }

    def to_internal_value(self, value: Any) -> datetime:
        instant = super().to_internal_value(value)
        if instant == self.context.get("closes_at"):
            raise serializers.SkipField
        if instant <= timezone.now():
            self.fail("passed")
        if instant > timezone.now() + MAX_AHEAD:
            self.fail("too_late")
        return instant


class Options(StrictList):
    """Options with different texts."""

    default_error_messages = {"same": gettext_lazy("The options must differ.")}

    def __init__(self, **options: Any) -> None:
        text = "2 to 20 options, in the order in which they are shown."
        super().__init__(min_length=MIN_OPTIONS, max_length=MAX_OPTIONS, help_text=text, **options)

    def to_internal_value(self, data: Any) -> Any:
        options = super().to_internal_value(data)
        # In a PATCH, a serializer takes no field as required.
        required = {"text": [self.error_messages["required"]]}
        missing: Any = {at: required for at, one in enumerate(options) if "text" not in one}
        if missing:
            raise serializers.ValidationError(missing)
        if len({option["text"].casefold() for option in options}) < len(options):
            self.fail("same")
        return options


class PollRequest(CamelCaseSerializer):
    """A question to the members of a trip."""

    question = StrictText(max_length=MAX_QUESTION_CHARS, help_text="1 to 255 characters.")
    options = Options(child=NewOption())
    multiple = StrictBoolean(default=False, help_text="Whether people may choose several options.")
    anonymous = StrictBoolean(default=False, help_text="Whether nobody learns who voted for what.")
    shows_votes = StrictChoice(
        choices=ShowsVotes.choices, default=ShowsVotes.ALWAYS, help_text=_SHOWS_VOTES
    )
    closes_at = FutureInstant(
        required=False, allow_null=True, help_text="When it closes by itself; null for never."
    )


class PollChange(PollRequest):
    """What to change."""

    options = Options(child=ChangedOption())


class VoteRequest(CamelCaseSerializer):
    """One's vote."""

    option_ids = StrictList(
        child=IdField(),
        max_length=MAX_OPTIONS,
        help_text="The ids of the options that one chooses. None: take the vote back.",
    )


class OptionSerializer(CamelCaseSerializer):
    """An option, with the votes for it."""

    id = serializers.IntegerField(help_text="The id of the option, within its poll.")
    text = serializers.CharField(help_text="What it says.")
    votes = serializers.IntegerField(
        allow_null=True, help_text="How many chose it; null while that is not shown."
    )
    voters = UserSummary(
        many=True,
        allow_null=True,
        help_text="Who chose it; null while votes are not shown, and in anonymous polls.",
    )


class PollSerializer(CamelCaseSerializer):
    """A poll as its reader sees it."""

    id = serializers.IntegerField(help_text="The id of the poll.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    question = serializers.CharField(help_text="What is asked.")
    options = OptionSerializer(many=True, help_text="The options.")
    multiple = serializers.BooleanField(help_text="Whether people may choose several options.")
    anonymous = serializers.BooleanField(help_text="Whether nobody learns who voted for what.")
    shows_votes = serializers.ChoiceField(choices=ShowsVotes.choices, help_text=_SHOWS_VOTES)
    closes_at = serializers.DateTimeField(
        allow_null=True, help_text="When it closes by itself; null for never."
    )
    state = serializers.CharField(help_text="`open` or `closed`.")
    my_option_ids = serializers.ListField(
        child=serializers.IntegerField(), help_text="What the caller chose."
    )
    created_by = UserSummary(help_text="Who asks.")
    created_at = serializers.DateTimeField(help_text="When it was created.")
    updated_at = serializers.DateTimeField(help_text="When it last changed; votes do not count.")


class ExportedPoll(CamelCaseSerializer):
    """A poll that a user created, without the votes of others."""

    id = serializers.IntegerField(help_text="The id of the poll.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    question = serializers.CharField(help_text="What is asked.")
    created_at = serializers.DateTimeField(help_text="When it was created.")


class ExportedVote(CamelCaseSerializer):
    """A vote in a poll that is not anonymous."""

    poll_id = serializers.IntegerField(help_text="The poll.")
    question = serializers.CharField(source="poll.question", help_text="What is asked.")
    option_ids = serializers.ListField(
        child=serializers.IntegerField(), help_text="The ids of the options they chose."
    )


def stored_options(shown: Any, _people: Mapping[int, int]) -> str:
    """The options in the file of a trip, as they are stored. Raises `ValidationError`."""
    if not isinstance(shown, Mapping):
        raise serializers.ValidationError
    option_id = BoundedNumber(maximum=MAX_OPTION_ID)
    votes = serializers.IntegerField(min_value=0, max_value=MAX_COUNTED)
    rows = [one if isinstance(one, Mapping) else {} for one in shown.values()]
    texts = Options(child=NewOption()).run_validation([{"text": row.get("text")} for row in rows])
    options = {
        option_id.run_validation(key): {**text, "votes": votes.run_validation(row.get("votes"))}
        for key, row, text in zip(shown, rows, texts, strict=True)
    }
    return json.dumps(options, ensure_ascii=False)
