"""Polls of a trip, and the votes in them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from django.db import models
from django.db.models import OuterRef, Prefetch, Q, Subquery
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from plugins.polls.rights import CanPoll
from plugins.restorable import Restorable, RestorableQuerySet, author_column
from splits.models.in_trip import InTrip
from tripcompanion.api.problems import Conflict, LimitReached
from trips.models import InTripQuerySet, Trip, get_visible_or_404, trip_key
from trips.models.journal import Entry, plain_values, write
from trips.signals import author_replaced, person_sought
from users.models import User, summary_of

MIN_OPTIONS, MAX_OPTIONS = 2, 20
MAX_QUESTION_CHARS, MAX_OPTION_CHARS = 255, 100


class PollClosed(Conflict):
    """409 `poll_closed`: nobody can vote in it any more."""

    default_code = "poll_closed"
    default_detail = gettext_lazy("The poll is closed.")


class HasVotes(Conflict):
    """409 `has_votes`: votes were given for what would change, on other terms."""

    default_code = "has_votes"
    default_detail = gettext_lazy(
        "There are votes already: an option with votes stays as it is, and so does how people vote."
    )


class ShowsVotes(models.TextChoices):
    """When members see how others voted."""

    ALWAYS = "always", gettext_lazy("always")
    AFTER_VOTE = "after_vote", gettext_lazy("after one's own vote")
    AFTER_CLOSE = "after_close", gettext_lazy("once it is closed")


class Option(NamedTuple):
    """An option as a reader sees it; `votes` and `voters` are None if they are not shown."""

    id: int
    text: str
    votes: int | None
    voters: list[User] | None


class PollQuerySet(RestorableQuerySet["Poll"]):
    def visible_to(self, user: Any) -> Self:
        """With all votes, and that of `user` as `my_words`."""
        own = Vote.objects.filter(trip=OuterRef("trip"), poll=OuterRef("pk"), created_by=user)
        votes = Vote.objects.select_related("created_by").order_by("pk")
        votes = votes.only("trip", "poll", "option_words", *summary_of("created_by"))
        rows = super().visible_to(user).select_related("created_by")
        rows = rows.prefetch_related(Prefetch("votes", votes, "loaded_votes"))
        return rows.annotate(my_words=Subquery(own.values("option_words")[:1]))

    def named_votes(self, ids: Collection[int]) -> dict[int, int]:
        """How many votes each of these polls may show with their voters."""
        rows = self.filter(pk__in=ids).only("stored_options", "anonymous")
        return {poll.pk: poll.named_votes for poll in rows}


class Poll(Restorable):
    """A question with options. Its row counts the votes, whoever they are from.

    The votes in an anonymous poll have a row for each voter, so that nobody votes twice; nothing
    shows these rows. What an imported file tells of such a poll are the numbers alone.
    """

    kind = "poll"
    limit = 500
    added_by = CanPoll.CREATE
    changed_by = deleted_by = CanPoll.CHANGE

    trip = trip_key("polls")
    created_by = author_column(gettext_lazy("created by"))
    question = models.CharField(gettext_lazy("question"), max_length=MAX_QUESTION_CHARS)
    #: `{"1": {"text": …, "votes": …}}` in the order in which they are shown.
    stored_options = models.TextField(gettext_lazy("options"))
    #: The id of the next new option: one that was removed never comes back as another one.
    next_option = models.PositiveIntegerField(default=1, editable=False)
    multiple = models.BooleanField(gettext_lazy("several options"), default=False)
    anonymous = models.BooleanField(gettext_lazy("anonymous"), default=False)
    shows_votes = models.CharField(
        gettext_lazy("shows votes"), max_length=11, choices=ShowsVotes, default=ShowsVotes.ALWAYS
    )
    closes_at = models.DateTimeField(gettext_lazy("closes at"), null=True, blank=True)
    #: When somebody closed it by hand.
    closed_at = models.DateTimeField(gettext_lazy("closed at"), null=True, editable=False)

    objects = PollQuerySet.as_manager()

    special_columns = ("stored_options",)

    #: The vote of the reader, as `Vote.option_words` has it.
    my_words: str | None = None
    #: Set by `visible_to`.
    loaded_votes: list["Vote"]

    class Meta:
        verbose_name = gettext_lazy("poll")
        verbose_name_plural = gettext_lazy("polls")

    @property
    def is_closed(self) -> bool:
        is_over = self.closes_at is not None and self.closes_at <= timezone.now()
        return is_over or self.closed_at is not None

    @property
    def state(self) -> str:
        return "closed" if self.is_closed else "open"

    @property
    def my_option_ids(self) -> list[int]:
        return ids_in(self.my_words or "")

    @property
    def shows_now(self) -> bool:
        """Whether the reader sees how others voted."""
        shown_to_voter = self.shows_votes == ShowsVotes.AFTER_VOTE and bool(self.my_words)
        return self.shows_votes == ShowsVotes.ALWAYS or shown_to_voter or self.is_closed

    @property
    def options(self) -> list[Option]:
        """The options as the reader sees them."""
        voters: dict[int, list[User]] = {}
        for vote in self.loaded_votes:
            for option_id in vote.option_ids:
                voters.setdefault(option_id, []).append(vote.created_by)
        named = self.shows_now and not self.anonymous
        return [
            Option(
                option_id,
                stored["text"],
                stored["votes"] if self.shows_now else None,
                voters.get(option_id, []) if named else None,
            )
            for option_id, stored in self.counted.items()
        ]

    @property
    def named_votes(self) -> int:
        """How many votes for options it has, each with its voter: none if it is anonymous."""
        return 0 if self.anonymous else sum(one["votes"] for one in self.counted.values())

    @property
    def counted(self) -> dict[int, dict[str, Any]]:
        """Text and number of votes of each option, by its id."""
        return {int(key): one for key, one in json.loads(self.stored_options or "{}").items()}

    @counted.setter
    def counted(self, options: Mapping[int, Mapping[str, Any]]) -> None:
        self.stored_options = json.dumps(options, ensure_ascii=False)

    # -- Commands ----------------------------------------------------------------------------------

    def assign(self, *, options: Any = None, **fields: Any) -> None:
        """Set these fields. Raises `HasVotes`, and `ValidationError` on `options`."""
        terms = _TERMS & fields.keys()
        has_votes = any(option["votes"] for option in self.counted.values())
        if has_votes and any(getattr(self, name) != fields[name] for name in terms):
            raise HasVotes
        if self._state.adding:
            self.loaded_votes = []
        super().assign(**fields)
        if options is not None:
            self._set_options(options)

    def require_room(self) -> None:
        """Deleted ones count, too; so restoring one needs no room."""
        if self.deleted_at is None:
            there = Poll.objects.filter(trip=self.trip)
            LimitReached.require_at_most(self.limit, there.count() + 1)

    def vote(self, by: User, option_ids: Sequence[int]) -> "Poll":
        """Replace the vote of `by`; without options, take it back.

        Raises `PollClosed`, and `ValidationError` on `optionIds`.
        """
        with self.locked(by, CanPoll.VOTE) as stored:
            if stored.is_closed:
                raise PollClosed
            if not {*option_ids} <= stored.counted.keys():
                raise ValidationError({"optionIds": [_("Choose options of this poll.")]})
            if len(option_ids) > 1 and not stored.multiple:
                raise ValidationError({"optionIds": [_("Choose one option.")]})
            had = stored.my_option_ids
            if {*had} == {*option_ids}:
                return stored
            own: Any = {"trip": stored.trip, "poll": stored, "created_by": by}
            if option_ids:
                words = {"option_words": words_of(option_ids)}
                Vote.objects.update_or_create(words, **own)
            else:
                Vote.objects.filter(**own).delete()
            stored.count(had, -1)
            stored.count(option_ids, 1)
            stored.save(update_fields=["stored_options"])
            # Nothing tells who voted in an anonymous poll, not even its history.
            entry = Entry("poll.counted" if stored.anonymous else "poll.voted", stored.pk)
            write(stored.trip_id, None if stored.anonymous else by, entry)
            return get_visible_or_404(Poll.objects.kept, by, pk=stored.pk)

    def close(self, by: User) -> Self:
        """End the poll now. Closing it again changes nothing."""
        with self.locked(by, CanPoll.CHANGE) as stored:
            if stored.closed_at is not None:
                return stored
            stored.closed_at = timezone.now()
            return stored.store(by, Entry("poll.closed", stored.pk))

    def reopen(self, by: User) -> Self:
        """Let people vote again, without an end in the past. Repeating it changes nothing."""
        with self.locked(by, CanPoll.CHANGE) as stored:
            if not stored.is_closed:
                return stored
            stored.closed_at = None
            if stored.is_closed:
                stored.closes_at = None
            return stored.store(by, Entry("poll.reopened", stored.pk))

    def count(self, option_ids: Iterable[int], votes: int) -> None:
        """Add `votes` to the number of these options, without saving it."""
        counted = self.counted
        for option_id in counted.keys() & {*option_ids}:
            counted[option_id]["votes"] += votes
        self.counted = counted

    @property
    def values_in_history(self) -> dict[str, Any]:
        return {**plain_values(self), "options": [one["text"] for one in self.counted.values()]}

    def _set_options(self, sent: Sequence[Mapping[str, Any]]) -> None:
        """Replace the options; those with an id or a text of now stay. Raises what `change` raises.

        The text is for a change that is sent again: what was new in it has an id by then.
        """
        known, options = self.counted, {}
        named = {option.get("id") for option in sent}
        unnamed = {one["text"]: pk for pk, one in known.items() if pk not in named}
        for option in sent:
            option_id = option.get("id") or unnamed.get(option["text"])
            if option_id is None:
                option_id, self.next_option = self.next_option, self.next_option + 1
            elif option_id not in known or option_id in options:
                raise ValidationError({"options": [_("Name each option of the poll once.")]})
            votes = known[option_id]["votes"] if option_id in known else 0
            if votes and option["text"] != known[option_id]["text"]:
                raise HasVotes
            options[option_id] = {"text": option["text"], "votes": votes}
        if any(known[gone]["votes"] for gone in known.keys() - options.keys()):
            raise HasVotes
        self.counted = options


#: What people rely on when they vote.
_TERMS = frozenset({"multiple", "anonymous", "shows_votes"})


class Vote(InTrip):
    """What somebody chose in a poll: one row for each person, whatever races."""

    poll = models.ForeignKey(Poll, on_delete=models.CASCADE, related_name="votes")
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    #: The ids of the options, separated by spaces.
    option_words = models.CharField(max_length=255)

    objects = InTripQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["poll", "created_by"], name="one_vote_in_poll"),
            models.CheckConstraint(condition=~Q(option_words=""), name="vote_chooses"),
        ]

    @property
    def option_ids(self) -> list[int]:
        return ids_in(self.option_words)


def ids_in(words: str) -> list[int]:
    """The ids in a column of ids."""
    return [int(word) for word in words.split() if word.isascii() and word.isdecimal()]


def words_of(ids: Iterable[int]) -> str:
    """A column of ids."""
    return " ".join(map(str, dict.fromkeys(ids)))


def without_votes(options: Mapping[Any, Mapping[str, Any]]) -> dict[Any, dict[str, Any]]:
    """The options with no votes."""
    return {key: {**option, "votes": 0} for key, option in options.items()}


def count_imported(trip: Trip) -> None:
    """Count the votes that a file has: its numbers are believed in anonymous polls only."""
    Vote.objects.filter(trip=trip, poll__anonymous=True).delete()
    for poll in Poll.objects.filter(trip=trip):
        poll.next_option = max(poll.counted) + 1
        if not poll.anonymous:
            options, changed = without_votes(poll.counted), []
            for vote in Vote.objects.filter(trip=trip, poll=poll):
                known = [pk for pk in dict.fromkeys(vote.option_ids) if pk in options]
                chosen = known if poll.multiple else known[:1]
                for option_id in chosen:
                    options[option_id]["votes"] += 1
                if vote.option_words != words_of(chosen):
                    vote.option_words = words_of(chosen)
                    changed.append(vote)
            poll.counted = options
            gone = [vote.pk for vote in changed if not vote.option_words]
            Vote.objects.filter(trip=trip, pk__in=gone).delete()
            kept = [vote for vote in changed if vote.option_words]
            Vote.objects.bulk_update(kept, ["option_words"], batch_size=500)
        poll.save()


def hide_votes(row: dict[str, Any]) -> None:
    """Leave the votes of a poll out of the columns for a file if not everybody sees them yet."""
    poll = Poll(**row)
    if not poll.shows_now:
        poll.counted = without_votes(poll.counted)
        row["stored_options"] = poll.stored_options


def of_shown_polls() -> Q:
    """Condition on votes: everybody sees them."""
    is_closed = Q(poll__closed_at__isnull=False) | Q(poll__closes_at__lte=timezone.now())
    is_shown = Q(poll__shows_votes=ShowsVotes.ALWAYS) | is_closed
    return is_shown & Q(poll__anonymous=False, poll__deleted_at=None)


@receiver(author_replaced)
def give_votes(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """Give votes to the person `to`, whose own vote counts where both have voted.

    Votes in anonymous polls stay where they are: whoever got them would see them.
    """
    votes = Vote.objects.filter(trip=trip, created_by=user_id, poll__anonymous=False)
    both = Vote.objects.filter(trip=trip, created_by=to).values("poll")
    for vote in votes.filter(poll__in=both).select_related("poll"):
        vote.poll.count(vote.option_ids, -1)
        vote.poll.save(update_fields=["stored_options"])
        vote.delete()
    votes.update(created_by=to)


@receiver(person_sought)
def has_voted(trip: Trip, user_id: int, **_about: object) -> bool:
    """Whether this person voted in the open."""
    votes = Vote.objects.filter(trip=trip, created_by=user_id, poll__anonymous=False)
    return votes.exists()
