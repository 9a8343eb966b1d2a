"""Probes: whether the process is alive, and whether it can serve requests."""

import logging

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.caching import answers
from tripcompanion.api.operations import operation
from tripcompanion.api.problems import Unavailable
from tripcompanion.api.serializers import HealthSerializer, ReadinessSerializer
from tripcompanion.api.viewsets import OpenViewSet
from tripcompanion.database.schema_floor import schema_mismatch

logger = logging.getLogger(__name__)


class HealthViewSet(OpenViewSet):
    """Public probes; the responses reveal no version, host or address."""

    tag = "health"
    throttle_classes = ()

    @operation("checkHealth", answers=HealthSerializer, without_snapshot=True)
    def live(self, request: Request) -> Response:
        """The process responds; this does not query the database."""
        return Response({"status": "ok"})

    @operation("checkReadiness", answers=ReadinessSerializer, without_snapshot=True)
    def ready(self, request: Request) -> Response:
        """The database responds, and this version can run on its schema; otherwise 503.

        `degraded` names what is away without which the service still works: without Redis, limits
        count in each process.
        """
        if reason := schema_mismatch():
            logger.warning(reason)
            raise Unavailable
        if settings.CACHE_URL and not answers():
            return Response({"status": "ok", "degraded": ["redis"]})
        return Response({"status": "ok"})
