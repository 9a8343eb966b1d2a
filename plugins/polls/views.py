"""Polls of a trip."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.polls.models import HasVotes, Poll, PollClosed
from plugins.polls.rights import CanPoll
from plugins.polls.serializers import PollChange, PollRequest, PollSerializer, VoteRequest
from plugins.restorable_views import RestorableViewSet
from tripcompanion.api.operations import operation
from tripcompanion.api.pagination import NumberedPages
from tripcompanion.api.serializers import DeletedQuery
from tripcompanion.api.throttling import CallerThrottle, UserThrottle
from trips.models.conflicts import NotRestorable
from trips.roles import Can

#: How many votes for options a page shows, each with its voter.
MAX_SHOWN_VOTES = 20_000


class VoteThrottle(UserThrottle):
    """Votes, per user: each counts in the quota of changes that a trip has for all."""

    scope = "vote"


class PollPages(NumberedPages):
    """Pages that show at most `MAX_SHOWN_VOTES`, or one poll."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """The polls of the page; 400 if they have more votes."""
        polls = super().paginate_queryset(queryset, request, view)
        shown = sum(poll.named_votes for poll in polls if poll.shows_now)
        if shown > MAX_SHOWN_VOTES and len(polls) > 1:
            text = _("These polls have more than %(limit)s votes. Please ask for fewer.")
            raise ValidationError({"pageSize": [text % {"limit": MAX_SHOWN_VOTES}]})
        return polls


class PollViewSet(RestorableViewSet):
    """What the members of a trip decide together."""

    tag = "polls"
    scope_prefix = "polls"
    model = Poll
    pagination_class = PollPages
    response_serializer = PollSerializer

    @operation("listPolls", needs=Can.READ, query=DeletedQuery)
    def list(self, request: Request, trip_id: int) -> Response:
        """The polls of a trip, newest first.

        A page shows at most 20,000 choices of people; a larger one is 400 for `pageSize`.
        """
        trip = self.get_permitted_trip(trip_id)
        polls = Poll.objects.visible_to(self.caller).filter(trip=trip)
        return self.page_of_query(polls.order_by("-pk"))

    @operation("createPoll", needs=CanPoll.CREATE, takes=PollRequest)
    def create(self, request: Request, trip_id: int) -> Response:
        """Ask the members of a trip something.

        A trip has at most 500 polls.
        """
        trip = self.get_permitted_trip(trip_id)
        poll = Poll.add(trip, self.caller, **self.body())
        return self.answer(poll, location=f"/api/trips/{trip_id}/polls/{poll.pk}")

    @operation("getPoll", needs=Can.READ)
    def retrieve(self, request: Request, trip_id: int, poll_id: int) -> Response:
        """One poll."""
        return self.answer(self.get_kept(trip_id, poll_id))

    @operation("updatePoll", needs=CanPoll.CHANGE, takes=PollChange, problems=[HasVotes])
    def partial_update(self, request: Request, trip_id: int, poll_id: int) -> Response:
        """Change a poll.

        `options` replaces all of them: those with an `id` stay, the others are new. An option with
        votes can neither be changed nor removed, and once there are votes, `multiple`, `anonymous`
        and `showsVotes` stay.
        """
        poll = self.get_kept(trip_id, poll_id)
        body = self.body(partial=True, current=lambda: poll, closes_at=poll.closes_at)
        return self.answer(poll.change(self.caller, **body))

    @operation("deletePoll", needs=CanPoll.CHANGE)
    def destroy(self, request: Request, trip_id: int, poll_id: int) -> Response:
        """Delete a poll. For 30 days, `restorePoll` brings it back with all votes."""
        return self.remove(trip_id, poll_id)

    @operation("restorePoll", needs=CanPoll.CHANGE, problems=[NotRestorable])
    def restore(self, request: Request, trip_id: int, poll_id: int) -> Response:
        """Restore a deleted poll."""
        return self.answer(self.restored(trip_id, poll_id))

    @operation(
        "vote",
        needs=CanPoll.VOTE,
        takes=VoteRequest,
        problems=[PollClosed],
        throttles=[CallerThrottle, VoteThrottle],
    )
    def vote(self, request: Request, trip_id: int, poll_id: int) -> Response:
        """Vote, in place of one's vote before; an empty list takes it back."""
        poll = self.get_kept(trip_id, poll_id)
        body = self.body(current=lambda: poll)
        return self.answer(poll.vote(self.caller, **body))

    @operation("closePoll", needs=CanPoll.CHANGE)
    def close(self, request: Request, trip_id: int, poll_id: int) -> Response:
        """Close a poll: nobody can vote any more, and everybody sees the result."""
        return self.answer(self.get_kept(trip_id, poll_id).close(self.caller))

    @operation("reopenPoll", needs=CanPoll.CHANGE)
    def reopen(self, request: Request, trip_id: int, poll_id: int) -> Response:
        """Open a closed poll again. If the time in `closesAt` has passed, that becomes null."""
        return self.answer(self.get_kept(trip_id, poll_id).reopen(self.caller))
