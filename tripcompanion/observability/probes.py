"""The requests of probes, as the server recognizes them."""

import re

#: `ready` may wait for the database, so each has a connection of its own.
PROBES = ("/api/health", "/api/health/ready")
#: What Prometheus reads. It explains why the server is busy, so it must not wait either.
METRICS_PATH = "/metrics"
#: Longer heads are not recognized; those of orchestrators have a few hundred bytes.
MAX_HEAD_BYTES = 4096

_PATHS = "|".join((*PROBES, METRICS_PATH)).encode()
_FIRST_LINE = re.compile(rb"(?:GET|HEAD) (?:%s)[ ?]" % _PATHS)
_HAS_BODY = re.compile(rb"\r\n(?:content-length|transfer-encoding)[ \t]*:", re.IGNORECASE)


def is_probe(received: bytes) -> bool:
    """Whether `received` begins with a complete request of a probe, without a body.

    An incomplete one could occupy a thread that is reserved for probes.
    """
    head, end, _rest = received.partition(b"\r\n\r\n")
    return bool(end and _FIRST_LINE.match(head) and not _HAS_BODY.search(head))
