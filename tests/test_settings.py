"""Every variable of the environment: its default, and what a wrong value says before it stops."""

import re
import socket
from pathlib import Path

import pytest

from tests.checkout import LOAD, SECRET, assert_stopped, run, settings_of, start_each
from tests.document import ROOT, usual_plugins

pytestmark = pytest.mark.once

WRONG = {
    "DEBUG": ("maybe", "2", "on"),
    "DATABASE_URL": (
        *("nonsense", "postgres//user@host/name", "http://example.com", "mysql://u:p4ssw0rd@h/n"),
        *("postgres://u:p4ssw0rd@host:port/name", "oracle://u@h/n", "sqlite", "db.sqlite3"),
    ),
    "DATABASE_POOL_SIZE": ("-1", "many", "1.5"),
    "DATABASE_PREPARE": ("maybe", "auto"),
    "DATABASE_POOLER": ("session", "true"),
    "COMPILED_QUERIES": ("maybe",),
    "CACHE_URL": (
        *("localhost:6379", "memcached://localhost", "redis:6379", "locmem"),
        *("redis://:p4ssw0rd@h:port", "redis://h:65536", "redis://h?db=x", "redis://h?unknown=1"),
    ),
    "ALLOWED_HOSTS": ("https://api.example.com", "api.example.com/api", "a b"),
    "CORS_ALLOWED_ORIGINS": (
        *("localhost:4200", "http://localhost:4200/", "http://localhost:4200/app", "*"),
        *("ftp://localhost", "http://", "http://a.example http://b.example", "https://.a.example"),
    ),
    "CSRF_TRUSTED_ORIGINS": ("api.example.com", "https://api.example.com/admin", "*"),
    "ACCESS_TOKEN_LIFETIME": ("0", "-1", "8h", "1e3", "9" * 18),
    "REFRESH_TOKEN_LIFETIME": ("0", "30d", "1.5", "9" * 18),
    "THROTTLE_LOGIN": ("often", "10", "10/fortnight", "0/min", "-1/min", "10/min/ip", "10 / min"),
    "THROTTLE_LOGIN_ADDRESS": ("30",),
    "THROTTLE_WRONG_PASSWORD": ("20 an hour",),
    "QUOTA_CHANGES": ("0", "many"),
    "PLUGINS": ("plugins.nothing",),
    "SPLITWISE_API": ("maybe",),
    "THROTTLE_REGISTER": ("20/hours", "1e3/hour"),
    "THROTTLE_LOOKUP": ("none",),
    "THROTTLE_REFRESH": ("60/",),
    "THROTTLE_MAIL": ("5/week",),
    "THROTTLE_EXPORT": ("10 an hour",),
    "THROTTLE_IMPORT": ("30/fortnight",),
    "THROTTLE_UPLOAD": ("120/fortnight",),
    "THROTTLE_VOTE": ("120/fortnight",),
    "EMAIL_URL": (
        *("localhost", "smtp:mail.example.com", "smtp://", "smtp://mail.example.com:0", "console"),
        *("smtp://mail.example.com:65536", "smtp://user@mail.example.com", "imap://m.example.com"),
        *("smtp://:p4ssw0rd@mail.example.com", "smtps://u:p4ssw0rd@@mail.example.com"),
        *("smtp+ssl://u:p4ssw0rd@mail.example.com", "smtp+tls://u:p4ssw0rd@h/path", "console://x"),
        *("smtps://u:p4ssw0rd@h?ssl=no", "smtp://a b.example.com", "smtp://u:p4ssw0rd@h:x"),
    ),
    "EMAIL_FROM": ("noreply", "@example.com", "Trips <a@example.com", "a@b.example, c@d.example"),
    "FRONTEND_URL": ("app.example.com", "https://app.example.com/", "https://a.x,https://b.x", ","),
    "PUBLIC_URL": ("api.example.com", "https://api.example.com/api", "https://a.x,https://b.x"),
    "REQUIRE_VERIFIED_EMAIL": ("maybe",),
    "REQUIRE_SECOND_FACTOR": ("admins",),
    "OIDC_PROVIDERS": ("google", "{}", '["google"]', '[{"provider": "google"}]'),
    "THROTTLE_USER": ("/min",),
    "THROTTLE_ANON": ("１/min",),
    "NUM_PROXIES": ("-1", "one"),
    "HSTS": ("31536000", "on"),
    "LOG_LEVEL": ("LOUD", "0"),
    "LOG_FORMAT": ("xml", "JSON"),
    "DATABASE_TIMEOUT": ("-1", "5s", "3601"),
    "QUOTA_TRIPS": ("0", "many"),
    "QUOTA_MEMBERS": ("0", "-1"),
    "QUOTA_EXPENSES": ("0", "1e4"),
    "QUOTA_WEBHOOKS": ("0", "many"),
    "QUOTA_ATTACHMENTS": ("0", "many"),
    "QUOTA_ATTACHMENT_MB": ("0", "500 MB"),
    "QUOTA_ACCOUNT_ATTACHMENTS": ("0", "many"),
    "QUOTA_ACCOUNT_ATTACHMENT_MB": ("0", "1 GB"),
    "ATTACHMENTS_STORE": (
        *("files", "../files", "s3:bucket", "s3://B", "s3://bucket/../x", "s3://bucket?acl=public"),
        *("s3://bucket?endpoint=ftp://x", "https://bucket.example.com", "s3://key:secret@bucket"),
    ),
    "DELETED_ENTRY_DAYS": ("0", "month", "36501"),
    "DELETED_TRIP_DAYS": ("0", "week", "36501"),
    "WEBHOOKS_ALLOW_PRIVATE": ("maybe",),
    "JWT_SIGNING_KEY": ("short", "x" * 31, "-----BEGIN PRIVATE KEY-----"),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("localhost:4318", "grpc://localhost:4317", "http://a b"),
    "METRICS_TOKEN": ("short-but-otherwise-good-key-31", "x" * 32, "change-me" * 8),
    "SLOW_STATEMENT_MS": ("-1", "1s", "0.5"),
    "PASSKEY_RP_ID": ("https://example.com", "127.0.0.1"),
    "PASSKEY_ORIGINS": ("example.com", "https://example.com/app"),
    "JWT_VERIFYING_KEYS": ("short", "a-good-key-of-32-characters-1234,short"),
}
DEFAULTS = {
    "DEBUG": False,
    "DATABASE_POOL_SIZE": 4,
    "DATABASE_PREPARE": True,
    "DATABASE_POOLER": "none",
    "COMPILED_QUERIES": True,
    "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
    "CORS_ALLOWED_ORIGINS": ["http://localhost:4200", "http://localhost:3000"],
    "CORS_ALLOWED_ORIGIN_REGEXES": [],
    "CSRF_TRUSTED_ORIGINS": [],
    "ACCESS_TOKEN_LIFETIME": 8 * 3600,
    "REFRESH_TOKEN_LIFETIME": 30 * 24 * 3600,
    "NUM_PROXIES": 0,
    "DATABASE_TIMEOUT": 0,
    "LOG_FORMAT": "json",
    "METRICS_TOKEN": "",
    "SLOW_STATEMENT_MS": 0,
    "QUOTA_TRIPS": 1000,
    "QUOTA_MEMBERS": 200,
    "QUOTA_EXPENSES": 10_000,
    "QUOTA_WEBHOOKS": 10,
    "QUOTA_ATTACHMENTS": 1000,
    "QUOTA_ATTACHMENT_MB": 500,
    "QUOTA_ACCOUNT_ATTACHMENTS": 5000,
    "QUOTA_ACCOUNT_ATTACHMENT_MB": 1000,
    "DELETED_ENTRY_DAYS": 30,
    "DELETED_TRIP_DAYS": 7,
    "WEBHOOKS_ALLOW_PRIVATE": False,
    "EMAIL_URL": {},
    "DEFAULT_FROM_EMAIL": "Trip Companion <noreply@localhost>",
    "FRONTEND_URL": "http://localhost:4200",
    "PUBLIC_URL": "http://localhost:8000",
    "REQUIRE_VERIFIED_EMAIL": False,
    "REQUIRE_SECOND_FACTOR": False,
    "OIDC_PROVIDERS": [],
}
LOCAL_ORIGINS = r"^https?://(localhost|127\.0\.0\.1)(:[0-9]+)?$"
RATES = {
    **{"login": "10/min", "login_address": "30/min", "wrong_password": "20/hour"},
    **{"register": "20/hour", "lookup": "60/hour", "mail": "5/hour", "export": "60/hour"},
    **{"import": "30/hour", "upload": "120/hour", "vote": "120/hour"},
    **{"refresh": "60/hour", "user": "600/min", "anon": "60/min"},
}


def test_a_wrong_value_stops_the_start_with_one_clear_line(project, tmp_path, subtests):
    wrong = [(name, value) for name, values in WRONG.items() for value in values]
    environments = [{"SECRET_KEY": SECRET, name: value} for name, value in wrong]
    stopped = start_each(project, tmp_path, environments)
    for (name, value), done in zip(wrong, stopped, strict=True):
        with subtests.test(name=name, value=value):
            assert_stopped(done, name)
            assert "p4ssw0rd" not in done.stderr


def test_a_right_value_does_not_stop_it(project, tmp_path):
    [done] = start_each(project, tmp_path, [{"SECRET_KEY": SECRET, "QUOTA_TRIPS": "7"}])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [("manage.py", "migrate"), ("manage.py", "check"), ("-m", "tripcompanion")],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["THROTTLE_LOGIN", "SECRET_KEY"])
def test_the_same_line_is_said_whatever_is_started(project, start, name):
    variables = {"SECRET_KEY": SECRET, "PORT": "0" if start[0] == "manage.py" else "8999"}
    variables[name] = "x"
    assert_stopped(run(project, *start, **variables), name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("PORT", value) for value in ("abc", "0", "-1", "70000", "80.5")),
        *(("WEB_CONCURRENCY", value) for value in ("x", "0", "-1", "1.5", "1001")),
    ],
)
def test_a_wrong_value_for_the_server_stops_it_too(project, name, value):
    done = run(project, "-m", "tripcompanion", **{"SECRET_KEY": SECRET, name: value})
    assert_stopped(done, name)
    assert name != "PORT" or "from 1 to 65535" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [
        ("-m", "tripcompanion", "run"),
        ("-m", "tripcompanion", "--bind", "127.0.0.1:{port}"),
        ("-m", "tripcompanion", "--bind", "[::1]:0", "--bind", "127.0.0.1:{port}"),
    ],
    ids=" ".join,
)
def test_a_port_in_use_is_named_with_another(project, start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = [argument.format(port=port) for argument in start]
        variables = {"SECRET_KEY": SECRET, "PORT": str(port), "LOG_FORMAT": "line"}
        done = run(project, *arguments, **variables)
    *log, line = done.stderr.splitlines()
    other = port + 1000 if port + 1000 <= 65535 else 8000
    assert (done.returncode, done.stdout) == (1, "")
    assert line == (
        f"Configuration error: Port {port} is in use; choose another, for example PORT={other}."
    )
    assert ["Starting gunicorn" in entry for entry in log] == [True] * (len(start) > 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgres://u:p4ssw0rd@127.0.0.1:1/trips", "port 1 failed: Connection refused"),
        ("postgres://u:p4ssw0rd@nowhere.invalid/trips", "failed to resolve host 'nowhere.invalid'"),
        ("sqlite:////nowhere/db.sqlite3", "unable to open database file"),
    ],
)
@pytest.mark.parametrize("command", ["migrate_safely", "prune"])
def test_a_database_that_is_away_is_one_line(project, command, url, reason):
    done = run(project, "manage.py", command, SECRET_KEY=SECRET, DATABASE_URL=url)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("The database in DATABASE_URL is unavailable: ")
    assert reason in line
    assert "p4ssw0rd" not in line


def test_a_statement_that_fails_still_has_its_traceback(project):
    url = f"sqlite:///{project}/empty.sqlite3"
    done = run(project, "manage.py", "prune", SECRET_KEY=SECRET, DATABASE_URL=url)
    assert done.stderr.startswith("Traceback")
    assert "no such table" in done.stderr


@pytest.mark.slow
def test_an_empty_number_of_processes_is_the_default(project):
    (project / ".env").write_text(f"SECRET_KEY={SECRET}\nWEB_CONCURRENCY=x\n")
    for value in ("", " "):
        done = run(project, "-m", "tripcompanion", "--check-config", WEB_CONCURRENCY=value)
        assert_stopped(done, "WEB_CONCURRENCY")
    (project / ".env").write_text(f"SECRET_KEY={SECRET}\n")
    for value in ("", " ", "3"):
        done = run(project, "-m", "tripcompanion", "--check-config", WEB_CONCURRENCY=value)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_empty_list_of_hosts_is_the_default(project):
    shown = settings_of(project, "ALLOWED_HOSTS", SECRET_KEY=SECRET, ALLOWED_HOSTS=" ,")
    assert shown == {"ALLOWED_HOSTS": DEFAULTS["ALLOWED_HOSTS"]}


def test_defaults_work_on_a_fresh_machine(project):
    shown = settings_of(
        project, *DEFAULTS, "REST_FRAMEWORK", "CACHES", "DATABASES", SECRET_KEY=SECRET
    )
    assert {name: shown[name] for name in DEFAULTS} == DEFAULTS
    assert shown["REST_FRAMEWORK"]["DEFAULT_THROTTLE_RATES"] == RATES
    assert shown["CACHES"]["default"]["BACKEND"].endswith("LocMemCache")
    database = shown["DATABASES"]["default"]
    assert database["ENGINE"] == "django.db.backends.sqlite3"
    assert database["CONN_MAX_AGE"] == 1
    assert Path(database["NAME"]) == project / "db.sqlite3"


@pytest.mark.slow
def test_the_default_database_is_made_by_migrating(project):
    started = run(project, "manage.py", "migrate", "--verbosity", "0", SECRET_KEY=SECRET)
    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")


def test_values_are_taken_as_they_are_meant(project):
    variables = {
        "DEBUG": " TRUE ",
        "DATABASE_URL": "postgres://user:p%40ss@db.example.com:5433/trips",
        "DATABASE_POOL_SIZE": "7",
        "DATABASE_PREPARE": "false",
        "CACHE_URL": "redis://:p,ss@cache.example.com:6379/1",
        "ALLOWED_HOSTS": " api.example.com , .example.org,",
        "CORS_ALLOWED_ORIGINS": "https://app.example.com,https://M.Example.com:8443",
        "CSRF_TRUSTED_ORIGINS": "https://api.example.com",
        "ACCESS_TOKEN_LIFETIME": "60",
        "THROTTLE_LOGIN": "",
        "THROTTLE_USER": "1000/hour",
        "JWT_SIGNING_KEY": "s" + SECRET,
    }
    names = ("DEBUG", "DATABASES", "CACHES", "REST_FRAMEWORK", "SIMPLE_JWT", "SECRET_KEY")
    lists = ("ALLOWED_HOSTS", "CORS_ALLOWED_ORIGINS", "CSRF_TRUSTED_ORIGINS")
    lists = (*lists, "CORS_ALLOWED_ORIGIN_REGEXES")
    shown = settings_of(project, *names, *lists, SECRET_KEY=SECRET, **variables)
    database = shown["DATABASES"]["default"]
    assert (database["HOST"], database["PORT"]) == ("db.example.com", 5433)
    assert (database["USER"], database["PASSWORD"], database["NAME"]) == ("user", "p@ss", "trips")
    assert database["ENGINE"] == "tripcompanion.database.postgresql"
    assert database["CONN_MAX_AGE"] is None
    assert database["OPTIONS"]["prepare_threshold"] is None
    assert shown["DEBUG"] is True
    assert shown["CACHES"]["default"]["LOCATION"] == [variables["CACHE_URL"]]
    assert shown["ALLOWED_HOSTS"] == ["api.example.com", ".example.org"]
    assert shown["CORS_ALLOWED_ORIGINS"][1] == "https://m.example.com:8443"
    # Of a development machine; the variables above set DEBUG.
    assert shown["CORS_ALLOWED_ORIGIN_REGEXES"] == [LOCAL_ORIGINS]
    assert shown["CSRF_TRUSTED_ORIGINS"] == ["https://api.example.com"]
    assert shown["SIMPLE_JWT"]["ACCESS_TOKEN_LIFETIME"] == "0:01:00"
    assert shown["SIMPLE_JWT"]["SIGNING_KEY"] == "s" + SECRET
    assert shown["SECRET_KEY"] == SECRET
    rates = shown["REST_FRAMEWORK"]["DEFAULT_THROTTLE_RATES"]
    assert rates == RATES | {"login": None, "user": "1000/hour"}


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("smtp://localhost", ("localhost", 25, "", "", False, False)),
        ("smtp://[::1]:2525", ("::1", 2525, "", "", False, False)),
        (
            "smtp+tls://u:p%40s%25@mail.example.com",
            ("mail.example.com", 587, "u", "p@s%", True, False),
        ),
        (
            "smtps://u%40x:p@mail.example.com:4465",
            ("mail.example.com", 4465, "u@x", "p", False, True),
        ),
    ],
)
def test_a_mail_server_is_spoken_to_as_its_url_says(project, url, meant):
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_TLS", "USE_SSL")
    names = [f"EMAIL_{name}" for name in (*names, "BACKEND")]
    shown = settings_of(project, *names, SECRET_KEY=SECRET, EMAIL_URL=url)
    *values, backend = (shown[name] for name in names)
    assert tuple(values) == meant
    assert backend.endswith("smtp.EmailBackend")


def test_development_shows_mails_on_the_terminal(project):
    shown = settings_of(project, "EMAIL_BACKEND", SECRET_KEY=SECRET, DEBUG="true")
    assert shown["EMAIL_BACKEND"].endswith("console.EmailBackend")


def test_a_file_fills_in_what_the_environment_does_not_say(project):
    (project / ".env").write_text(f"SECRET_KEY={SECRET}\nDEBUG=true\nPORT=abc\n")
    shown = settings_of(project, "SECRET_KEY", "DEBUG", DEBUG="false")
    assert shown == {"SECRET_KEY": SECRET, "DEBUG": False}
    assert_stopped(run(project, "-m", "tripcompanion"), "PORT")


def test_cookies_and_pages_are_guarded_in_production_only_where_it_would_break_development(project):
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_HSTS_SECONDS")
    for debug in (True, False):
        shown = settings_of(project, *names, SECRET_KEY=SECRET, DEBUG=str(debug))
        assert shown["SESSION_COOKIE_SECURE"] is shown["CSRF_COOKIE_SECURE"] is not debug
        assert shown["SECURE_HSTS_SECONDS"] == 0
    chosen = settings_of(project, "SECURE_HSTS_SECONDS", SECRET_KEY=SECRET, HSTS="true")
    assert chosen["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600


@usual_plugins
def test_every_variable_stands_in_the_example_file_and_no_other():
    settings = [ROOT / "tripcompanion" / "settings.py", *ROOT.glob("plugins/*/settings.py")]
    code = "".join(path.read_text() for path in settings)
    code += (ROOT / "gunicorn.conf.py").read_text()
    code += (ROOT / "tripcompanion" / "serving" / "preflight.py").read_text()
    read = {*re.findall(r'(?:env\.|file_)\w+\(\s*"([A-Z_]+)"', code), "SECRET_KEY"}
    example = (ROOT / ".env.example").read_text()
    named = set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))
    compose = {"POSTGRES_PASSWORD", "POSTGRES_HOST", "DOMAIN", "COMPOSE_PROFILES", "WEB_MEMORY"}
    assert named - compose == read
    assert {*WRONG, "SECRET_KEY", "PORT", "WEB_CONCURRENCY"} == read


def test_a_misspelt_setting_is_named(project):
    done = run(project, "-c", LOAD, SECRET_KEY=SECRET, ALOWED_HOSTS="api.example.com")
    assert done.returncode == 0
    assert "ALOWED_HOSTS is not a setting; did you mean ALLOWED_HOSTS?" in done.stderr


def test_a_bad_line_of_the_file_is_named(project):
    (project / ".env").write_text("DEBUG=false\nALLOWED_HOSTS localhost\n")
    assert_stopped(run(project, "-c", LOAD, SECRET_KEY=SECRET), ".env, line 2")


@pytest.mark.parametrize("content", [b"EMAIL_FROM=Jos\xe9 <a@example.com>\n", b"LOG_LEVEL=\0\n"])
def test_a_file_that_cannot_be_read_is_named(project, content):
    (project / ".env").write_bytes(content)
    assert_stopped(run(project, "-c", LOAD, SECRET_KEY=SECRET), ".env cannot be read")
