"""Writes calendars as iCalendar files (RFC 5545). Their times are those on the clocks there."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from icalendar import Calendar, Event, __version__, vText, vUri

#: Programs may keep a file for so long, and ask again as often.
FRESH = timedelta(hours=1)
#: All of them but the tab and the line feed are forbidden in texts; readers that split lines as
#: Python does take the rest for line ends.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
#: What is not escaped in a URL that may be escaped already (RFC 3986).
_OF_URLS = "%:/?#[]@!$&'()*+,;=~"
Contents = tuple[str, Sequence[Mapping[str, Any]]]


def state_of(contents: Contents) -> bytes:
    """What the file follows from: another state is another file."""
    return repr((__version__, settings.PUBLIC_URL, contents)).encode(errors="replace")


def calendar_file(contents: Contents) -> bytes:
    """The file of a calendar with this name and these entries; see `Plugin.calendar`."""
    name, entries = contents
    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", "-//Trip Companion//Calendar//EN")
    for property_name in ("name", "x-wr-calname"):
        calendar.add(property_name, _text(name))
    calendar.add("refresh-interval", FRESH, {"value": "DURATION"})
    calendar.add("x-published-ttl", "PT1H")
    for entry in entries:
        calendar.add_component(_event_of(entry))
    return calendar.to_ical()


def _event_of(entry: Mapping[str, Any]) -> Event:
    event = Event()
    properties = {
        "transp": "TRANSPARENT",
        **entry,
        "uid": f"{entry['uid']}@{urlsplit(settings.PUBLIC_URL).hostname}",
        "last-modified": entry["dtstamp"],
        "url": _absolute(entry.get("url") or ""),
    }
    for name, value in properties.items():
        if value is not None and value != "":
            event.add(name, _text(value) if type(value) is str else value)
    return event


def _text(text: str) -> vText:
    """A text without what RFC 5545 forbids; its line breaks are line feeds."""
    return vText(_CONTROLS.sub(" ", re.sub("\r\n?|\x85", "\n", text)))


def _absolute(url: str) -> vUri | None:
    """A URL in ASCII: its letters and its line breaks are escaped; None for a path."""
    is_absolute = url.lower().startswith(("http://", "https://"))
    return vUri(quote(url, safe=_OF_URLS)) if is_absolute else None
