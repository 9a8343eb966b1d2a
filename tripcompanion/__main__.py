"""Trip Companion: plan trips together, share what they cost, and see who owes whom.

  tripcompanion run          serve with demo data on this machine; no setup is needed
  tripcompanion serve        serve with the settings of production; gunicorn's arguments may follow
  tripcompanion work         send mails and webhooks, clean pictures, and so on, until it is stopped
  tripcompanion migrate      migrate the database beside servers that use it
  tripcompanion manage ...   run a command of Django; `tripcompanion manage help` lists them

Settings come from the environment, or from `.env` in the folder DATA_DIR.
"""

import os
import runpy
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import Process
from pathlib import Path

from django.core.management import execute_from_command_line
from django.db import OperationalError

from tripcompanion import environment as env
from tripcompanion.plugin import plugins
from tripcompanion.serving import preflight

#: gunicorn's configuration in a wheel; elsewhere gunicorn finds it in the working directory.
_CONFIGURATION = Path(__file__).with_name("gunicorn.conf.py")


def manage(*arguments: str) -> None:
    """Run a command of Django. A database that is unavailable is one line."""
    env.assume_development()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    try:
        execute_from_command_line(["manage.py", *arguments])
    except OperationalError as error:
        if "--traceback" in arguments or not is_unreachable(error):
            raise
        reason = str(error).partition("\n")[0]
        sys.exit(f"The database in DATABASE_URL is unavailable: {reason}")


def is_unreachable(error: OperationalError) -> bool:
    """Whether there is no connection, as opposed to a statement that failed on one."""
    cause = error.__cause__
    cannot_open = getattr(cause, "sqlite_errorname", None) == "SQLITE_CANTOPEN"
    # psycopg sets it to None if the server sent no response.
    return cannot_open or getattr(cause, "sqlstate", "") is None


def serve(*arguments: str) -> None:
    """Become gunicorn.

    It reads WEB_CONCURRENCY when it is imported, before any configuration file, and fails with a
    traceback on an invalid value. So the value is checked before.
    """
    preflight.processes()
    if not env.boolean("DEBUG", False):
        with suppress(OSError):
            env.DEVELOPMENT_MARK.unlink()
    if _CONFIGURATION.exists():
        # In another folder, gunicorn would prefer modules that are there by chance.
        arguments = (f"--config={_CONFIGURATION}", f"--chdir={env.BASE_DIR}", *arguments)
    sys.argv[1:] = arguments
    runpy.run_module("gunicorn", run_name="__main__", alter_sys=True)


def run() -> None:
    """Migrate, load what plugins show at first, and serve on this machine with DEBUG."""
    env.require_development(env.DATA_DIR / ".env")
    os.environ["DEBUG"] = "true"
    os.environ.setdefault("WEB_CONCURRENCY", "1")
    preflight.processes()
    # The image sets it: nobody else reaches 127.0.0.1 in a container.
    host, port = os.environ.get("RUN_HOST", "127.0.0.1"), preflight.port()
    address = f"http://localhost:{port}"
    os.environ.setdefault("PUBLIC_URL", address)
    preflight.require_free(host, port)
    env.DEVELOPMENT_MARK.touch()
    # In another process, whose memory and connections the server does not keep.
    preparing = Process(target=_prepare)
    preparing.start()
    preparing.join()
    if preparing.exitcode:
        sys.exit(preparing.exitcode)
    sys.stdout.write(f"\n  API docs    {address}/api/docs\n  Admin site  {address}/admin\n\n")
    sys.stdout.flush()
    serve(f"--bind={host}:{port}")


def _prepare() -> None:
    manage("migrate_safely", "--verbosity", "0")
    for app in plugins():
        for command in app.first_commands:
            manage(*command)


COMMANDS: dict[str, Callable[..., None]] = {
    "run": run,
    "serve": serve,
    "work": partial(manage, "work"),
    "migrate": partial(manage, "migrate_safely"),
    "manage": manage,
}


def main() -> None:
    name, *arguments = sys.argv[1:] or ["help"]
    if name not in COMMANDS:
        sys.stderr.write(str(__doc__))
        sys.exit(name not in {"help", "--help", "-h"})
    with suppress(OSError):
        env.DATA_DIR.mkdir(parents=True, exist_ok=True)
    COMMANDS[name](*arguments)


if __name__ == "__main__":
    # As a module it serves, unless it is told what to do.
    if not COMMANDS.keys() & set(sys.argv[1:2]):
        sys.argv.insert(1, "serve")
    main()
