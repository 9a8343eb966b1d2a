"""Serializers of archived trips."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer


class ExportedArchivedTrip(CamelCaseSerializer):
    """A trip that the user archived."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    at = serializers.DateTimeField(help_text="When they archived it.")
