"""The requests of probes, as the server recognizes them."""

import re
from functools import cache

from django.conf import settings

#: `ready` may wait for the database, so each has a connection of its own.
PROBES = ("/api/health", "/api/health/ready")
#: Longer heads are not recognized; those of orchestrators have a few hundred bytes.
MAX_HEAD_BYTES = 4096

_HAS_BODY = re.compile(rb"\r\n(?:content-length|transfer-encoding)[ \t]*:", re.IGNORECASE)


@cache
def _first_line() -> re.Pattern[bytes]:
    paths = "|".join((*PROBES, *settings.NEVER_QUEUED)).encode()
    return re.compile(rb"(?:GET|HEAD) (?:%s)[ ?]" % paths)


def is_probe(received: bytes) -> bool:
    """Whether `received` begins with a complete request of a probe, without a body.

    An incomplete one could occupy a thread that is reserved for probes.
    """
    head, end, _rest = received.partition(b"\r\n\r\n")
    return bool(end and _first_line().match(head) and not _HAS_BODY.search(head))
