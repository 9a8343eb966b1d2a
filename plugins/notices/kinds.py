"""All that accounts may be mailed about."""

from collections.abc import Mapping

from tripcompanion.plugin import Notice, plugins

#: By the name of the event in the API.
NOTICES: Mapping[str, Notice] = {
    event: notice for app in plugins() for event, notice in app.notices.items()
}


def letter_of(event: str) -> str:
    """The name of the mail about an event."""
    return event.replace(".", "_").upper()


LETTERS = [*map(letter_of, NOTICES)]
