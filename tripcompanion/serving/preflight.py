"""What prevents the server from starting: an invalid PORT or WEB_CONCURRENCY, or a port in use.

`tripcompanion run` checks its address; gunicorn.conf.py checks every address again, immediately
before the server listens.
"""

import errno
import os
import socket

from tripcompanion import environment as env


def _drop_empty() -> None:
    """An empty WEB_CONCURRENCY means unset; gunicorn would not start with it."""
    if not os.environ.get("WEB_CONCURRENCY", "").strip():
        os.environ.pop("WEB_CONCURRENCY", None)


_drop_empty()
env.load(env.DATA_DIR / ".env")
_drop_empty()

_MAX_PORT = 65535
_MAX_PROCESSES = 1000


def port() -> int:
    return env.count("PORT", 8000, minimum=1, maximum=_MAX_PORT)


def processes() -> int:
    """One per core unless WEB_CONCURRENCY is set."""
    return env.count("WEB_CONCURRENCY", os.cpu_count() or 1, minimum=1, maximum=_MAX_PROCESSES)


def require_free(host: str, number: int) -> None:
    """Stop the process with one line if nothing can listen on this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the server does: connections that are still closing do not occupy the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, number))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                other = number + 1000 if number + 1000 <= _MAX_PORT else 8000
                env.refuse(f"Port {number} is in use; choose another, for example PORT={other}.")
            env.refuse(f"The server cannot listen on {host}:{number}: {error.strerror}.")
