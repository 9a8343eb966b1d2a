"""Views of accounts: the caller's own, and those of others."""

from typing import Any, ClassVar
from uuid import UUID

from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.generics import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.viewsets import ApiViewSet
from trips.deletion import AccountInUse, delete_account
from trips.models import with_companionship
from trips.models.conflicts import LastOwner
from trips.throttles import LookupThrottle
from users.models import EmailTaken, LastAdmin, Session, User
from users.models.conflicts import LogInAgain
from users.permissions import IsAdmin, IsSelfOrAdmin, IsUser
from users.serializers.account import (
    DeleteAccountRequest,
    UserCreateRequest,
    UserSerializer,
    UserUpdateRequest,
)
from users.throttles import MailThrottle


class AccountViewSet(ApiViewSet):
    """The caller's own account."""

    tag = "accounts"
    operation_ids: ClassVar = {
        "retrieve": "getMe",
        "destroy": "deleteMe",
        "verify_email": "resendVerification",
    }
    request_serializers: ClassVar = {"destroy": DeleteAccountRequest}
    response_serializers: ClassVar = {"retrieve": UserSerializer}
    single_statement: ClassVar = frozenset({"retrieve"})
    accepts: ClassVar = frozenset({"verify_email"})
    throttles: ClassVar = {"verify_email": [MailThrottle]}
    problems: ClassVar = {"destroy": [AccountInUse, LastAdmin]}

    def retrieve(self, request: Request) -> Response:
        """The caller's account, with all fields."""
        return self.answer(self.caller)

    def verify_email(self, request: Request) -> Response:
        """Resend the link that confirms the caller's e-mail address."""
        self.caller.ask_to_verify(by=self.caller)
        return self.no_content()

    def destroy(self, request: Request) -> Response:
        """Delete the caller's account.

        All balances must be zero; entries stay for others.
        """
        self.body(user=self.caller)
        delete_account(self.caller, by=self.caller, settled=True, proof=self.caller.password)
        return self.no_content()


class UserViewSet(ApiViewSet):
    """Accounts. The visible fields of another user depend on the trips they share."""

    tag = "accounts"
    operation_ids: ClassVar = {
        "retrieve": "getUser",
        "by_email": "findUserByEmail",
        "update": "replaceUser",
        "profile": "updateProfile",
        "destroy": "deleteUser",
    }
    request_serializers: ClassVar = {"update": UserCreateRequest, "profile": UserUpdateRequest}
    response_serializer = UserSerializer
    throttles: ClassVar = {"by_email": [LookupThrottle]}
    problems: ClassVar = {
        "update": [EmailTaken, LogInAgain],
        "profile": [EmailTaken, LogInAgain],
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

    def usual_problems(self, method: str) -> list[type[APIException]]:
        return [] if self.permissions[self.action] is IsUser else [PermissionDenied]

    def retrieve(self, request: Request, user_id: int) -> Response:
        """A user by id.

        The user and an ADMIN get all fields. For those who share a trip with the user, `role`,
        `currency` and the instants are null; for others, `email` is, too. Guests are found by
        those who share their trip.
        """
        users = with_companionship(User.objects.present_with_guests(), user_id, self.caller)
        user: Any = get_object_or_404(users)
        hidden = user.hidden_from(self.caller, is_companion=user.is_companion)
        return self.answer(user, hidden=hidden)

    def by_email(self, request: Request, email: str) -> Response:
        """Find the user with an address.

        The address must match as a whole. Of the account, the fields that trip members see are
        shown. Requests are limited, because the response reveals who has an account.
        """
        user = get_object_or_404(User.objects.with_email(email))
        return self.answer(user, hidden=user.hidden_from(self.caller, is_companion=True))

    def update(self, request: Request, user_id: int) -> Response:
        """Replace name, e-mail and password.

        Allowed to the user and to an ADMIN. A new password ends all other sessions. Another
        address or password takes `currentPassword`, unless the user has logged in within the last
        ten minutes.
        """
        user = get_object_or_404(User.objects.present(), pk=user_id)
        body = self.body(user=user, current=lambda: user)
        user.change(by=self.caller, keep=self._own_session(user), **body)
        return self.answer(user)

    def profile(self, request: Request, user_id: int) -> Response:
        """Change some fields of an account.

        Fields that are not sent stay. Allowed to the user and to an ADMIN. A new password requires
        the current one.
        """
        user = get_object_or_404(User.objects.present(), pk=user_id)
        body = self.body(user=user)
        is_own = self.caller.pk == user.pk
        proof = user.password if is_own and "password" in body else None
        user.change(by=self.caller, keep=self._own_session(user), proof=proof, **body)
        return self.answer(user)

    def destroy(self, request: Request, user_id: int) -> Response:
        """Erase an account and end its memberships.

        Allowed to an ADMIN. Expenses, splits and settlements stay for the other members.
        """
        user = get_object_or_404(User.objects.present(), pk=user_id)
        delete_account(user, by=self.caller, as_admin=True)
        return self.no_content()

    def _own_session(self, user: User) -> UUID | None:
        session = self.request.auth
        is_own = isinstance(session, Session) and session.user_id == user.pk
        return session.pk if is_own else None
