"""Views of the caller's own account: read, verify, export, delete."""

from typing import ClassVar

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.accounts.deletion import AccountInUse, delete_account
from tripcompanion.accounts.export import exported
from tripcompanion.accounts.export_serializers import AccountExport
from tripcompanion.accounts.serializers import DeleteAccountRequest
from tripcompanion.api.viewsets import ApiViewSet
from users.models import LastAdmin
from users.serializers import UserSerializer
from users.throttles import (
    ExportThrottle,
    MailThrottle,
)

FILE_NAME = "trip-companion.json"


class AccountViewSet(ApiViewSet):
    """The caller's own account."""

    tag = "accounts"
    operation_ids: ClassVar = {
        "retrieve": "getMe",
        "destroy": "deleteMe",
        "verify_email": "resendVerification",
        "export": "exportMe",
    }
    request_serializers: ClassVar = {"destroy": DeleteAccountRequest}
    response_serializers: ClassVar = {"retrieve": UserSerializer, "export": AccountExport}
    single_statement: ClassVar = frozenset({"retrieve"})
    accepts: ClassVar = frozenset({"verify_email"})
    throttles: ClassVar = {"verify_email": [MailThrottle], "export": [ExportThrottle]}
    problems: ClassVar = {"destroy": [AccountInUse, LastAdmin]}

    def retrieve(self, request: Request) -> Response:
        """The caller's account, with all fields."""
        return self.answer(self.caller)

    def verify_email(self, request: Request) -> Response:
        """Resend the link that confirms the caller's e-mail address."""
        self.caller.ask_to_verify(by=self.caller)
        return self.no_content()

    def export(self, request: Request) -> HttpResponse:
        """All data that is stored about the caller, as a file."""
        # Not streamed, so that an error is a problem document and not a truncated file.
        response = HttpResponse(b"".join(exported(self.caller)), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="{FILE_NAME}"'
        return response

    def destroy(self, request: Request) -> Response:
        """Delete the caller's account.

        All balances must be zero; entries stay for others.
        """
        self.body(user=self.caller)
        delete_account(self.caller, by=self.caller, settled=True, proof=self.caller.password)
        return self.no_content()
