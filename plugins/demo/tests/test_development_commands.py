"""`make run` and `make demo` are for development, and refuse wherever production is configured."""

import socket
import subprocess
import sys

import pytest

from tests.checkout import make, newcomers_checkout, shell
from tests.document import ROOT
from tests.server import free_port

pytestmark = pytest.mark.once


@pytest.fixture
def checkout(tmp_path):
    return newcomers_checkout(tmp_path / "project")


def assert_refused(done, checkout):
    """It said one line of its own, and made neither a database nor a key."""
    assert done.returncode != 0
    assert done.stdout == ""
    line, makes_own = done.stderr.splitlines()
    assert line.startswith("Configuration error: ")
    assert line.endswith("this command is for development only.")
    assert makes_own.endswith("Error 1")
    assert not list(checkout.glob("db.sqlite3*"))
    assert not (checkout.parent / "home").exists()


@pytest.mark.parametrize("target", ["run", "demo"])
@pytest.mark.parametrize(
    ("env_file", "variables"),
    [
        ("", {"DEBUG": "false"}),
        ("DEBUG=true", {"DEBUG": "0"}),
        ("DEBUG=false", {}),
        ("DEBUG=False", {"DEBUG": "true"}),
        ("SECRET_KEY=nine-lonely-umbrellas-under-a-bridge-7", {}),
        ("ALLOWED_HOSTS=api.example.com\n", {}),
        ("# DEBUG=true\nCSRF_TRUSTED_ORIGINS=https://api.example.com", {"DEBUG": "true"}),
    ],
)
def test_production_is_refused_before_anything_is_written(checkout, target, env_file, variables):
    (checkout / ".env").write_text(env_file)
    assert_refused(make(checkout, target, **variables), checkout)


def test_production_that_is_named_on_the_command_line_is_refused_too(checkout):
    assert_refused(make(checkout, "run", "DEBUG=false"), checkout)


def test_a_wrong_word_is_named(checkout):
    done = make(checkout, "run", DEBUG="maybe")
    assert done.stderr.startswith("Configuration error: DEBUG must be true or false, not 'maybe'.")
    assert not list(checkout.glob("db.sqlite3*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"PORT": "abc"}, "PORT must be a whole number from 1 to 65535, not 'abc'."),
        (
            {"WEB_CONCURRENCY": "x"},
            "WEB_CONCURRENCY must be a whole number from 1 to 1000, not 'x'.",
        ),
        (
            {"FRONTEND_URL": "foo"},
            "FRONTEND_URL must be one origin such as http://localhost:4200, not 'foo'.",
        ),
        (
            {"DATABASE_URL": "postgres://u:p@127.0.0.1:1/x"},
            "The database in DATABASE_URL is unavailable: connection failed: connection to server "
            'at "127.0.0.1", port 1 failed: Connection refused',
        ),
    ],
)
def test_what_prevents_the_start_is_one_line(checkout, variables, line):
    done = make(checkout, "run", **variables)
    assert done.stdout == ""
    said, makes_own = done.stderr.splitlines()
    assert said.removeprefix("Configuration error: ") == line
    assert makes_own.endswith("Error 1")


def test_a_port_in_use_is_said_before_any_link(checkout):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = make(checkout, "run", PORT=str(port))
    assert done.stdout == ""
    assert f"Port {port} is in use" in done.stderr.splitlines()[0]


def test_tests_that_do_not_exist_are_one_line():
    done = subprocess.run(
        [sys.executable, "-m", "tests.databases", "tests/nope", "-k", "x"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("", "There is no tests/nope to test.\n")
    assert done.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_file", "variables"),
    [
        (None, {}),
        ("DEBUG=true\nALLOWED_HOSTS=localhost", {}),
        ("DEBUG=\nLOG_LEVEL=INFO", {"DEBUG": ""}),
    ],
)
def test_a_checkout_of_a_newcomer_serves_with_the_demo_data(checkout, env_file, variables):
    if env_file is not None:
        (checkout / ".env").write_text(env_file)
    done = make(checkout, "run", **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert "olga@example.com" in done.stdout
    assert done.stdout.endswith("serving with DEBUG=true\n")


@pytest.mark.slow
def test_the_core_alone_is_served_without_demo_data(checkout):
    (checkout / "gunicorn.py").write_text("import os; print(os.environ['PUBLIC_URL'])")
    port = str(free_port())
    done = make(checkout, "run", PLUGINS="", PORT=port)
    assert (done.returncode, done.stderr) == (0, "")
    assert "example.com" not in done.stdout
    assert done.stdout.endswith(f"http://localhost:{port}\n")


@pytest.mark.slow
@pytest.mark.parametrize("is_in_file", [True, False])
def test_production_says_where_it_serves(checkout, is_in_file):
    variables = {"PUBLIC_URL": "https://trips.example"} if not is_in_file else {}
    if is_in_file:
        (checkout / ".env").write_text("PUBLIC_URL=https://trips.example\n")
    key = "nine-lonely-umbrellas-under-a-bridge-7"
    done = make(checkout, "serve", SECRET_KEY=key, PORT="8123", **variables)
    assert (done.returncode, done.stderr) == (0, "")
    for said in ("port 8123", "https://trips.example/api/docs", "https://trips.example/admin"):
        assert f"{said}\n" in done.stdout or f"{said}, " in done.stdout
    assert done.stdout.endswith("serving with DEBUG=false\n")


@pytest.mark.slow
def test_a_database_of_other_people_gets_no_account_and_is_served(checkout):
    """T138: Development commands add no account to a database of others."""
    make(checkout, "run")
    rename = (
        "from users.models import User;"
        "User.objects.get(role='ADMIN').change(by=None, email='a@a.aa')"
    )
    shell(checkout, f'.venv/bin/python manage.py shell -v 0 -c "{rename}"')
    done = make(checkout, "run")
    assert (done.returncode, done.stderr) == (0, "")
    [line] = [line for line in done.stdout.splitlines() if line.startswith("Left out: ")]
    assert line.startswith("Left out: ada@example.com. This database has accounts that are not")
    assert "ada@example.com (ADMIN)" not in done.stdout
    assert done.stdout.endswith("serving with DEBUG=true\n")


@pytest.mark.slow
def test_manage_works_as_make_run_does_until_production_is_configured(checkout):
    show = (
        ".venv/bin/python manage.py shell -v 0 -c "
        '"from django.conf import settings; from users.models import User;'
        " print(settings.DEBUG, User.objects.filter(role='ADMIN').count())\""
    )
    required = "Configuration error: SECRET_KEY is required unless DEBUG=true;"
    assert shell(checkout, show, succeeds=False).stderr.startswith(required)
    make(checkout, "run")
    assert shell(checkout, show).stdout == "True 1\n"
    for name in ("DEBUG=false", "ALLOWED_HOSTS=api.example.com"):
        assert shell(checkout, f"{name} {show}", succeeds=False).stderr.startswith(required)
        (checkout / ".env").write_text(name)
        assert shell(checkout, show, succeeds=False).stderr.startswith(required)
        (checkout / ".env").unlink()
    key = "SECRET_KEY=nine-lonely-umbrellas-under-a-bridge-7"
    assert shell(checkout, f"{key} {show}").stdout == "False 1\n"
    # A server has to be told.
    serve = ".venv/bin/python -c 'import django; django.setup()'"
    settings = "DJANGO_SETTINGS_MODULE=tripcompanion.settings"
    assert shell(checkout, f"{settings} {serve}", succeeds=False).stderr.startswith(required)
    make(checkout, "serve", SECRET_KEY=key.partition("=")[2])
    assert shell(checkout, show, succeeds=False).stderr.startswith(required)
