"""A folder on a disk that is full."""

import errno
from typing import Any, ClassVar

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage


class FullDisk(FileSystemStorage):
    """Stores what there is room for, and then raises what a full disk raises."""

    room_bytes: ClassVar[int] = 0

    def _save(self, name: str, content: Any) -> str:
        start = content.read(FullDisk.room_bytes)
        saved = super()._save(name, ContentFile(start))
        FullDisk.room_bytes -= len(start)
        if len(start) < content.size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return saved
