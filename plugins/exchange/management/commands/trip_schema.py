"""Prints docs/trip-export.schema.json: the JSON Schema of a trip's file."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from plugins.exchange.trip_file import trip_schema


class Command(BaseCommand):
    help = "Print docs/trip-export.schema.json."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(trip_schema(), indent=2))
