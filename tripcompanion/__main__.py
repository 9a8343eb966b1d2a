"""Starts the server: `python -m tripcompanion`, with the arguments of gunicorn.

gunicorn reads WEB_CONCURRENCY while it is imported, before any configuration of ours, and answers
a wrong value with a traceback. So the value is checked before gunicorn starts.
"""

import os
import runpy

from tripcompanion import environment as env

workers = env.count("WEB_CONCURRENCY", 0, minimum=1)
if not workers:
    # An empty value is none.
    os.environ.pop("WEB_CONCURRENCY", None)
runpy.run_module("gunicorn", run_name="__main__", alter_sys=True)
