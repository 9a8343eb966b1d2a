"""One's own account, with all that hangs on it in trips and books."""

from typing import ClassVar

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from splits.serializers.account import AccountExport, exported
from trips.models import AccountInUse, close_account
from users.limits import ExportLimit
from users.models import LastAdmin
from users.serializers import DeleteAccountRequest
from users.views import MeView

FILE_NAME = "trip-companion.json"


class AccountViewSet(MeView):
    """One's own account: read, copied, closed."""

    bodies: ClassVar = {"destroy": DeleteAccountRequest}
    answers: ClassVar = {**MeView.answers, "export": AccountExport}
    limits: ClassVar = {**MeView.limits, "export": ExportLimit}
    problems: ClassVar = {"destroy": [AccountInUse, LastAdmin]}

    def export(self, request: Request) -> HttpResponse:
        """Everything that is held about the caller, as a file to keep."""
        # Whole, not streamed: a fault on the way is a problem document, and no half a file.
        response = HttpResponse(b"".join(exported(self.caller)), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="{FILE_NAME}"'
        return response

    def destroy(self, request: Request) -> Response:
        """Delete one's account, once everybody is square with it; entries of others stay."""
        self.body(user=self.caller)
        close_account(self.caller, by=self.caller, settled=True, proof=self.caller.password)
        return self.done()
