"""The format of log lines: JSON in production, without secrets or personal data.

The settings and gunicorn's configuration import this before Django is set up.
"""

import logging
import re
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from tripcompanion.observability.request_ids import current_route, current_trace_id, request_id

FORMATS = ("json", "line")
#: Clients choose a part of each line, so masking must take a time in proportion to its length: a
#: run of characters is entered only at its start, and not searched again from its middle. No group
#: is possessive: Python 3.11.2, that of Debian 12, then finds no `%40`.
_HIDDEN = (
    (re.compile(r"(?<![\w.+%-])(?:[\w.+-]|%(?!40))+(?:@|%40)[\w-]++(?:\.[\w-]++)*"), "[e-mail]"),
    (re.compile(r"(?<![\w-])eyJ[\w-]++\.[\w-]++\.[\w-]++"), "[token]"),
    (re.compile(r"\btc[ci]?_[\w-]+"), "[token]"),
    # Whoever has the code of a trip can join it.
    (re.compile(r"(/trips/code/)[^\s/\"'\\]+"), r"\1[code]"),
    (re.compile(r"(?i)\b(bearer) [^\s\"',]+"), r"\1 [token]"),
    (re.compile(r"(?i)(token|password|secret|key)=[^\s&\"'\\]+"), r"\1=[hidden]"),
)


def log_format(debug: bool) -> str:
    """Plain text in development, JSON in production."""
    return "line" if debug else "json"


def without_secrets(text: str) -> str:
    """`text` with e-mail addresses, tokens, codes and values labelled as secret masked."""
    for pattern, replacement in _HIDDEN:
        text = pattern.sub(replacement, text)
    return text


class WithRequestId(logging.Filter):
    """Adds request id, route and trace id to every record; `-` where there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id() or "-"
        record.route = current_route.get() or "-"
        record.trace_id = current_trace_id.get() or "-"
        return True


class RefusalsAreNoErrors(logging.Filter):
    """Removes the traceback of client errors, such as an unknown `Host`, and the level of 503.

    Django logs these with the exception, so any client could fill the log. Why something is
    unavailable stands in a line of its own, which is an error if it is one.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", 0)
        if 400 <= status < 500:
            record.exc_info = record.exc_text = None
        if status == 503 and record.name == "django.request":
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class JsonLines(JsonFormatter):
    """One JSON object per line, including tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class PlainLines(logging.Formatter):
    """One line of plain text, followed by the traceback if there is one."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- as in logging
        return super().formatMessage(record).replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


def logging_settings(level: str, form: str) -> dict[str, Any]:
    """The service's `dictConfig`: everything goes to standard error, in one of `FORMATS`."""
    formatters: dict[str, Any] = {
        "json": {
            "()": JsonLines,
            "format": ["levelname", "name", "request_id", "route", "trace_id", "message"],
            "rename_fields": {
                "levelname": "level",
                "name": "logger",
                "request_id": "requestId",
                "trace_id": "traceId",
            },
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
        "filters": {"request_id": {"()": WithRequestId}, "refusals": {"()": RefusalsAreNoErrors}},
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
            # Django's own handler would write each line again in its format.
            "django": {"handlers": [], "level": level, "propagate": True}
        },
    }
