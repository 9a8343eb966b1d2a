"""Probes: whether the process is alive, and whether it can serve requests."""

import logging
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.kit.problems import Unavailable
from tripcompanion.kit.schema_floor import schema_mismatch
from tripcompanion.kit.serializers import HealthSerializer
from tripcompanion.kit.viewsets import ApiViewSet

logger = logging.getLogger(__name__)


class HealthViewSet(ApiViewSet):
    """Public probes; the responses reveal no version, host or address."""

    tag = "health"
    operation_ids: ClassVar = {
        "live": "checkHealth",
        "ready": "checkReadiness",
    }
    page_titles: ClassVar = {"live": _("Health"), "ready": _("Readiness")}
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()
    response_serializers: ClassVar = {"live": HealthSerializer, "ready": HealthSerializer}
    without_snapshot: ClassVar = frozenset({"live", "ready"})

    def live(self, request: Request) -> Response:
        """The process responds; this does not query the database."""
        return Response({"status": "ok"})

    def ready(self, request: Request) -> Response:
        """The database responds, and this version can run on its schema; otherwise 503."""
        if reason := schema_mismatch():
            logger.warning(reason)
            raise Unavailable
        return Response({"status": "ok"})
