"""One's own account, with all that hangs on it in trips and books."""

from tempfile import SpooledTemporaryFile
from typing import ClassVar

from django.http import FileResponse
from rest_framework.request import Request
from rest_framework.response import Response

from splits.serializers.account import AccountExport, exported
from trips.models import AccountInUse, close_account
from users.limits import ExportLimit
from users.models import LastAdmin
from users.serializers import DeleteAccountRequest
from users.views import MeView

#: A longer copy of somebody's data is kept in a temporary file while it is made and sent.
MAX_BYTES_IN_MEMORY = 1024 * 1024
FILE_NAME = "trip-companion.json"


class AccountViewSet(MeView):
    """One's own account: read, copied, closed."""

    bodies: ClassVar = {"destroy": DeleteAccountRequest}
    answers: ClassVar = {**MeView.answers, "export": AccountExport}
    limits: ClassVar = {**MeView.limits, "export": ExportLimit}
    problems: ClassVar = {"destroy": [AccountInUse, LastAdmin]}

    def export(self, request: Request) -> FileResponse:
        """Everything that is held about the caller, as a file to keep."""
        file = SpooledTemporaryFile(MAX_BYTES_IN_MEMORY)  # noqa: SIM115  closed with the answer
        file.writelines(exported(self.caller))
        file.seek(0)
        return FileResponse(
            file, as_attachment=True, filename=FILE_NAME, content_type="application/json"
        )

    def destroy(self, request: Request) -> Response:
        """Delete one's account, once everybody is square with it; entries of others stay."""
        self.body(user=self.caller)
        close_account(self.caller, settled=True)
        return self.done()
