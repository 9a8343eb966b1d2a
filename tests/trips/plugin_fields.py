"""What plugins add to the answer of one trip."""

from tripcompanion.api.serializers import camel_case
from tripcompanion.plugin import plugins

PLUGIN_FIELDS = {camel_case(name) for app in plugins() for name in app.trip_fields()}
