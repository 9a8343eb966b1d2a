"""Logs statements that take longer than SLOW_STATEMENT_MS, with their route and without values.

It uses Django's hook for this, `execute_wrappers`, which prepared cursors call too. The
time is that of the statement, not of reading its rows.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from tripcompanion.observability.request_ids import current_route

logger = logging.getLogger("tripcompanion.statements")

#: A longer statement is mostly a list of placeholders.
MAX_CHARS = 4000


def log_slow_statements(connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Time the statements of a connection that Django has just opened."""
    if _timed not in connection.execute_wrappers:
        connection.execute_wrappers.append(_timed)


def _timed(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    started = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        # A statement that failed after its time-out was slow, too.
        duration_ms = (time.perf_counter() - started) * 1000
        if duration_ms >= settings.SLOW_STATEMENT_MS:
            logger.warning(
                "%d ms for a statement of %s: %s",
                duration_ms,
                current_route.get() or "no request",
                str(sql)[:MAX_CHARS],
                extra={"duration_ms": round(duration_ms, 1)},
            )
