"""Accounts as those see them who share trips, and tokens that can be confined to a trip."""

from typing import Any, ClassVar

from rest_framework.generics import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from tripcompanion.kit.problems import LimitReached
from tripcompanion.kit.viewsets import ApiViewSet
from trips.limits import LookupLimit
from trips.models import (
    close_account,
    require_membership,
    with_companionship,
)
from trips.models.member import LastOwner
from users.models import EmailTaken, LastAdmin, ScopedToken, Session, User
from users.permissions import IsAdmin, IsSelfOrAdmin, IsUser
from users.serializers import (
    NewScopedTokenSerializer,
    ScopedTokenRequest,
    ScopedTokenSerializer,
    UserCreateRequest,
    UserSerializer,
    UserUpdateRequest,
)


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
    single_statement: ClassVar = frozenset({"retrieve", "by_email"})

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
        user.change(by=self.caller, keep=self._own_session(user), **self.body())
        return self.answer(user)

    def profile(self, request: Request, user_id: int) -> Response:
        """Change any part of an account; a new password needs the current one."""
        user = get_object_or_404(User.objects.present(), pk=user_id)
        must_prove = self.caller.pk == user.pk
        body = self.body(user=user, must_prove=must_prove)
        proof = user.password if must_prove and "password" in body else None
        user.change(by=self.caller, keep=self._own_session(user), proof=proof, **body)
        return self.answer(user)

    def destroy(self, request: Request, user_id: int) -> Response:
        """Empty an account and end its memberships; the entries that others rely on stay."""
        user = get_object_or_404(User.objects.present(), pk=user_id)
        close_account(user, by=self.caller, as_admin=True)
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
    single_statement: ClassVar = frozenset({"retrieve"})
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
        ScopedToken.revoke(self.caller, token_id)
        return self.done()
