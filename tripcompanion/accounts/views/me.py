"""Views of the caller's own account: read, verify, export, delete."""

from typing import ClassVar

from django.http import FileResponse
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.accounts.deletion import AccountInUse, delete_account
from tripcompanion.accounts.export import archive_of, exported
from tripcompanion.accounts.export_serializers import AccountExport
from tripcompanion.accounts.serializers import DeleteAccountRequest
from tripcompanion.api.viewsets import ApiViewSet
from tripcompanion.attachments.storage import StorageUnavailable
from trips.models import show_addresses_to
from users.models import LastAdmin
from users.serializers import UserSerializer
from users.throttles import (
    ExportThrottle,
    MailThrottle,
)

FILE_NAME = "trip-companion"


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
    files: ClassVar = {"export": {"zip": "application/zip"}}
    single_statement: ClassVar = frozenset({"retrieve"})
    accepts: ClassVar = frozenset({"verify_email"})
    throttles: ClassVar = {"verify_email": [MailThrottle], "export": [ExportThrottle]}
    problems: ClassVar = {"destroy": [AccountInUse, LastAdmin], "export": [StorageUnavailable]}

    def retrieve(self, request: Request) -> Response:
        """The caller's account, with all fields."""
        return self.answer(self.caller)

    def verify_email(self, request: Request) -> Response:
        """Resend the link that confirms the caller's e-mail address."""
        self.caller.ask_to_verify(by=self.caller)
        return self.no_content()

    def export(self, request: Request) -> FileResponse:
        """All data that is stored about the caller, as a file.

        With `Accept: application/zip`, or `?format=zip`, it is an archive that also has each trip
        of the caller, as `exportTrip` writes it, and the files that the caller attached.
        """
        show_addresses_to(self.caller)
        is_archive = request.accepted_renderer.format == "zip"
        return self.file((archive_of if is_archive else exported)(self.caller), FILE_NAME)

    def destroy(self, request: Request) -> Response:
        """Delete the caller's account.

        All balances must be zero; entries stay for others.
        """
        self.body(user=self.caller)
        delete_account(self.caller, by=self.caller, settled=True, proof=self.caller.password)
        return self.no_content()
