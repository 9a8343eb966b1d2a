"""How gunicorn serves the API, in production and under `make run`; gunicorn reads it by itself.

PORT and WEB_CONCURRENCY come from the environment or `.env`; a wrong value stops the start.
Start it by `python -m tripcompanion`: gunicorn reads WEB_CONCURRENCY before it reads this file.
"""

import ctypes
import gc
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from dotenv import load_dotenv

from tripcompanion import environment as env
from tripcompanion.kit.logs import FORMATS, log_format, logging_settings

load_dotenv(Path(__file__).with_name(".env"))

# No request waits for ever; settings.py says what follows from it.
os.environ.setdefault("DATABASE_TIMEOUT", "5")

port = env.count("PORT", 8000, minimum=1, maximum=65535)

wsgi_app = "tripcompanion.wsgi:application"
bind = f"0.0.0.0:{port}"

# A request waits for the database for a part of its time, so a few threads fill a core. Each has a
# connection, which it keeps; see DATABASE_POOL_SIZE.
workers = env.count("WEB_CONCURRENCY", os.cpu_count() or 1, minimum=1)
worker_class = "tripcompanion.server.PatientWorker"
threads = env.count("DATABASE_POOL_SIZE", 4) or 4
# Loaded once, before the workers are: a wrong setting ends the start, not each worker anew. The
# application must not connect to anything while it loads, for the workers would share that.
preload_app = True


def _return_memory() -> None:
    """Ask glibc to give freed memory back: one heap for all threads, and a short tail.

    Else every thread keeps what its longest answer took.
    """
    with suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-8, 1)  # M_ARENA_MAX
        mallopt(-1, 128 * 1024)  # M_TRIM_THRESHOLD


def when_ready(_server: Any) -> None:
    """What is loaded stays: workers share it, and their collector does not look through it.

    An answer of thousands of rows makes many objects at once and keeps none; the default of 700
    between two collections has a tenth of the time go into looking for cycles.
    """
    _return_memory()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


timeout = 30
graceful_timeout = 30

# The server's own lines look like the application's.
logconfig_dict = logging_settings(
    env.choice("LOG_LEVEL", "WARNING", env.LOG_LEVELS),
    env.choice("LOG_FORMAT", log_format(env.boolean("DEBUG", False)), FORMATS),
)
logconfig_dict["loggers"]["gunicorn.error"] = {"level": "INFO", "propagate": True}

# Nobody commands the server through a socket; signals are enough.
control_socket_disable = True
# The heartbeat file on a disk can stall behind other writes, and the worker is then killed.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
