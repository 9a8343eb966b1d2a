"""gunicorn's configuration, in production and for `make run`; gunicorn reads it automatically.

PORT and WEB_CONCURRENCY come from the environment or `.env`; an invalid value prevents the start.
Start it with `python -m tripcompanion`: gunicorn reads WEB_CONCURRENCY before this file.
"""

import ctypes
import gc
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from gunicorn.http.errors import InvalidHeader

from tripcompanion import environment as env
from tripcompanion.observability.logs import FORMATS, log_format, logging_settings
from tripcompanion.serving import preflight

# No request waits forever; settings.py derives the database's time-outs from this value.
os.environ.setdefault("DATABASE_TIMEOUT", "5")

wsgi_app = "tripcompanion.serving.wsgi:application"
bind = f"0.0.0.0:{preflight.port()}"

workers = preflight.processes()
worker_class = "tripcompanion.serving.server.DrainingWorker"
logger_class = "tripcompanion.serving.server.Logger"
# These threads only wait for clients, so there may be many; a slow client occupies one of them.
# While it runs the application, a thread has one of the few connections of serving/wsgi.py.
# 512 of them are for clients that wait (api/keeping.py).
threads = 256 + 512
worker_connections = 1500
# Longer than a proxy keeps an idle connection, so that the proxy is the one that closes it.
keepalive = 75
# The cursor of somebody in a thousand trips is in the URL of GET /api/changes; the default is 4094.
limit_request_line = 8190
# gunicorn trusts no proxy headers; the application trusts NUM_PROXIES proxies.
forwarded_allow_ips = ""
# Load the application once, before forking: an invalid setting then stops the start instead of
# every worker. It must not open connections while it loads, because the workers would share them.
preload_app = True

#: A folder for files that are written often.
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 -- a tmpfs
_METRICS_PREFIX = "tripcompanion-metrics-"


def _prepare_metrics() -> Path:
    """The folder in which this server's processes count for `/metrics`.

    Its name contains the process id. After a reload, which runs this file again, the folder and its
    counts stay; a process that replaces this one makes its own. Folders of killed servers are
    removed.
    """
    own = f"{_METRICS_PREFIX}{os.getpid()}-"
    given = Path(os.environ.get("PROMETHEUS_MULTIPROC_DIR", ""))
    if given.name.startswith(own):
        return given
    folder = Path(tempfile.mkdtemp(prefix=own, dir=_IN_MEMORY))
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    for other in folder.parent.glob(f"{_METRICS_PREFIX}*-*"):
        process_id = other.name.removeprefix(_METRICS_PREFIX).partition("-")[0]
        if process_id.isdecimal() and not _is_running(int(process_id)):
            shutil.rmtree(other, ignore_errors=True)
    return folder


def _is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


if env.text("METRICS_TOKEN"):
    # Before prometheus_client is imported, which then counts in this folder.
    _metrics_folder = _prepare_metrics()

    from prometheus_client.multiprocess import mark_process_dead

    def child_exit(_server: Any, worker: Any) -> None:
        """Forget what only a living process has, such as requests in progress; keep its counts."""
        mark_process_dead(worker.pid)

    def on_exit(_server: Any) -> None:
        shutil.rmtree(_metrics_folder, ignore_errors=True)


def _glibc(function: str, *arguments: int) -> None:
    """Call a function of the C library, if it is glibc."""
    with suppress(AttributeError, OSError):
        getattr(ctypes.CDLL(None), function)(*arguments)


def on_starting(server: Any) -> None:
    """Stop if a port is in use; gunicorn itself tries for five seconds and logs each attempt.

    Sockets that were inherited, from an upgrade with USR2 or from systemd, are in use already.
    """
    if "GUNICORN_FD" not in os.environ and "LISTEN_FDS" not in os.environ:
        for address in server.cfg.address:
            if isinstance(address, tuple):
                preflight.require_free(*address[:2])


def when_ready(_server: Any) -> None:
    """Make glibc return freed memory, and freeze the loaded objects.

    glibc has one heap for all threads, of which it keeps at most 4 MiB. Otherwise every thread
    keeps the memory of its largest response. Blocks from 1 MiB on, such as the 19 MiB of a login,
    are returned at once. With glibc's own threshold of 128 KiB, a page of expenses would take new
    memory from the system for each response, and a twentieth more time.

    Workers share frozen objects, and their garbage collectors skip them. A response with thousands
    of rows creates many short-lived objects; with the default threshold of 700, the search for
    cycles takes a tenth of the time.
    """
    _glibc("mallopt", -8, 1)  # M_ARENA_MAX
    _glibc("mallopt", -1, 4 * 1024 * 1024)  # M_TRIM_THRESHOLD
    _glibc("mallopt", -3, 1024 * 1024)  # M_MMAP_THRESHOLD
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


#: The application rejects larger bodies (`DATA_UPLOAD_MAX_MEMORY_SIZE`).
MAX_BODY_BYTES = 1024 * 1024
#: Headers that may not be repeated: gunicorn joins them with a comma, which makes a third value.
SINGLE_HEADERS = ("AUTHORIZATION", "IDEMPOTENCY-KEY")


def pre_request(_worker: Any, request: Any) -> None:
    """Reject repeated headers; close the connection after a body that is rejected unread."""
    names = [name for name, _value in request.headers]
    for name in SINGLE_HEADERS:
        if names.count(name) > 1:
            raise InvalidHeader(name)
    lengths = [int(value) for name, value in request.headers if name == "CONTENT-LENGTH"]
    if max(lengths, default=0) > MAX_BODY_BYTES:
        request.force_close()


#: From this size on, a response leaves freed memory behind that is worth returning.
_LARGE_RESPONSE_BYTES = 256 * 1024


def post_request(_worker: Any, _request: Any, _environ: Any, response: Any) -> None:
    """Return memory between blocks in use, too: that is 20 MB after lists of thousands.

    So a process stays below 150 MB whatever it has answered, and none needs to be replaced.
    """
    if response.sent > _LARGE_RESPONSE_BYTES:
        _glibc("malloc_trim", 0)


timeout = 30
graceful_timeout = 30

# The server's log lines have the application's format.
logconfig_dict = logging_settings(
    env.choice("LOG_LEVEL", "WARNING", env.LOG_LEVELS),
    env.choice("LOG_FORMAT", log_format(env.boolean("DEBUG", False)), FORMATS),
)
logconfig_dict["loggers"]["gunicorn.error"] = {"level": "INFO", "propagate": True}

# The server is controlled with signals only, not through a socket.
control_socket_disable = True
# On a disk, the heartbeat file can stall behind other writes, and the worker would be killed.
worker_tmp_dir = _IN_MEMORY
