"""Strict reading of settings from the environment: an invalid value stops the process.

`python -m tripcompanion.environment` only checks that this is not a production environment; the
Makefile runs it before development commands.
"""

import importlib.util
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import unquote

from django.core.management.utils import get_random_secret_key
from dotenv import dotenv_values, load_dotenv
from dotenv.parser import parse_stream

T = TypeVar("T")

_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_MIN_SECRET_CHARS = 32
_MIN_SECRET_LETTERS = 8
_MAX_COUNT = 10 * 365 * 24 * 3600
#: The settings that were read.
_KNOWN: set[str] = set()
#: How similar a misspelt name is to the setting.
_NEARLY = 0.92
BASE_DIR = Path(__file__).resolve().parent.parent


def _user_folder(variable: str, usual: str) -> Path:
    """The service's folder below one that the XDG Base Directory Specification names."""
    return Path(os.environ.get(variable) or Path.home() / usual) / "tripcompanion"


#: Where `.env` is, and by default the SQLite database and files: the checkout, or a folder of the
#: user if the service is installed as a package.
DATA_DIR = Path(os.environ.get("DATA_DIR") or BASE_DIR).absolute()
if DATA_DIR == BASE_DIR and not (BASE_DIR / "manage.py").exists():
    DATA_DIR = _user_folder("XDG_DATA_HOME", ".local/share")
#: The value of a time-out that disables it.
NEVER = 0
#: Variables that a `.env` sets in production only; see `.env.example`.
_PRODUCTION_NAMES = (
    *("SECRET_KEY", "JWT_SIGNING_KEY", "JWT_VERIFYING_KEYS"),
    *("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "NUM_PROXIES"),
)
#: `make run` leaves it; it is neither in the repository nor in an image.
DEVELOPMENT_MARK = DATA_DIR / ".development"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_HOST = r"\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]"
#: The form of an origin.
ORIGIN = rf"https?://(?!\.)({_HOST})(:[0-9]{{1,5}})?"
_MAIL_URL = (
    r"(?P<scheme>smtp|smtp\+tls|smtps)://((?P<user>[^\s:/@]+):(?P<password>[^\s:/@]+)@)?"
    rf"(?P<host>{_HOST})(:(?P<port>[0-9]{{1,5}}))?/?"
)
#: The default port of each URL scheme of a mail server, and its Django settings.
_MAIL_SCHEMES: dict[str, tuple[int, dict[str, bool]]] = {
    "smtp": (25, {}),
    "smtp+tls": (587, {"EMAIL_USE_TLS": True}),
    "smtps": (465, {"EMAIL_USE_SSL": True}),
}


def refuse(text: str) -> NoReturn:
    """Stop the process with one line on standard error and exit status 1."""
    raise SystemExit(f"Configuration error: {text}")


def load(path: Path) -> None:
    """Take missing variables from a file; refuse a line that is not a setting."""
    try:
        if path.is_file():
            with path.open(encoding="utf-8") as lines:
                for binding in parse_stream(lines):
                    if binding.error:
                        refuse(f"{path}, line {binding.original.line}, is not NAME=value.")
        load_dotenv(path)
    except (OSError, ValueError) as error:
        # The latter if it is not in UTF-8, or has a NUL.
        refuse(f"{path} cannot be read: {error}.")


def warn_of_misspelt() -> None:
    """Warn of variables whose names are nearly those of settings: they have no effect."""
    for name in sorted(os.environ.keys() - _KNOWN):
        if meant := get_close_matches(name, sorted(_KNOWN), n=1, cutoff=_NEARLY):
            sys.stderr.write(f"{name} is not a setting; did you mean {meant[0]}?\n")


def _read(name: str, default: Any = None) -> Any:
    """A variable of the environment, which is a known setting from now on."""
    _KNOWN.add(name)
    return os.environ.get(name, default)


def _value(name: str, default: T, parse: Callable[[str], T], expected: str) -> T:
    raw = _read(name)
    if raw is None or (raw.strip() == "" and default != ""):
        return default
    try:
        return parse(raw.strip())
    except (ValueError, KeyError):
        refuse(f"{name} must be {expected}, not {raw!r}.")


def _require(name: str, raw: str, form: str, expected: str) -> str:
    """Return `raw`; stop the process unless it matches the pattern `form`."""
    if not re.fullmatch(form, raw):
        refuse(f"{name} must {expected}, not {raw!r}.")
    return raw


def text(name: str, default: str = "") -> str:
    """The variable as text; `default` if it is not set."""
    return _read(name, default).strip()


def boolean(name: str, default: bool) -> bool:
    """`true`, `1`, `yes` or `false`, `0`, `no`, in any case."""
    return _value(name, default, lambda raw: _WORDS[raw.lower()], "true or false")


def require_development(env_file: Path) -> None:
    """Stop the process if the environment or `env_file` looks like production.

    Both are checked, although the environment takes precedence: it is easy to run a development
    command with `DEBUG=true` in a folder whose `.env` points to the production database.
    """
    in_file = {name: value for name, value in dotenv_values(env_file).items() if value}
    for place, raw in ((".env", in_file.get("DEBUG")), ("environment", os.environ.get("DEBUG"))):
        word = (raw or "true").strip().lower() or "true"
        if word not in _WORDS:
            refuse(f"DEBUG must be true or false, not {raw!r}.")
        if not _WORDS[word]:
            refuse(f"DEBUG is {raw} in the {place}; this command is for development only.")
    found = [name for name in _PRODUCTION_NAMES if name in in_file]
    if found and "DEBUG" not in in_file:
        refuse(
            f"The .env sets {found[0]} but not DEBUG, as in production; "
            "this command is for development only."
        )


def assume_development() -> None:
    """Set DEBUG for `manage.py` with data that `make run` has served, as `make run` does.

    Only if nothing is configured, neither in the environment nor in `.env`, as in production. A
    server never assumes it, and `make serve` ends it.
    """
    env_file = DATA_DIR / ".env"
    in_file = dotenv_values(env_file) if env_file.is_file() else {}
    configured = {name for name, value in (in_file | os.environ).items() if value}
    is_configured = not configured.isdisjoint({"DEBUG", *_PRODUCTION_NAMES})
    if DEVELOPMENT_MARK.exists() and not is_configured:
        os.environ["DEBUG"] = "true"


def count(name: str, default: int, minimum: int = 0, maximum: int = _MAX_COUNT) -> int:
    def parse(raw: str) -> int:
        number = int(raw)
        if not minimum <= number <= maximum:
            raise ValueError
        return number

    return _value(name, default, parse, f"a whole number from {minimum} to {maximum}")


def words(name: str, default: Iterable[str]) -> list[str]:
    """A comma-separated list, without empty items."""
    raw = _read(name)
    if raw is None:
        return list(default)
    return [word.strip() for word in raw.split(",") if word.strip()]


def hosts(name: str, default: Iterable[str]) -> list[str]:
    """Host names or IP addresses, without scheme, port or path; `*` means any, none the default."""
    expected = "list host names such as api.example.com"
    given = words(name, default) or default
    return [_require(name, host, rf"\*|{_HOST}", expected) for host in given]


def origins(name: str, default: Iterable[str]) -> list[str]:
    """Web origins: scheme, host and port, without a path; in lower case, as browsers send them."""
    expected = "list origins such as https://app.example.com"
    return [_require(name, found, ORIGIN, expected).lower() for found in words(name, default)]


def origin(name: str, default: str) -> str:
    raw = text(name, default) or default
    return _require(name, raw, ORIGIN, f"be one origin such as {default}")


def web_address(name: str) -> str:
    """A URL of HTTP or HTTPS, with or without a path; empty by default."""
    form = rf"({ORIGIN}(/[!-~]*)?)?"
    return _require(name, text(name), form, "be a URL such as http://localhost:4318")


def redis_url(name: str) -> str:
    """A URL of Redis, from which its client can be made; empty by default.

    The error message does not repeat the value, because it may contain a password.
    """
    raw = text(name)
    if not raw:
        return ""
    # It takes memory in every process.
    from redis import ConnectionPool  # noqa: PLC0415 -- see above

    try:
        if not raw.startswith(("redis://", "rediss://")):
            raise ValueError
        # This connects to nothing.
        ConnectionPool.from_url(raw).make_connection()
    except (TypeError, ValueError):
        refuse(f"{name} must look like redis://host:6379/0.")
    return raw


def plugins(name: str, default: list[str]) -> list[str]:
    """The apps that are installed besides the core; names with a `+` are added to the default."""
    named = words(name, default)
    added = [word[1:] for word in named if word.startswith("+")]
    return [*default, *added] if added and len(added) == len(named) else named


def add_plugins(names: Iterable[str], settings: dict[str, Any]) -> None:
    """Add the settings of plugins, in upper case in their modules `settings`, to those of the core.

    A list comes before that of the core, and a dictionary is merged into it; any other setting is a
    new one. Stops the process for a plugin that is not installed.
    """
    for name in names:
        try:
            is_here = importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            is_here = False
        if not is_here:
            refuse(f"PLUGINS: there is no plugin {name}.")
        if importlib.util.find_spec(f"{name}.settings") is None:
            continue
        for key, value in vars(importlib.import_module(f"{name}.settings")).items():
            if not key.isupper():
                continue
            known = settings.setdefault(key, value)
            if isinstance(value, list) and known is not value:
                known[:0] = value
            elif isinstance(value, dict) and known is not value:
                known.update(value)


def require_installed(name: str, *, package: str, extra: str) -> None:
    """Stop the process unless `package`, which the variable `name` needs, is installed."""
    top = package.partition(".")[0]
    if importlib.util.find_spec(top) is None or importlib.util.find_spec(package) is None:
        refuse(f"{name} needs the extra `{extra}`: install requirements-extras.txt.")


def mail_server(name: str, default: str) -> dict[str, Any]:
    """Django's `EMAIL_…` settings for a URL; empty if it is not set.

    The error message does not repeat the value, because it contains a password.
    """
    raw = text(name, default)
    if not raw:
        return {}
    if raw == "console://":
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    found = re.fullmatch(_MAIL_URL, raw)
    port = int(found["port"] or _MAIL_SCHEMES[found["scheme"]][0]) if found else 0
    if not found or not 0 < port <= 65535:
        refuse(
            f"{name} must look like smtp+tls://user:password@host:587, smtps://user:password@host, "
            "smtp://host:25 or console://; percent-encode signs in the password (%40 for @)."
        )
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": found["host"].strip("[]"),
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(found["user"] or ""),
        "EMAIL_HOST_PASSWORD": unquote(found["password"] or ""),
        **_MAIL_SCHEMES[found["scheme"]][1],
    }


def sender(name: str, default: str) -> str:
    """The sender of mails: an address, or `Name <address>`."""
    address = rf"[^\s@<>,]+@({_HOST})"
    form = rf"{address}|[^\x00-\x1f@<>,]+ <{address}>"
    expected = "look like Trip Companion <noreply@example.com>"
    return _require(name, text(name, default), form, expected)


def choice(name: str, default: str, options: Iterable[str]) -> str:
    allowed = {option: option for option in options}
    return _value(name, default, allowed.__getitem__, "one of " + ", ".join(allowed))


def rate(name: str, default: str) -> str | None:
    """A throttle rate such as `10/min`; an empty value disables the throttle (None)."""
    form = r"([1-9][0-9]*/(s|sec|min|hour|day))?"
    expected = "look like 10/min (sec, min, hour or day) or be empty"
    return _require(name, text(name, default), form, expected) or None


def secret_key(debug: bool) -> str:
    """SECRET_KEY; in development it is generated once and kept in the user's state folder.

    Production has no default: with a key from a public repository, anybody could sign tokens.
    """
    key = _read("SECRET_KEY", "")
    if key:
        return strong("SECRET_KEY", key)
    if not debug:
        refuse("SECRET_KEY is required unless DEBUG=true; `openssl rand -base64 48` generates one.")
    return _development_key()


def strong(name: str, key: str) -> str:
    """Return `key`; stop the process if it is short or a placeholder."""
    looks_random = len(set(key)) >= _MIN_SECRET_LETTERS and not re.search(
        "change|insecure|example|placeholder", key.lower()
    )
    if len(key) < _MIN_SECRET_CHARS or not looks_random:
        refuse(
            f"{name} must be a random text of at least {_MIN_SECRET_CHARS} characters, "
            "not a placeholder."
        )
    return key


def _development_key() -> str:
    path = _user_folder("XDG_STATE_HOME", ".local/state") / "secret_key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written to a draft and hard-linked, so that processes that start at once share one key.
        draft = path.with_name(f"secret_key.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(get_random_secret_key())
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()


if __name__ == "__main__":
    require_development(DATA_DIR / ".env")
