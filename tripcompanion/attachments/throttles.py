"""The throttle of uploads."""

from tripcompanion.api.throttling import UserThrottle


class UploadThrottle(UserThrottle):
    """Uploaded files, per user."""

    scope = "upload"
