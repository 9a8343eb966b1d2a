"""The files of attachments: in a folder or in a bucket of S3, under random names.

A file is stored before the row that names it, and deleted after that row. What a failure leaves
between the two is a file without a row, which `sweep` deletes.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from secrets import token_hex
from shutil import copyfileobj
from typing import IO, Any

from django.core.files import File
from django.core.files.storage import FileSystemStorage, storages
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Unavailable
from tripcompanion.database.lending import without_connection

ALIAS = "attachments"
#: A file without a row may be one whose row is about to be written.
KEPT_WITHOUT_ROW = timedelta(days=1)
#: How long a link to a bucket is valid.
LINK_SECONDS = 60


class StorageUnavailable(Unavailable):
    """503 `storage_unavailable`: files cannot be stored or read now; nothing has changed."""

    default_code = "storage_unavailable"
    default_detail = gettext_lazy("Files cannot be stored or read now. Please try again later.")


def keep(content: Any) -> str:
    """Store a file under a new name, and return the name.

    Raises `StorageUnavailable` if the disk is full or the storage is away; then nothing is stored.
    """
    key = token_hex(16)
    name = f"{key[:2]}/{key}"
    with _reaching_storage() as files:
        try:
            content.seek(0)
            files.save(name, File(content))
            if _is_local(files):
                with files.open(name) as stored:
                    os.fsync(stored.fileno())
        except _failures(files):
            discard(name)
            raise
    return name


def copy(name: str, target: IO[bytes]) -> None:
    """Write the content of a file into another one; raises `StorageUnavailable`."""
    with _reaching_storage() as files, files.open(name) as file:
        copyfileobj(file, target)


def opened(name: str) -> Any:
    """The content of a file, to be read; raises `StorageUnavailable`."""
    with _reaching_storage() as files:
        return files.open(name)


def link_to(name: str, shown_name: str, media_type: str) -> str | None:
    """A link by which a bucket serves the file for a short time; None if it is in a folder."""
    files = storages[ALIAS]
    if _is_local(files):
        return None
    answer = {
        "ResponseContentDisposition": content_disposition_header(True, shown_name),
        "ResponseContentType": media_type,
        "ResponseCacheControl": "no-store",
    }
    # Other storages than files in a folder take these arguments.
    sign: Any = files.url
    return sign(name, parameters=answer, expire=LINK_SECONDS)


def discard(*names: str) -> None:
    """Delete files; `sweep` deletes those that cannot be deleted now."""
    files = storages[ALIAS]
    with without_connection():
        for name in filter(None, names):
            with suppress(*_failures(files)):
                files.delete(name)


def sweep(known: Callable[[Iterable[str]], set[str]], *, dry_run: bool) -> int:
    """Delete files that no row names and that are older than a day; return how many there were.

    `known` returns which of some names are in a row. Raises `StorageUnavailable`.
    """
    swept = 0
    with _reaching_storage() as files:
        for number in range(256):
            folder = f"{number:02x}"
            names: set[str] = set()
            # A folder is made with its first file.
            with suppress(FileNotFoundError):
                names = {f"{folder}/{file}" for file in files.listdir(folder)[1]}
            for name in names - known(names):
                if files.get_modified_time(name) < timezone.now() - KEPT_WITHOUT_ROW:
                    swept += 1
                    if not dry_run:
                        files.delete(name)
    return swept


def _is_local(files: Any) -> bool:
    return isinstance(files, FileSystemStorage)


def _failures(files: Any) -> tuple[type[Exception], ...]:
    """What the storage raises if it is away or full."""
    return (OSError, *getattr(files, "failures", ()))


@contextmanager
def _reaching_storage() -> Iterator[Any]:
    """Yield the storage; its failures become `StorageUnavailable`."""
    files = storages[ALIAS]
    try:
        with without_connection():
            yield files
    except _failures(files) as error:
        raise StorageUnavailable from error
