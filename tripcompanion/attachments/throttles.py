"""The throttle of uploads."""

from typing import Any

from rest_framework.request import Request

from tripcompanion.api.throttling import WindowThrottle


class UploadThrottle(WindowThrottle):
    """Uploaded files, per user."""

    scope = "upload"

    def identity(self, request: Request, view: Any) -> str:
        return str(request.user.pk)
