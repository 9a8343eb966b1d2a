"""What workers do: claim a file, clean or check it in another process, and store the result.

If a worker is killed, its lease of the file ends, and another one takes it. A file that keeps
killing workers is refused after a few attempts.
"""

import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from plugins.attachments.models import MAX_ATTEMPTS, Attachment, Refusal, State
from plugins.attachments.recognition import PICTURES, START_BYTES, kind_of
from plugins.attachments.storage import StorageUnavailable, copy, discard, keep
from tripcompanion.database.watching import DATABASE_AWAY

logger = logging.getLogger(__name__)

_PROGRAM = Path(__file__).with_name("cleaning.py")
_CHECK = Path(__file__).with_name("checking.py")
_SECONDS = 40
#: What the exit statuses of the programs mean; any other is that the file cannot be read.
_REFUSALS = {3: Refusal.TOO_MANY_PIXELS, 4: Refusal.MACROS, 5: Refusal.TOO_LARGE}
#: The statuses for which the picture is not to blame.
_KILLED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT}


def process(is_over: Callable[[], bool] = bool) -> bool:
    """Clean every picture that waits, until `is_over`; returns False if this host cannot.

    The storage may be away, or the disk for temporary files full. Call it outside transactions. Any
    number of processes may run it at once.
    """
    last = 0
    while not is_over() and (row := Attachment.claim(after=last)) is not None:
        last = row.created_by_id
        try:
            if row.attempts > MAX_ATTEMPTS:
                row.refuse(Refusal.UNREADABLE)
            else:
                _clean(row)
        except (StorageUnavailable, OSError) as error:
            logger.error("Pictures cannot be cleaned", exc_info=error)
            row.postpone()
            return False
        except DATABASE_AWAY:
            raise
        except Exception:
            # No row may stop the others. It is tried again after its lease.
            logger.exception("Attachment %s was not cleaned", row.pk)
    return True


def _clean(row: Attachment) -> None:
    with TemporaryDirectory(prefix="attachment-") as place:
        folder = Path(place)
        with (folder / "source").open("wb") as source:
            copy(row.file, source)
        status = _run(folder, row.type)
        if status in _KILLED:
            # From outside, perhaps for want of memory.
            row.release()
            return
        if status:
            row.refuse(_REFUSALS.get(status, Refusal.UNREADABLE))
            return
        if row.type not in PICTURES:
            row.accept()
            return
        with (folder / "cleaned").open("rb") as cleaned, (folder / "thumbnail").open("rb") as small:
            kind = kind_of(cleaned.read(START_BYTES))
            file = keep(cleaned)
            try:
                thumbnail = keep(small)
            except StorageUnavailable:
                discard(file)
                raise
        size_bytes = (folder / "cleaned").stat().st_size
        row.finish(
            state=State.READY, type=kind, file=file, thumbnail=thumbnail, size_bytes=size_bytes
        )


def _run(folder: Path, media_type: str) -> int:
    """The exit status of the program, or the negative number of the signal that ended it.

    A picture that takes too long would do so again.
    """
    # -P: the modules beside it are none of its own.
    program = _PROGRAM if media_type in PICTURES else _CHECK
    command = [sys.executable, "-P", str(program), str(folder), media_type]
    try:
        done = subprocess.run(  # noqa: S603 -- no shell, and nothing of a user's is in it
            command, check=False, timeout=_SECONDS, capture_output=True, env={}
        )
    except subprocess.TimeoutExpired:
        return -signal.SIGXCPU
    return done.returncode
