"""Settings of attachments: where files are, and how many there may be."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tripcompanion import environment as env

_WORD = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_BUCKET_URL = (
    r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])"
    rf"(/(?P<prefix>{_WORD}(/{_WORD})*))?/?(\?(?P<query>[!-~]+))?"
)


def file_store(name: str, default: Path) -> dict[str, Any]:
    """Django's settings of a storage: an absolute path, or `s3://bucket/prefix`.

    The query of the latter may have `region` and `endpoint`. The access key is in the variables
    that the client of S3 reads by itself, such as `AWS_ACCESS_KEY_ID`.
    """
    raw = env.text(name) or str(default)
    if raw.startswith("/"):
        modes = {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700}
        backend = "django.core.files.storage.FileSystemStorage"
        return {"BACKEND": backend, "OPTIONS": {"location": raw, **modes}}
    found = re.fullmatch(_BUCKET_URL, raw)
    query = dict(parse_qsl(found["query"] or "", strict_parsing=False)) if found else {}
    endpoint = query.get("endpoint")
    is_right = endpoint is None or re.fullmatch(env.ORIGIN, endpoint)
    if not found or not is_right or not query.keys() <= {"region", "endpoint"}:
        env.refuse(
            f"{name} must be an absolute path or look like "
            f"s3://bucket/prefix?region=eu-central-1&endpoint=https://s3.example.com, not {raw!r}."
        )
    env.require_installed(name, package="storages", extra="s3")
    return {
        "BACKEND": "plugins.attachments.s3.Bucket",
        "OPTIONS": {
            "bucket_name": found["bucket"],
            "location": found["prefix"] or "",
            "region_name": query.get("region"),
            "endpoint_url": endpoint,
            "addressing_style": "path" if endpoint else "auto",
        },
    }


# A folder, or a bucket: s3://bucket/prefix?region=…&endpoint=…
ATTACHMENTS_STORE = file_store("ATTACHMENTS_STORE", env.DATA_DIR / "attachments")
STORAGES = {"attachments": ATTACHMENTS_STORE}
LARGE_BODIES = [r"/api/(expenses|trips)/[0-9]{1,19}/attachments"]
THROTTLE_RATES = {"upload": env.rate("THROTTLE_UPLOAD", "120/hour")}

# Exceeding one of these is a 409 `quota_exceeded`; the sizes are in MB.
QUOTA_ATTACHMENTS = env.count("QUOTA_ATTACHMENTS", 1000, minimum=1)
QUOTA_ATTACHMENT_MB = env.count("QUOTA_ATTACHMENT_MB", 500, minimum=1)
QUOTA_ACCOUNT_ATTACHMENTS = env.count("QUOTA_ACCOUNT_ATTACHMENTS", 5000, minimum=1)
QUOTA_ACCOUNT_ATTACHMENT_MB = env.count("QUOTA_ACCOUNT_ATTACHMENT_MB", 1000, minimum=1)
