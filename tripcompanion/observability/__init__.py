"""What operators see of the service: logs, metrics, traces, probes."""
