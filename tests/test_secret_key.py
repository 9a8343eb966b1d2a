"""The secret key: production needs its own, and development makes one and keeps it."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.checkout import LOAD, assert_stopped, run, settings_of

pytestmark = pytest.mark.once

WRONG_SECRETS = (
    *("x", "a" * 31, "short-but-otherwise-good-key-31", "change-me" * 8, "CHANGEME" * 8),
    *("django-insecure-" + "k3y!" * 12, " " * 50, "a" * 50),
)


@pytest.mark.slow
@pytest.mark.parametrize("value", [None, "", *WRONG_SECRETS], ids=repr)
def test_production_refuses_to_start_without_a_secret_of_its_own(project, value):
    variables = {} if value is None else {"SECRET_KEY": value}
    done = run(project, "-c", LOAD, **variables)
    assert_stopped(done, "SECRET_KEY")
    assert len(value or "") < 8 or value not in done.stderr


def test_a_development_key_never_signs_in_production(project):
    settings_of(project, "SECRET_KEY", DEBUG="true")
    assert_stopped(run(project, "-c", LOAD), "SECRET_KEY")


def test_development_makes_its_key_once_and_keeps_it_outside_the_repository(project):
    before = sorted(project.rglob("*"))
    first, second = (
        settings_of(project, "SECRET_KEY", DEBUG="true")["SECRET_KEY"] for _count in range(2)
    )
    assert first == second
    assert len(first) >= 50
    assert sorted(project.rglob("*")) == before
    file = project.parent / "home" / ".local" / "state" / "tripcompanion" / "secret_key"
    assert file.read_text() == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_state_folder_of_the_user_is_respected(project, tmp_path):
    state = str(tmp_path / "state")
    key = settings_of(project, "SECRET_KEY", DEBUG="true", XDG_STATE_HOME=state)["SECRET_KEY"]
    assert (tmp_path / "state" / "tripcompanion" / "secret_key").read_text() == key
    assert not (tmp_path / "home" / ".local").exists()


def test_processes_that_start_at_once_agree_on_one_key(project):
    with ThreadPoolExecutor(6) as pool:
        keys = pool.map(lambda _at: settings_of(project, "SECRET_KEY", DEBUG="true"), range(6))
        assert len({str(key) for key in keys}) == 1
    kept = list((project.parent / "home" / ".local" / "state" / "tripcompanion").iterdir())
    assert [file.name for file in kept] == ["secret_key"]
