"""The client of MapMyJourney."""

from typing import Any


def of_app(client: Any) -> Any:
    """`client`, which from now on sends the header of MapMyJourney's client."""
    client.defaults["HTTP_X_APP_CLIENT"] = "MapMyJourney-Angular-17"
    return client
