#!/usr/bin/env python
"""Django's command line for Trip Companion."""

import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line
from django.db import OperationalError

from tripcompanion.environment import assume_development


def is_unreachable(error: OperationalError) -> bool:
    """Whether there is no connection, as opposed to a statement that failed on one."""
    cause = error.__cause__
    cannot_open = getattr(cause, "sqlite_errorname", None) == "SQLITE_CANTOPEN"
    # psycopg sets it to None if the server sent no response.
    return cannot_open or getattr(cause, "sqlstate", "") is None


if __name__ == "__main__":
    assume_development(Path(__file__).resolve().parent)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        if "--traceback" in sys.argv or not is_unreachable(error):
            raise
        reason = str(error).partition("\n")[0]
        sys.exit(f"The database in DATABASE_URL is unavailable: {reason}")
