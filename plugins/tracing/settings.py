"""Settings of traces: nothing of OpenTelemetry is loaded unless an endpoint is configured."""

from tripcompanion import environment as env

MIDDLEWARE: list[str] = []
# Where OpenTelemetry sends traces; it reads the other OTEL_ variables itself.
if env.web_address("OTEL_EXPORTER_OTLP_ENDPOINT"):
    env.require_installed(
        "OTEL_EXPORTER_OTLP_ENDPOINT", package="opentelemetry.sdk", extra="tracing"
    )
    MIDDLEWARE.append("plugins.tracing.middleware.Traces")
