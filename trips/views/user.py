"""Views of accounts: the caller's own, and those of others."""

from typing import Any, ClassVar
from uuid import UUID

from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.generics import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.operations import operation
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

    @operation("getMe", answers=UserSerializer, single_statement=True)
    def retrieve(self, request: Request) -> Response:
        """The caller's account, with all fields."""
        return self.answer(self.caller)

    @operation("resendVerification", status=202, throttles=[MailThrottle])
    def verify_email(self, request: Request) -> Response:
        """Resend the link that confirms the caller's e-mail address."""
        self.caller.ask_to_verify(by=self.caller)
        return self.no_content()

    @operation("deleteMe", takes=DeleteAccountRequest, problems=[AccountInUse, LastAdmin])
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
    response_serializer = UserSerializer
    permissions: ClassVar = {
        "retrieve": IsUser,
        "by_email": IsUser,
        "update": IsSelfOrAdmin,
        "profile": IsSelfOrAdmin,
        "destroy": IsAdmin,
    }

    def get_permissions(self) -> list[BasePermission]:
        return [self.permissions.get(self.action, IsUser)()]

    def usual_problems(self, method: str) -> list[type[APIException]]:
        return [] if self.permissions[self.action] is IsUser else [PermissionDenied]

    @operation("getUser", single_statement=True)
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

    @operation("findUserByEmail", single_statement=True, throttles=[LookupThrottle])
    def by_email(self, request: Request, email: str) -> Response:
        """Find the user with an address.

        The address must match as a whole. Of the account, the fields that trip members see are
        shown. Requests are limited, because the response reveals who has an account.
        """
        user = get_object_or_404(User.objects.with_email(email))
        return self.answer(user, hidden=user.hidden_from(self.caller, is_companion=True))

    @operation("replaceUser", takes=UserCreateRequest, problems=[EmailTaken, LogInAgain])
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

    @operation("updateProfile", takes=UserUpdateRequest, problems=[EmailTaken, LogInAgain])
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

    @operation("deleteUser", problems=[LastOwner, LastAdmin])
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
