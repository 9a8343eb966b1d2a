"""Profiles one operation: `make bench-profile OPERATION=page`.

It calls the WSGI application in this process, on the database in DATABASE_URL, which must contain a
W(n), and prints first the functions, then every statement with its plan.
"""

import cProfile
import io
import os
import pstats
import re
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import orjson
from django.core.wsgi import get_wsgi_application
from django.db import connection, transaction

from benchmarks.client import Answer, Request
from benchmarks.operations import OPERATIONS, World

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
#: In the calling thread; `serving/wsgi.py` runs it in threads that no profiler sees.
application = get_wsgi_application()

_REQUESTS = 100
_SECONDS = 10
_TOP = 30
_NO_PLAN = re.compile(r"(?i)(SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT|SET|PRAGMA)\b")


def call(request: Request) -> Answer:
    """Call the application in this process."""
    body = b"" if request.body is None else orjson.dumps(request.body)
    path, _mark, query = request.path.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": "127.0.0.1",
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
    }
    if request.token:
        environ["HTTP_AUTHORIZATION"] = f"Bearer {request.token}"
    statuses: list[str] = []
    parts = application(environ, lambda status, _headers, _error=None: statuses.append(status))
    answer = Answer(request, int(statuses[0][:3]), b"".join(parts))
    parts.close()
    return answer


def profile(requests: Iterator[Request]) -> tuple[cProfile.Profile, int]:
    """The profile of at most 100 requests or ten seconds, and the number of requests.

    It measures processor time, which other load on the machine does not affect. Time spent waiting
    for the database is not included; see the statements for that.
    """
    profiler = cProfile.Profile(time.process_time)
    started = time.process_time()
    count = 0
    for request in islice(requests, _REQUESTS):
        profiler.enable()
        call(request)
        profiler.disable()
        count += 1
        if time.process_time() - started > _SECONDS:
            break
    return profiler, count


class Explained:
    """Wraps every statement of a connection and runs EXPLAIN for it first.

    EXPLAIN executes a write, so it is rolled back before the write itself.
    """

    def __init__(self) -> None:
        #: Statements with their duration in milliseconds and their plans.
        self.found: list[tuple[str, float, str]] = []
        self._is_asking = False

    def __call__(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        if self._is_asking or _NO_PLAN.match(sql):
            return execute(sql, params, many, context)
        self._is_asking = True
        try:
            plan = "" if many else self._plan(sql, params)
        finally:
            self._is_asking = False
        started = time.perf_counter()
        result = execute(sql, params, many, context)
        took_ms = (time.perf_counter() - started) * 1000
        # With its values; psycopg does not know them for a prepared statement.
        written = connection.ops.last_executed_query(context["cursor"], sql, params)
        self.found.append((written or sql, took_ms, plan))
        return result

    def _plan(self, sql: str, params: Any) -> str:
        is_postgresql = connection.vendor == "postgresql"
        explain = "EXPLAIN (ANALYZE, BUFFERS)" if is_postgresql else "EXPLAIN QUERY PLAN"
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"{explain} {sql}", params)
            rows = cursor.fetchall()
            transaction.set_rollback(True)
        return "\n".join(f"    {row[-1]}" for row in rows)


def main(name: str, size: int, say: Callable[[str], Any]) -> None:
    """Print the profile and the statements."""
    operation = OPERATIONS[name]
    world = World.find(size, call)
    requests = operation.requests(world)
    for request in islice(requests, 5):  # warm up
        call(request)
    profiler, count = profile(requests)
    out = io.StringIO()
    stats = pstats.Stats(profiler, stream=out).strip_dirs()
    for order, title in (("cumulative", "with what they call"), ("tottime", "by themselves")):
        out.write(f"\n== {name}({size:,}), {count} requests: functions {title}\n")
        stats.sort_stats(order).print_stats(_TOP)
    say(re.sub(r"\n\s*\n+", "\n", out.getvalue()))
    explained = Explained()
    with connection.execute_wrapper(explained):
        call(next(requests))
    for at, (sql, took_ms, plan) in enumerate(explained.found, start=1):
        say(f"\n== Statement {at} of {len(explained.found)}, {took_ms:.1f} ms\n{sql}\n{plan}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.stdout.write)
