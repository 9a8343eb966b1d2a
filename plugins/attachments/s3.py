"""Attachments in a bucket of S3 or of a service like it; needs the extra `s3`."""

from typing import Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

#: A request must not wait for long.
_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 3, 10, 2


class Bucket(S3Storage):
    """A bucket whose objects only signed links show, with bounded waits."""

    failures = (BotoCoreError, ClientError, Boto3Error)

    def __init__(self, *, addressing_style: str, **options: Any) -> None:
        config = Config(
            signature_version="s3v4",
            s3={"addressing_style": addressing_style},
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"total_max_attempts": _ATTEMPTS},
        )
        super().__init__(client_config=config, default_acl=None, **options)
