"""Guards of what is seen from outside: /metrics, and the log of slow statements."""

from tests.mutations.mutant import Guards

_METRICS = "tests/test_metrics.py -k"
_TRACES = "plugins/tracing/tests/test_tracing.py -k"
_SLOW = "tests/test_slow_statements.py -k"

MONITORING: Guards = {
    "tripcompanion/api/metrics.py": [
        ("metrics without a token",
         'if not constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}"):', "if False:",
         f"{_METRICS} only_the_token"),
        ("a scrape waits for a silent database",
         "connection.wait_seconds, _DATABASE_SECONDS", "connection.wait_seconds, None",
         f"PG {_METRICS} silent"),
    ],
    "tripcompanion/api/middleware.py": [
        ("ids in labels", 'f"/{route.route}" if', "request.path_info if",
         f"{_METRICS} labels"),
    ],
    "tripcompanion/observability/instruments.py": [
        ("any method becomes a label", 'if request.method in _METHODS else "other"', "",
         f"{_METRICS} labels"),
    ],
    "tripcompanion/settings.py": [
        ("short METRICS_TOKEN accepted", '    env.strong("METRICS_TOKEN", METRICS_TOKEN)\n', "",
         "tests/test_settings.py -k wrong_value"),
    ],
    "gunicorn.conf.py": [
        ("counts lost by a reload", "    if given.name.startswith(own):\n", "    if False:\n",
         f"{_METRICS} reload"),
        ("requests in progress of dead processes kept", "mark_process_dead(worker.pid)", "pass",
         f"{_METRICS} killed"),
    ],
    "tripcompanion/serving/wsgi.py": [
        ("a scrape waits for a connection",
         'if settings.METRICS_TOKEN and path == METRICS_PATH:', "if False:",
         f"{_METRICS} busy"),
    ],
    "plugins/tracing/middleware.py": [
        ("values of statements in spans", "text = str(sql)[:MAX_CHARS]",
         "text = str((sql, params))",
         f"{_TRACES} no_span"),
        ("paths in spans", 'span.set_attribute("http.route", route)',
         'span.set_attribute("http.route", request.path)', f"{_TRACES} no_span"),
        ("any method in spans", 'if request.method in _METHODS else "_OTHER"', "",
         f"{_TRACES} no_span"),
        ("messages of exceptions in spans",
         "        record_exception=False,\n        set_status_on_exception=False,\n    ) as span:\n"
         "        try:", "    ) as span:\n        try:", f"PG {_TRACES} no_span"),
        ("trace states of clients in spans", '{_HEADER: request.META.get(_IN_META, "")}',
         "request.headers", f"{_TRACES} no_span"),
    ],
    "tripcompanion/observability/slow_statements.py": [
        ("values in the log of slow statements", "str(sql)[:MAX_CHARS]",
         "str((sql, params))[:MAX_CHARS]", f"{_SLOW} no_line"),
    ],
    "tripcompanion/database/postgresql/base.py": [
        ("timed statements not prepared", "if not self.queries_logged:",
         "if not (self.queries_logged or self.execute_wrappers):",
         f"PG {_SLOW} stay_prepared"),
    ],
}  # fmt: skip
