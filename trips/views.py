"""Trips, their members, and what people see of one another."""

from typing import Any, ClassVar

from django.db.models import Count, Prefetch, Q
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from tripcompanion.kit.problems import LimitReached
from tripcompanion.kit.throttling import Limit
from tripcompanion.kit.viewsets import ApiViewSet
from trips.models import (
    Member,
    Trip,
    TripQuerySet,
    close_account,
    require_membership,
    with_companionship,
)
from trips.models.member import BalanceOpen, LastOwner
from trips.models.trip import AlreadyMember, CurrencyFixed, UserNotFound
from trips.permissions import TAGGED_ACTIONS, InTripViewSet, IsTripOwner, MayInTrip
from trips.roles import Can
from trips.serializers import (
    AddMemberRequest,
    ChangeMemberRoleRequest,
    JoinRequest,
    TripDetailSerializer,
    TripMemberSerializer,
    TripPreview,
    TripRequest,
    TripSerializer,
)
from users.models import EmailTaken, EmailUnverified, LastAdmin, ScopedToken, Session, User
from users.permissions import IsAdmin, IsSelfOrAdmin, IsUser
from users.serializers import (
    NewScopedTokenSerializer,
    ScopedTokenRequest,
    ScopedTokenSerializer,
    UserCreateRequest,
    UserSerializer,
    UserUpdateRequest,
)


class LookupLimit(Limit):
    """Look-ups that say what exists: accounts by address, trips by code."""

    scope = "lookup"

    def identity(self, request: Request, view: object) -> str:
        return str(request.user.pk)


class TripViewSet(InTripViewSet):
    """Trips of the caller; an ADMIN may open every trip."""

    area = "trips"
    needs: ClassVar = {
        "list": None,
        "create": None,
        "by_code": None,
        "join": None,
        "retrieve": Can.READ,
        "update": Can.MANAGE_TRIP,
        "partial_update": Can.MANAGE_TRIP,
        "destroy": Can.MANAGE_TRIP,
        "renew_code": Can.MANAGE_TRIP,
    }
    bodies: ClassVar = {
        "create": TripRequest,
        "update": TripRequest,
        "partial_update": TripRequest,
        "join": JoinRequest,
    }
    answers: ClassVar = {
        "list": TripSerializer,
        "create": TripDetailSerializer,
        "retrieve": TripDetailSerializer,
        "update": TripDetailSerializer,
        "partial_update": TripDetailSerializer,
        "renew_code": TripDetailSerializer,
        "by_code": TripPreview,
        "join": TripMemberSerializer,
    }
    creates: ClassVar = frozenset({"create", "join"})
    tagged_actions: ClassVar = TAGGED_ACTIONS
    problems: ClassVar = {
        "create": [LimitReached],
        "update": [CurrencyFixed],
        "partial_update": [CurrencyFixed],
        "join": [NotFound, AlreadyMember, LimitReached, EmailUnverified],
    }

    def get_throttles(self) -> list[BaseThrottle]:
        return [LookupLimit()] if self.action in {"by_code", "join"} else super().get_throttles()

    def visible(self) -> TripQuerySet:
        members = Member.objects.present().select_related("user")
        return Trip.objects.visible_to(self.caller).prefetch_related(
            Prefetch("members", members, to_attr="present_members")
        )

    def list(self, request: Request) -> Response:
        """The caller's trips, the newest start first."""
        trips = Trip.objects.of_member(self.caller).order_by("-start_date", "-id")
        return self.page(trips)

    def create(self, request: Request) -> Response:
        """Make a trip; the caller becomes its OWNER."""
        trip = Trip.start(self.caller, **self.body(currency=self.caller.currency))
        location = f"/api/trips/{trip.pk}"
        return self.answer(self._shown(trip), location=location)

    def retrieve(self, request: Request, trip_id: int) -> Response:
        """A trip with its members."""
        return self.tagged(request, self.guarded(self.visible(), pk=trip_id))

    def update(self, request: Request, trip_id: int, *, partial: bool = False) -> Response:
        """Replace a trip: absent optional fields fall back to their default, the currency stays."""
        trip = self.guarded(self.visible(), pk=trip_id)
        with self.unchanged(trip_id, lambda: self._shown(trip)):
            trip.change(**self.body(partial=partial, currency=trip.currency, trip=trip))
        return self.tagged(request, self._shown(trip))

    def partial_update(self, request: Request, trip_id: int) -> Response:
        """Change the fields that were sent."""
        return self.update(request, trip_id, partial=True)

    def destroy(self, request: Request, trip_id: int) -> Response:
        """Delete a trip with everything in it."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        with self.unchanged(trip_id, lambda: self._shown(trip)):
            trip.remove()
        return self.done()

    def renew_code(self, request: Request, trip_id: int) -> Response:
        """Give the trip a new code; the old one is dead."""
        trip = self.guarded(self.visible(), pk=trip_id)
        trip.renew_code()
        return self.answer(trip)

    def _shown(self, trip: Trip) -> Trip:
        # Somebody may have deleted it since.
        return get_object_or_404(self.visible(), pk=trip.pk)

    def by_code(self, request: Request, code: str) -> Response:
        """What a trip code leads to: enough to decide to join."""
        present = Count("members", filter=Q(members__left_at=None))
        trips = Trip.objects.within(self.caller).with_code(code).annotate(member_count=present)
        return self.answer(get_object_or_404(trips))

    def join(self, request: Request) -> Response:
        """Become a member by code, with the role that the trip gives to those who join."""
        trips = Trip.objects.within(self.caller)
        trip = get_object_or_404(trips.with_code(self.body()["trip_code"]))
        member = trip.join(self.caller)
        location = f"/api/trips/{trip.pk}/members/{self.caller.pk}"
        return self.answer(member, location=location)


class MemberViewSet(InTripViewSet):
    """Members of a trip."""

    area = "trips"
    pagination_class = None
    needs: ClassVar = {
        "list": Can.READ,
        "retrieve": Can.READ,
        "create": Can.ADD_MEMBERS,
        "change_role": Can.MANAGE_MEMBERS,
        "destroy": Can.MANAGE_MEMBERS,
        "leave": Can.LEAVE,
    }
    bodies: ClassVar = {"create": AddMemberRequest, "change_role": ChangeMemberRoleRequest}
    answers: ClassVar = {
        "list": TripMemberSerializer,
        "retrieve": TripMemberSerializer,
        "create": TripMemberSerializer,
        "change_role": TripMemberSerializer,
    }
    problems: ClassVar = {
        "create": [AlreadyMember, UserNotFound, LimitReached],
        "change_role": [LastOwner],
        "destroy": [LastOwner, BalanceOpen],
        "leave": [LastOwner, BalanceOpen],
    }

    def get_permissions(self) -> list[BasePermission]:
        if self.action in {"change_role", "destroy"}:
            return [IsTripOwner()]
        return [MayInTrip()]

    def member(self, trip_id: int, user_id: int) -> Member:
        members = Member.objects.visible_to(self.caller).present().select_related("user")
        return self.guarded(members, trip_id=trip_id, user_id=user_id)

    def list(self, request: Request, trip_id: int) -> Response:
        """All members, by the time they joined."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        return self.answer(list(trip.members.present().select_related("user")))

    def retrieve(self, request: Request, trip_id: int, user_id: int) -> Response:
        """One member, by their user id."""
        return self.answer(self.member(trip_id, user_id))

    def create(self, request: Request, trip_id: int) -> Response:
        """Add somebody, by id or by e-mail, with a role not above one's own."""
        trip = self.guarded(Trip.objects.visible_to(self.caller), pk=trip_id)
        member = trip.add_member(by_role=trip.caller_role, **self.body())
        location = f"/api/trips/{trip_id}/members/{member.user_id}"
        return self.answer(member, location=location)

    def change_role(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Give a member another role."""
        member = self.member(trip_id, user_id)
        member.change_role(self.body()["role"])
        return self.answer(member)

    def destroy(self, request: Request, trip_id: int, user_id: int) -> Response:
        """Remove a member whose balance is zero."""
        self.member(trip_id, user_id).end()
        return self.done()

    def leave(self, request: Request, trip_id: int) -> Response:
        """Leave a trip, with a balance of zero."""
        self.member(trip_id, self.caller.pk).end()
        return self.done()


class UserViewSet(ApiViewSet):
    """Accounts. What one sees of another depends on the trips they share."""

    bodies: ClassVar = {"update": UserCreateRequest, "profile": UserUpdateRequest}
    answers: ClassVar = {
        "retrieve": UserSerializer,
        "by_email": UserSerializer,
        "update": UserSerializer,
        "profile": UserSerializer,
    }
    problems: ClassVar = {
        "update": [EmailTaken],
        "profile": [EmailTaken],
        "destroy": [LastOwner, LastAdmin],
    }
    permissions: ClassVar = {
        "retrieve": IsUser,
        "by_email": IsUser,
        "update": IsSelfOrAdmin,
        "profile": IsSelfOrAdmin,
        "destroy": IsAdmin,
    }

    def get_permissions(self) -> list[BasePermission]:
        return [self.permissions.get(self.action, IsUser)()]

    def may_forbid(self) -> bool:
        return self.permissions[self.action] is not IsUser

    def get_throttles(self) -> list[BaseThrottle]:
        return [LookupLimit()] if self.action == "by_email" else super().get_throttles()

    def retrieve(self, request: Request, user_id: int) -> Response:
        """A user: whole for oneself and ADMIN; others see less, and least without a shared trip."""
        users = with_companionship(User.objects.present(), self.caller)
        user: Any = get_object_or_404(users, pk=user_id)
        hidden = user.hidden_from(self.caller, is_companion=user.is_companion)
        return self.answer(user, hidden=hidden)

    def by_email(self, request: Request, email: str) -> Response:
        """The user with exactly this address, as somebody who shares a trip sees them."""
        user = get_object_or_404(User.objects.with_email(email))
        return self.answer(user, hidden=user.hidden_from(self.caller, is_companion=True))

    def update(self, request: Request, user_id: int) -> Response:
        """Replace name, e-mail and password; a new password ends all other log-ins."""
        user = get_object_or_404(User.objects.present(), pk=user_id)
        user.change(keep=self._own_session(user), **self.body())
        return self.answer(user)

    def profile(self, request: Request, user_id: int) -> Response:
        """Change any part of an account; a new password needs the current one."""
        user = get_object_or_404(User.objects.present(), pk=user_id)
        must_prove = self.caller.pk == user.pk
        user.change(keep=self._own_session(user), **self.body(user=user, must_prove=must_prove))
        return self.answer(user)

    def destroy(self, request: Request, user_id: int) -> Response:
        """Empty an account and end its memberships; the entries that others rely on stay."""
        close_account(get_object_or_404(User.objects.present(), pk=user_id))
        return self.done()

    def _own_session(self, user: User) -> Session | None:
        session = self.request.auth
        return session if isinstance(session, Session) and session.user_id == user.pk else None


class TokenViewSet(ApiViewSet):
    """The caller's own scoped tokens, each of which may be confined to a trip."""

    # A stored answer would be a stored token.
    safe_retries = False
    bodies: ClassVar = {"create": ScopedTokenRequest}
    answers: ClassVar = {
        "list": ScopedTokenSerializer,
        "retrieve": ScopedTokenSerializer,
        "create": NewScopedTokenSerializer,
    }
    problems: ClassVar = {"create": [LimitReached]}

    def own(self) -> Any:
        return self.caller.scoped_tokens.live()

    def list(self, request: Request) -> Response:
        """The tokens that have not expired, the newest first."""
        return self.page(self.own().order_by("-id"))

    def create(self, request: Request) -> Response:
        """Make a token for a script. It is shown this once."""
        body = self.body()
        require_membership(self.caller, body.get("trip_id"))
        token = ScopedToken.issue(self.caller, **body)
        return self.answer(token, location=f"/api/users/me/tokens/{token.pk}")

    def retrieve(self, request: Request, token_id: int) -> Response:
        """One token, without the token itself."""
        return self.answer(get_object_or_404(self.own(), pk=token_id))

    def destroy(self, request: Request, token_id: int) -> Response:
        """End a token at once."""
        deleted, _rows = self.own().filter(pk=token_id).delete()
        if not deleted:
            raise NotFound
        return self.done()
