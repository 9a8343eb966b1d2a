"""Settings of documents."""

LARGE_BODIES = [r"/api/trips/[0-9]{1,19}/documents/[0-9]{1,19}/attachments"]
