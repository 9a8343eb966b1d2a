"""App configuration."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import (
    AssistantTool,
    Notice,
    Outdated,
    PersonalList,
    Plugin,
    Searched,
    TripObject,
    TripTable,
)


class PollsConfig(Plugin):
    name = "plugins.polls"
    verbose_name = gettext_lazy("Polls")
    scopes = {
        "polls:read": gettext_lazy("See polls and their results"),
        "polls:write": gettext_lazy("Create, change and delete polls, and vote"),
    }
    events = {
        "poll.created": gettext_lazy("%(by)s created a poll."),
        "poll.changed": gettext_lazy("%(by)s changed a poll."),
        "poll.deleted": gettext_lazy("%(by)s deleted a poll."),
        "poll.restored": gettext_lazy("%(by)s restored a poll."),
        "poll.closed": gettext_lazy("%(by)s closed a poll."),
        "poll.reopened": gettext_lazy("%(by)s reopened a poll."),
        "poll.voted": gettext_lazy("%(by)s voted in a poll."),
        "poll.counted": gettext_lazy("Somebody voted in an anonymous poll."),
    }
    notices = {
        "poll.created": Notice(
            gettext_lazy("notice: poll"), gettext_lazy("There is a new poll in a trip:")
        )
    }
    tools = {
        "list_polls": AssistantTool(
            "The polls of a trip, the newest first.", "GET /api/trips/{trip}/polls"
        ),
        "create_poll": AssistantTool(
            "Asks the members of a trip something.", "POST /api/trips/{trip}/polls"
        ),
        "vote": AssistantTool(
            "Replaces the caller's vote; list_polls has the ids of polls and options.",
            "PUT /api/trips/{trip}/polls/{poll}/vote",
        ),
    }

    def objects(self) -> Mapping[str, TripObject]:
        from plugins.polls.models import Poll
        from plugins.polls.serializers import PollSerializer

        rows, parts = Poll.objects.kept, Poll.objects.all().named_votes
        searched = Searched(("question",), "question")
        return {"poll": TripObject("polls", rows, PollSerializer, searched=searched, parts=parts)}

    def trip_tables(self) -> Iterable[TripTable]:
        from plugins.polls.models import Poll, Vote, count_imported, hide_votes, of_shown_polls
        from plugins.polls.serializers import PollRequest, stored_options

        yield TripTable(
            "polls",
            Poll,
            ("next_option",),
            request=PollRequest,
            stored=stored_options,
            written=hide_votes,
        )
        yield TripTable("votes", Vote, ("id",), only=of_shown_polls, finish=count_imported)

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.polls.models import Poll, Vote
        from plugins.polls.serializers import ExportedPoll, ExportedVote

        yield PersonalList(
            "polls",
            ExportedPoll,
            "The polls that they created.",
            lambda user: Poll.objects.filter(created_by=user).order_by("id"),
        )
        votes = Vote.objects.filter(poll__anonymous=False).select_related("poll").order_by("id")
        yield PersonalList(
            "votes",
            ExportedVote,
            "Their votes, but those in anonymous polls.",
            lambda user: votes.filter(created_by=user),
        )

    def forget(self, account: Any, by: Any) -> None:
        """Delete who voted in anonymous polls; the votes count on."""
        from plugins.polls.models import Vote

        Vote.objects.filter(created_by=account, poll__anonymous=True).delete()

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.polls.models import Poll

        yield "deleted polls", [Poll.objects.outdated(now)]

    def demo(self, trip: Any, people: Mapping[str, Any]) -> None:
        from plugins.polls.models import Poll

        at = {"created_at": trip.created_at, "updated_at": trip.created_at}
        olga = people["olga"]

        def ask(question: str, *texts: str) -> Poll:
            options = [{"text": text} for text in texts]
            return Poll.add(trip, olga, question=question, options=options, **at)

        poll = ask("Where do we go on the third day?", "Sintra", "Cascais", "Setúbal")
        for name, option in (("olga", 1), ("ed", 1), ("vera", 2), ("lucia", 1)):
            poll.vote(people[name], [option])
        ask("Who brings a guitar?", "Ed", "Nobody").remove(olga)
