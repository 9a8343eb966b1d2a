"""The view of one's own data."""

from django.http import FileResponse
from rest_framework.request import Request

from plugins.personal_data.export import AccountExport, archive_of, exported, file_problems
from tripcompanion.api.operations import operation
from tripcompanion.api.viewsets import ApiViewSet
from trips.models import show_addresses_to
from users.throttles import ExportThrottle


class PersonalDataViewSet(ApiViewSet):
    """All data about the caller. It is closed to scoped tokens."""

    tag = "accounts"

    @operation(
        "exportMe",
        answers=AccountExport,
        problems=file_problems(),
        throttles=[ExportThrottle],
        files={"zip": "application/zip"},
    )
    def export(self, request: Request) -> FileResponse:
        """All data that is stored about the caller, as a file.

        With `Accept: application/zip`, or `?format=zip`, it is an archive that also has each trip
        of the caller, as `exportTrip` writes it, and the files that the caller attached.
        """
        show_addresses_to(self.caller)
        write = archive_of if request.accepted_renderer.format == "zip" else exported
        return self.file(write(self.caller), "trip-companion")
