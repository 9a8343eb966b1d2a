"""What a log line looks like: JSON in production, nothing in it that is secret or personal.

It is read by the settings and by gunicorn's configuration, before Django is set up.
"""

import logging
import re
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from tripcompanion.kit.request_ids import request_id

FORMATS = ("json", "line")
_HIDDEN = (
    (re.compile(r"[\w.+%-]+(?:@|%40)[\w-]+(?:\.[\w-]+)*"), "[e-mail]"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+"), "[token]"),
    (re.compile(r"\btc_[\w-]+"), "[token]"),
    (re.compile(r"(?i)(token|password|secret|key)=[^\s&\"'\\]+"), r"\1=[hidden]"),
)


def log_format(debug: bool) -> str:
    """Lines are for people in development, for programs in production."""
    return "line" if debug else "json"


def without_secrets(text: str) -> str:
    """`text` with e-mail addresses, tokens and values that are called secret struck out."""
    for pattern, replacement in _HIDDEN:
        text = pattern.sub(replacement, text)
    return text


class WithRequestId(logging.Filter):
    """Puts the id of the request on every record; `-` outside of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id() or "-"
        return True


class WithoutTracebackOfRefusals(logging.Filter):
    """Takes the traceback off what was the client's mistake, such as a foreign `Host`.

    Django logs it with the exception; anybody could fill the log with it.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if 400 <= getattr(record, "status_code", 0) < 500:
            record.exc_info = record.exc_text = None
        return True


class JsonLines(JsonFormatter):
    """One JSON object a line, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class PlainLines(logging.Formatter):
    """For people who watch a terminal: one line, and below it a traceback where there is one."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return super().formatMessage(record).replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


def logging_settings(level: str, form: str) -> dict[str, Any]:
    """The `dictConfig` of the service: everything to standard error, in one of `FORMATS`."""
    formatters: dict[str, Any] = {
        "json": {
            "()": JsonLines,
            "format": ["levelname", "name", "request_id", "message"],
            "rename_fields": {"levelname": "level", "name": "logger", "request_id": "requestId"},
            "timestamp": "time",
        },
        "line": {
            "()": PlainLines,
            "format": "{asctime} {levelname} {name} [{request_id}] {message}",
            "style": "{",
        },
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "request_id": {"()": WithRequestId},
            "refusals": {"()": WithoutTracebackOfRefusals},
        },
        "formatters": {form: formatters[form]},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "filters": ["request_id", "refusals"],
                "formatter": form,
            }
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Django's own handler would write each line once more, in its own form.
            "django": {"handlers": [], "level": level, "propagate": True},
            # It would say at every peak that requests wait for a thread.
            "waitress.queue": {"level": "ERROR"},
        },
    }
