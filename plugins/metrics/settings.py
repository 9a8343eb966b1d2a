"""Settings of metrics."""

from tripcompanion import environment as env

# Bearer token of /metrics; without it there is no such path, and nothing is measured.
METRICS_TOKEN = env.text("METRICS_TOKEN")
IN_MIDDLEWARE: list[str] = []
INSTRUMENTS: list[str] = []
NEVER_QUEUED: list[str] = []
if METRICS_TOKEN:
    env.strong("METRICS_TOKEN", METRICS_TOKEN)
    IN_MIDDLEWARE += [
        "plugins.metrics.middleware.Metrics",
        "plugins.metrics.counting.CountRequests",
    ]
    INSTRUMENTS.append("prometheus_client")
    # It explains why the server is busy, so it must not wait either.
    NEVER_QUEUED.append("/metrics")
