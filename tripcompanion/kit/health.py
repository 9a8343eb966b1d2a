"""Probes: whether the process is alive, and whether it reaches its database."""

from typing import ClassVar

from django.db import connection
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.kit.serializers import HealthSerializer
from tripcompanion.kit.viewsets import ApiViewSet


class HealthViewSet(ApiViewSet):
    """Open to everybody; the answers name no version, host or address."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()
    answers = {"live": HealthSerializer, "ready": HealthSerializer}  # noqa: RUF012
    single_statement: ClassVar = frozenset({"live", "ready"})

    def live(self, request: Request) -> Response:
        """The process answers; the database is not asked."""
        return Response({"status": "ok"})

    def ready(self, request: Request) -> Response:
        """The database answers too; 503 if it does not."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return Response({"status": "ok"})
