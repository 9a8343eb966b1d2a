"""All that accounts may be mailed about."""

from collections.abc import Mapping

from tripcompanion.plugin import Notice, plugins

#: By the name of the event in the API.
NOTICES: Mapping[str, Notice] = {
    event: notice for app in plugins() for event, notice in app.notices().items()
}
#: The names of their mails.
LETTERS = [notice.letter for notice in NOTICES.values()]
