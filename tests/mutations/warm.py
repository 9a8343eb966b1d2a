"""Runs pytest repeatedly without repeated imports, in forks of one warm process.

The process has imported the libraries but nothing of the project, so each fork loads the code of
the checkout that it runs in.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_FORKS = """
import importlib, json, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import pytest
for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        output = os.open(job["output"], os.O_WRONLY)
        for number in (1, 2):
            os.dup2(output, number)
        os.chdir(job["folder"])
        os.environ.clear()
        os.environ.update(job["environment"])
        sys.path[0] = job["folder"]
        code = pytest.main(job["arguments"])
        sys.stdout.flush()
        os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
_LIBRARIES = (
    *("pytest", "pytest_django.plugin", "xdist.plugin", "hypothesis", "_hypothesis_pytestplugin"),
    *("django.test", "django.db.models", "django.contrib.auth.hashers", "psycopg"),
    *("factory", "httpx", "jwt", "orjson", "yaml", "jsonschema", "time_machine", "argon2"),
    *("django.db.migrations.loader", "django.core.management.commands.migrate", "babel"),
)


class WarmPytest:
    """`run` is one run of pytest in a folder."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _FORKS, *_LIBRARIES]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def run(self, folder: Path, environment: dict[str, str], arguments: list[str]) -> Any:
        """The exit status and what was printed."""
        with tempfile.NamedTemporaryFile() as output:
            job = {
                "folder": str(folder),
                "environment": os.environ | environment,
                "arguments": arguments,
                "output": output.name,
            }
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(f"{json.dumps(job)}\n")
            self._process.stdin.flush()
            self._process.stdout.readline()
            status = int(self._process.stdout.readline())
            return status, Path(output.name).read_text(errors="replace")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
