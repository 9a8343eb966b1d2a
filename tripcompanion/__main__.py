"""Starts the server: `python -m tripcompanion`, with gunicorn's arguments.

gunicorn reads WEB_CONCURRENCY when it is imported, before any configuration file, and fails with a
traceback on an invalid value. So the value is checked before gunicorn starts.
"""

import runpy

from tripcompanion.serving import preflight

preflight.processes()
runpy.run_module("gunicorn", run_name="__main__", alter_sys=True)
