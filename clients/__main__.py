"""Generates clients from openapi.yaml, compiles them and uses them: `python -m clients`.

With --check it fails if the package in clients/typescript was not up to date.
"""

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

from clients.accounts import Account
from tests.programs import REQUIRE_ALL
from tests.server import running_server

FOLDER = Path(__file__).parent
PACKAGE = FOLDER / "typescript" / "dist"
COMPILED = FOLDER / "generated" / "compiled"
PYTHON_CLIENT = FOLDER / "generated" / "python" / "trip_companion_client"
#: A virtual environment without the project, as somebody else's project would have.
PYTHON = FOLDER.parent / ".venv" / "clients" / "bin" / "python"
#: Another one, if there is Python 3.13.
NEWER_PYTHON = FOLDER.parent / ".venv" / "clients-3.13" / "bin" / "python"


def run(title: str, *command: str | Path, cwd: Path = FOLDER, **environment: str) -> None:
    """Run a command in `cwd`; if it fails, print its output and exit."""
    started = time.monotonic()
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{title}: failed")
    sys.stdout.write(f"{title} ({time.monotonic() - started:.1f} s)\n")
    sys.stdout.flush()


def lint() -> None:
    run("Redocly accepts openapi.yaml", "npm", "run", "redocly", REDOCLY_TELEMETRY="off")
    run("Spectral accepts openapi.yaml", "npm", "run", "spectral")


def build_typescript() -> None:
    run("openapi-typescript generates types", "npm", "run", "openapi-typescript")
    run("@hey-api/openapi-ts generates a client", "npm", "run", "hey-api")
    run("tsc --strict compiles both", "npm", "run", "tsc")


def build_python() -> None:
    document = ("--path", FOLDER.parent / "openapi.yaml", "--config", "openapi-python-client.yaml")
    output = ("--meta", "none", "--output-path", PYTHON_CLIENT, "--overwrite", "--fail-on-warning")
    generate = (PYTHON, "-m", "openapi_python_client", "generate", *document, *output)
    run("openapi-python-client generates a client", *generate)
    mypy = (PYTHON, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=../.venv/clients/mypy")
    types = {"MYPYPATH": str(PYTHON_CLIENT.parent)}
    run("mypy --strict accepts it", *mypy, "play.py", PYTHON_CLIENT, **types)


def play() -> None:
    """Use every client against a server with a new database."""
    with running_server(LOG_LEVEL="ERROR", SPLITWISE_API="true") as server:
        for name in ("play.js", "play-hey-api.js"):
            run(f"{name} succeeds", "node", COMPILED / name, server.url)
        path = {"PYTHONPATH": str(PYTHON_CLIENT.parent)}
        run("play.py succeeds", PYTHON, "play.py", server.url, **path)
        for name in ("play_splitwise.py", "play_splitwise_mcp.py"):
            run(f"{name} succeeds", PYTHON, name, server.url)
        secret = secrets.token_hex(32)
        server.manage(
            *("createapplication", "confidential", "authorization-code", "--client-id", "story"),
            *("--client-secret", secret, "--redirect-uris", "https://story.example/back"),
        )
        plain = {"OAUTHLIB_INSECURE_TRANSPORT": "1"}
        oauth = (PYTHON, "play_splitwise_oauth.py", server.url, secret)
        run("play_splitwise_oauth.py succeeds", *oauth, **plain)
        server.manage(
            *("createapplication", "confidential", "client-credentials", "--client-id", "robot"),
            *("--client-secret", secret, "--user", str(Account(server.url, "Robot").id)),
        )
        run("play-splitwise.js succeeds", "node", "play-splitwise.js", server.url, secret)
        if NEWER_PYTHON.exists():
            amazing = "play_amazing_splitwise.py"
            run(f"{amazing} succeeds", NEWER_PYTHON, amazing, server.url)
        elif REQUIRE_ALL:
            sys.exit("play_amazing_splitwise.py needs Python 3.13")
        else:
            sys.stdout.write("play_amazing_splitwise.py was skipped: it needs Python 3.13\n")


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def main(arguments: list[str]) -> None:
    before = contents(PACKAGE)
    lint()
    build_typescript()
    build_python()
    play()
    if "--check" in arguments and contents(PACKAGE) != before:
        sys.exit("clients/typescript was not up to date; it is now: commit it.")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    main(sys.argv[1:])
