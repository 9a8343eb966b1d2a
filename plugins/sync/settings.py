"""Settings of changes: the header with which a stream goes on, for programs in browsers."""

CORS_ALLOW_HEADERS = ["last-event-id"]
