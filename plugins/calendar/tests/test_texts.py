"""Whatever people write stays in its property, as RFC 5545 demands."""

import re
from datetime import UTC, date, datetime

import icalendar
import pytest
import vobject
from hypothesis import example, given
from hypothesis import strategies as st

from plugins.calendar.files import calendar_file
from plugins.calendar.tests.conftest import content

pytestmark = pytest.mark.once

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
FORGED = "Castle\r\nRRULE:FREQ=SECONDLY\r\nEND:VEVENT\nBEGIN:VALARM\rACTION:AUDIO\x85X:1\u2028Y:2"
#: CONTROL of RFC 5545, and what other readers take for line ends.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
PROPERTIES = [
    *("BEGIN", "VERSION", "PRODID", "NAME", "X-WR-CALNAME", "REFRESH-INTERVAL"),
    *("X-PUBLISHED-TTL", "BEGIN", "UID", "DTSTART", "DTSTAMP", "LAST-MODIFIED", "SUMMARY"),
    *("DESCRIPTION", "TRANSP", "END", "END"),
]
#: vobject drops a byte order mark at the start of a value.
TEXTS = st.text(st.characters(exclude_categories=[], exclude_characters="\ufeff"), max_size=200)


def lines_of(file):
    """The lines as they are folded."""
    assert file.endswith(b"\r\n")
    return file.removesuffix(b"\r\n").split(b"\r\n")


def unfolded(file):
    return file.replace(b"\r\n ", b"").decode().removesuffix("\r\n").split("\r\n")


def entry(**properties):
    return {"uid": "poll-7", "dtstart": date(2026, 5, 14), "dtstamp": NOW, **properties}


def as_read(text):
    """A text after its way through a file."""
    return FORBIDDEN.sub(" ", re.sub("\r\n?|\x85", "\n", text))


@given(TEXTS, TEXTS, TEXTS)
@example(FORGED, FORGED, FORGED)
@example("a\\nb\\,c\\;d;e,f:g\"h'", "\\", "\tTab")
@example("ñ" * 40 + "🏖️" * 40, "é" * 200, "")
def test_texts_come_back_and_make_no_further_property(name, title, notes):
    """T215: What people write adds no line to a calendar."""
    title = title.encode(errors="replace").decode()
    name, notes = f"Trip {name.encode(errors='replace').decode()}", f"{notes!r}{title}."
    file = calendar_file((name, [entry(summary=f"{title}.", description=notes)]))
    assert all(len(line) <= 75 for line in lines_of(file))
    lines = unfolded(file)
    assert not FORBIDDEN.search("".join(lines))
    assert sorted(re.split("[:;]", line)[0] for line in lines) == sorted(PROPERTIES)
    event = vobject.readOne(file.decode()).vevent
    assert event.summary.value == as_read(f"{title}.")
    assert event.description.value == as_read(notes)
    [event] = icalendar.Calendar.from_ical(file).walk("VEVENT")
    assert event["summary"] == as_read(f"{title}.")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/a?b=1&c=ü", "https://example.com/a?b=1&c=%C3%BC"),
        ("https://example.com/\r\nRRULE:FREQ=DAILY", "https://example.com/%0D%0ARRULE:FREQ=DAILY"),
        ("HTTPS://example.com", "HTTPS://example.com"),
        ("/tickets/7", None),
        ("javascript:alert(1)", None),
        (None, None),
    ],
)
def test_urls_are_absolute_and_in_ascii(url, shown):
    lines = unfolded(calendar_file(("Trip", [entry(summary="Castle", url=url)])))
    assert [line[4:] for line in lines if line.startswith("URL")] == ([shown] if shown else [])
    assert not [line for line in lines if line.startswith("RRULE")]


def test_a_title_with_line_breaks_is_no_other_property(link, read, plan):
    plan(FORGED.replace("\x85", " "), date="2026-05-14", notes=FORGED, location="a;b,c\\n")
    lines = unfolded(content(read(link())))
    assert sum(line.startswith("BEGIN:VEVENT") for line in lines) == 2
    assert not [line for line in lines if line.startswith(("RRULE", "BEGIN:VALARM", "X:", "Y:"))]
    assert r"LOCATION:a\;b\,c\\n" in lines
