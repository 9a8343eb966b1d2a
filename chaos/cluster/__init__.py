"""Several hosts behind a proxy, on a pooler and on several database servers: `make cluster`."""
