"""The wheel runs as the README says, without a checkout, and has all that it needs.

With WHEEL it is that one, and pip installs what it depends on; with SERVED, the URL of a service,
that one runs the tour. `make release` does so. Otherwise a wheel is built, and runs with the
packages of this process.
"""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from plugins.demo.tests.test_readme import DOCS, README, Comparison, parsed, play, tour
from tests.document import usual_plugins
from tests.server import ROOT, START_SECONDS, free_port

pytestmark = [pytest.mark.once, pytest.mark.slow]

ADDRESS = "git+https://git.example.com/trip-companion.git"
#: Where the wheel has files that are elsewhere in a checkout.
PLACES = {
    "gunicorn.conf.py": "tripcompanion/gunicorn.conf.py",
    "openapi.yaml": "tripcompanion/openapi.yaml",
    "locale": "tripcompanion/api/locale",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if given := os.environ.get("WHEEL"):
        return Path(given)
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [file] = folder.glob("*.whl")
    return file


def test_the_wheel_has_every_file_but_tests(wheel):
    listed = ["git", "ls-files", "tripcompanion", "users", "trips", "splits", "plugins", *PLACES]
    files = subprocess.check_output(listed, cwd=ROOT, text=True).split()
    expected = set()
    for file in (Path(file) for file in files if "tests" not in Path(file).parts):
        first = file.parts[0]
        expected.add(str(Path(PLACES.get(first, first), *file.parts[1:])))
    with ZipFile(wheel) as members:
        found = {name for name in members.namelist() if ".dist-info/" not in name}
    assert expected <= found
    assert not [name for name in found - expected if "tests" in Path(name).parts]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Nothing of this process's, but its packages unless there is a network."""
    folder, libraries = tmp_path_factory.mktemp("nothing"), sysconfig.get_path("purelib")
    packages = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PYTHONPATH": libraries}
    return ({} if "WHEEL" in os.environ else packages) | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "PWD": str(folder),
        "PORT": str(free_port()),
    }


@pytest.fixture(scope="module")
def served(request, environment):
    """The URL of what the README starts."""
    if given := os.environ.get("SERVED"):
        yield given
        return
    wheel: Path = request.getfixturevalue("wheel")
    [block] = re.findall(r"^```sh\n(python3 -m venv .*?)^```$", README, re.M | re.S)
    script = block.replace(ADDRESS, str(wheel))
    assert script != block
    command = ["sh", "-eu", "-c", script]
    url, deadline = f"http://localhost:{environment['PORT']}", time.monotonic() + 10 * START_SECONDS
    with subprocess.Popen(
        command, cwd=environment["PWD"], env=environment, start_new_session=True
    ) as process:
        try:
            while True:
                assert process.poll() is None
                assert time.monotonic() < deadline
                try:
                    httpx.get(f"{url}/api/health").raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.1)
            yield url
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def installed(environment, *arguments):
    command = [f"{environment['PWD']}/trips/bin/tripcompanion", *arguments]
    return subprocess.Popen(
        command,
        cwd=environment["PWD"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@usual_plugins
@pytest.mark.needs("curl")
def test_the_tour_runs_with_it(served):
    [(first, shown)] = tour(README, "Who owes whom")
    [balances] = play([first], served)
    Comparison().require(parsed(shown), parsed(balances), "balances")
    play([block for block, _answer in tour(DOCS["tour"], "A tour with curl")], served)


def test_it_has_pages_translations_and_a_folder_for_its_data(served, environment):
    pages = ("/", "/api/docs", "/api/schema", "/admin/login/", "/favicon.svg")
    for page in (*pages, "/static/admin/css/base.css"):
        assert httpx.get(f"{served}{page}", timeout=60).status_code == 200, page
    refusal = httpx.get(f"{served}/api/users/me", headers={"Accept-Language": "es"}).json()
    assert refusal["title"] == "No autorizado"
    home, folder = Path(environment["HOME"]), Path(environment["PWD"])
    assert (home / ".local/share/tripcompanion/db.sqlite3").exists()
    assert (home / ".local/state/tripcompanion/secret_key").stat().st_mode & 0o077 == 0
    assert {path.name for path in folder.iterdir()} == {"home", "trips"}


@pytest.mark.usefixtures("served")
def test_its_other_commands_use_the_same_data(environment):
    count = "from users.models import User; print(User.objects.filter(role='ADMIN').count())"
    for arguments, said in (
        (("migrate", "--verbosity", "0"), ""),
        (("manage", "shell", "-v", "0", "-c", count), "1\n"),
        (("manage", "send_mail_queue"), "mails sent"),
    ):
        process = installed(environment, *arguments)
        output, _nothing = process.communicate(timeout=60)
        assert process.returncode == 0, output
        assert said in output
    for arguments, status in ((("--help",), 0), (("rnu",), 1)):
        process = installed(environment, *arguments)
        assert "tripcompanion migrate" in process.communicate(timeout=60)[0]
        assert process.returncode == status


@pytest.mark.usefixtures("served")
def test_production_is_not_assumed(environment):
    process = installed(environment, "serve")
    output, _nothing = process.communicate(timeout=60)
    assert "SECRET_KEY is required unless DEBUG=true" in output
    assert process.returncode == 1
