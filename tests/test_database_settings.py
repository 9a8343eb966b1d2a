"""DATABASE_URL and DATABASE_POOLER: Django's settings, and what is refused."""

import pytest

from tripcompanion.database.connections import connection_settings

pytestmark = pytest.mark.once

URL = "postgres://user:password@db.example.com:5433/trips"
POOLED = {"prepare": False, "pooler": "transaction"}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What the settings change in the environment is restored after the test."""
    monkeypatch.setenv("PGTZ", "Asia/Tokyo")
    monkeypatch.delenv("PGOPTIONS", raising=False)


def connected(url=URL, timeout_seconds=5, **others):
    values = {"pool_size": 4, "prepare": True, "pooler": "none"} | others
    return connection_settings(url, timeout_seconds=timeout_seconds, **values)


@pytest.mark.parametrize(
    ("hosts", "meant"),
    [
        (
            "one.example.com:5432,two.example.com:5433",
            ("one.example.com,two.example.com", "5432,5433"),
        ),
        ("one.example.com,two.example.com", ("one.example.com,two.example.com", "5432,5432")),
        ("one.example.com,two.example.com:5433", ("one.example.com,two.example.com", "5432,5433")),
        ("[::1]:5433,[::2]", ("::1,::2", "5433,5432")),
    ],
)
def test_several_hosts_are_libpqs_to_choose_from(hosts, meant):
    query = "target_session_attrs=read-write&sslmode=require"
    database = connected(f"postgres://user:p%40s%2Cs@{hosts}/trips?{query}")
    assert (database["HOST"], database["PORT"]) == meant
    assert (database["USER"], database["PASSWORD"]) == ("user", "p@s,s")
    assert (database["NAME"], database["ENGINE"]) == ("trips", "tripcompanion.database.postgresql")
    options = database["OPTIONS"]
    assert (options["target_session_attrs"], options["sslmode"]) == ("read-write", "require")


def test_a_comma_elsewhere_is_no_second_host():
    database = connected(
        "postgres://user:pass,word@db.example.com:5433/trips,1?application_name=a,b"
    )
    assert (database["HOST"], database["PORT"]) == ("db.example.com", 5433)
    assert (database["PASSWORD"], database["NAME"]) == ("pass,word", "trips,1")


@pytest.mark.parametrize(
    "rest", ["one:5432,two:port/trips", "one,two/trips?port=1,2,3", "one,two/trips?unknown=1"]
)
def test_hosts_that_libpq_would_refuse_are_refused_in_one_line(rest):
    with pytest.raises(SystemExit, match="DATABASE_URL must look like") as refused:
        connected(f"postgres://user:password1@{rest}")
    assert "password1" not in str(refused.value)


def test_without_a_pooler_the_session_has_the_time_outs():
    options = connected()["OPTIONS"]
    assert options["options"].split() == [
        *("-c", "jit=off", "-c", "statement_timeout=5s", "-c", "lock_timeout=2s"),
        *("-c", "idle_in_transaction_session_timeout=10s"),
    ]
    assert options["prepare_threshold"] == 5
    assert not {"is_pooled", "local_settings"} & options.keys()


def test_with_a_pooler_each_transaction_has_them_and_the_session_nothing():
    options = connected(**POOLED)["OPTIONS"]
    assert "options" not in options
    assert options["prepare_threshold"] is None
    assert (options["is_pooled"], options["local_settings"]) == (
        True,
        {
            "jit": "off",
            "statement_timeout": "5s",
            "lock_timeout": "2s",
            "idle_in_transaction_session_timeout": "10s",
        },
    )


def test_with_a_pooler_commands_set_nothing_so_that_every_statement_can_run():
    options = connected(timeout_seconds=0, **POOLED)["OPTIONS"]
    assert (options["is_pooled"], options["local_settings"]) == (True, {})
    assert "wait_seconds" not in options


@pytest.mark.parametrize(
    ("url", "others", "reason"),
    [
        ("sqlite:///db.sqlite3", POOLED, "DATABASE_POOLER needs PostgreSQL"),
        (f"{URL}?options=-c%20jit%3Don", POOLED, "DATABASE_URL sets options"),
        (f"{URL}?currentSchema=trips", POOLED, "DATABASE_URL sets options"),
        (f"{URL}?assume_role=trips", POOLED, "DATABASE_URL sets assume_role"),
    ],
)
def test_what_a_pooler_cannot_keep_is_refused_in_one_line(url, others, reason):
    with pytest.raises(SystemExit, match=reason) as refused:
        connected(url, **others)
    assert "\n" not in str(refused.value)
    assert "password" not in str(refused.value)


def test_options_of_the_environment_are_refused_too(monkeypatch):
    monkeypatch.setenv("PGOPTIONS", "-c jit=on")
    assert connected()
    with pytest.raises(SystemExit, match="PGOPTIONS cannot be used"):
        connected(**POOLED)
