"""Adds people to trips, as these clients name them, and finds the trip of two people."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import or_
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from plugins.invitations.models import Invitation
from plugins.splitwise.errors import refused
from plugins.splitwise.models import Group
from plugins.splitwise.parsing import Fields
from plugins.splitwise.viewset import SplitwiseViewSet
from trips.models import Member, Trip
from trips.models.joining import require_trip_quota
from trips.roles import ANY, CREATOR_ROLE, DEFAULT_ROLE, TABLE, Can, TripRole
from trips.serializers import GuestRequest
from trips.throttles import LookupThrottle
from users.emails import email_key
from users.models import MAX_NAME_CHARS, MIN_NAME_CHARS, User
from users.models.token import InsufficientScope
from users.scopes import Scope
from users.serializers.account import EmailAddress

#: The weakest role that records expenses: clients know no roles.
MEMBER_ROLE = [role for role in TripRole if TABLE[Can.RECORD][role] is ANY][-1]


class Person:
    """Somebody whom a body names by an id, or by an address and a name."""

    def __init__(self, view: SplitwiseViewSet, row: Fields) -> None:
        self.view, self.caller, self.row = view, view.caller, row
        self.email = row.text("email") or None
        names = (row.text("first_name"), row.text("last_name"))
        self.name = " ".join(filter(None, names)).strip()
        #: The account or guest, if there is one.
        self.user = self._known(row.id("user_id"))
        self.by_id = row.id("user_id") is not None

    def _known(self, user_id: int | None) -> User | None:
        if user_id is not None:
            found = friends_of(self.caller).filter(pk=user_id).first()
            if found is None:
                raise refused(_("You share no group with the user %(id)s.") % {"id": user_id})
            return found
        if self.email is None:
            return None
        self.email = EmailAddress().run_validation(self.email)
        # The answer reveals whether the address has an account.
        self.view.count(LookupThrottle())
        return User.objects.with_email(self.email).first()

    @property
    def lookup(self) -> Q:
        """Finds the member that they are: themselves, or the guest who was invited for them."""
        if self.user is None and self.email is not None:
            return invited_as(self.email)
        # Without an address, nobody is known to be the same.
        return Q(user=self.user)

    def add_to(self, trip: Trip, role: str = MEMBER_ROLE) -> User:
        """Make them a member: an account by its id or address, anybody else as a guest."""
        if self.user is not None and self.user.is_guest:
            text = _("%(name)s has no account, and can be in one group only.")
            raise refused(text % {"name": self.user.name})
        if self.user is not None:
            named = {"user_id": self.user.pk} if self.by_id else {"email": self.email}
            Member.add(trip, self.caller, role=role, **named)
            return self.user
        named = self.view.validated(GuestRequest, {"name": self._guest_name()})
        guest = Member.add_guest(trip, self.caller, **named).user
        if self.email is not None:
            self.view.count_mail(self.email)
            about = (trip, self.caller)
            Invitation.issue(*about, role=DEFAULT_ROLE, email=self.email, guest_user_id=guest.pk)
        return guest

    def _guest_name(self) -> str:
        """The name; if it is too short, the part of the address before the @, or all of it."""
        email = self.email or ""
        names = (self.name, email.partition("@")[0][:MAX_NAME_CHARS], email[:MAX_NAME_CHARS])
        return next((name for name in names if len(name) >= MIN_NAME_CHARS), self.name)


def friends_of(user: User) -> QuerySet[User]:
    """Everybody whom groups and friends show to `user`, who is one of them."""
    shared = Member.objects.sharing_a_trip_with(user).values("user")
    return User.objects.present_with_guests().filter(Q(pk=user.pk) | Q(pk__in=shared))


def invited_as(email: str) -> Q:
    """Finds the guest who was invited for an address. Raises Django's `ValidationError`."""
    return Q(user__is_guest=True, user__invitations__email_key=email_key(email))


@contextmanager
def accounts_locked(caller: User, people: list[Person]) -> Iterator[None]:
    """Open a transaction and lock the accounts of these people: accounts come before trips."""
    ids = {caller.pk, *(one.user.pk for one in people if one.user is not None)}
    with transaction.atomic():
        User.objects.lock(ids)
        yield


def start_trip(
    caller: User, *, title: str, currency: str, description: str = "", **known: Any
) -> Trip:
    """Create a trip that begins today, with the row that these clients need."""
    today = timezone.now().date()
    trip = Trip.start(
        caller,
        title=title,
        destination=title,
        description=description,
        start_date=today,
        end_date=today,
        currency=currency,
    )
    Group.objects.create(trip=trip, **known)
    return trip


def require_friendship_quota(caller: User, people: list[Person], currency: str) -> None:
    """Raise `LimitReached` if the trips that these people still need are too many.

    Call it under the lock of the account.
    """
    new = {one.user.pk if one.user else one.email or object() for one in people}
    kept = Group.objects.friendships(caller).filter(trip__currency=currency)
    both = Member.objects.present().filter(trip__in=kept.values("trip"))
    known = both.filter(reduce(or_, (one.lookup for one in people))).exclude(user=caller)
    require_trip_quota(caller, len(new) - known.values("trip").distinct().count())


def friendship(caller: User, person: Person, currency: str) -> tuple[Trip, User]:
    """The trip for what the two share outside of groups, and the other's account or guest.

    There is one for each currency. It is made when it is needed; raises `InsufficientScope` if the
    token may not make it.
    """
    with accounts_locked(caller, [person]):
        if person.user is not None and person.user.pk == caller.pk:
            raise refused(_("This is your own account."))
        kept = Group.objects.friendships(caller).filter(trip__currency=currency)
        both = Member.objects.with_user().filter(trip__in=kept.values("trip"))
        if found := both.filter(person.lookup).select_related("trip").order_by("trip").first():
            return found.trip, found.user
        # Creating an expense comes here, too, and its scope allows neither trips nor new members.
        if not caller.covers(Scope.TRIPS_WRITE):
            raise InsufficientScope(Scope.TRIPS_WRITE)
        other = person.user.name if person.user else person.name or person.email or ""
        title = f"{caller.name}, {other}"[:100]
        trip = start_trip(caller, title=title, currency=currency, is_friendship=True)
        return trip, person.add_to(trip, CREATOR_ROLE)
