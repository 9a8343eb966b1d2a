"""Charts as SVG files: bars and lines, without scripts, fonts or anything else from elsewhere.

A chart has its own background, because it may be shown on a page of any colour; it is light or dark
as the reader prefers. All texts are escaped. Screen readers get its title, and all of its numbers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import chain
from typing import IO, NamedTuple
from xml.sax.saxutils import escape

MEDIA_TYPE = "image/svg+xml"
#: For whoever opens the file itself: it may have styles, and nothing else.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
#: More would be unreadable; the table has all of them.
MOST_BARS = 40
_MOST_CHARS = 48
_WIDTH, _MARGIN, _HEIGHT = 640, 16, 240
_LEFT, _RIGHT = _MARGIN, _WIDTH - _MARGIN
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2937}.h{font-size:16px;font-weight:600}"
    ".e{text-anchor:end}.g{fill:#fff}.a{fill:#2563eb}.b{fill:#b45309}.l{fill:none;stroke-width:2}"
    ".a.l{stroke:#2563eb}.b.l{stroke:#b45309;stroke-dasharray:6 4}.z{stroke:#6b7280}"
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.g{fill:#111827}.a{fill:#60a5fa}"
    ".b{fill:#fbbf24}.l{fill:none}.a.l{stroke:#60a5fa}.b.l{stroke:#fbbf24}}"
)
#: The classes of the first series of numbers, and of the second.
_SERIES = "ab"
#: XML has no place for these characters, not even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Mark(NamedTuple):
    """A number, and how people read it."""

    value: int
    text: str


class Bar(NamedTuple):
    """One bar for each number; negative ones go to the left."""

    label: str
    marks: Sequence[Mark]


def bars(title: str, bars: Sequence[Bar], series: Sequence[str] = (), more: str = "") -> IO[bytes]:
    """A chart of bars. `series` names the numbers of each; `more` tells of bars beyond the most."""
    shown = bars[:MOST_BARS]
    values = [0, *(mark.value for bar in shown for mark in bar.marks)]
    low, high = min(values), max(values)
    scale = (_RIGHT - _LEFT) / ((high - low) or 1)
    zero, y, parts = _LEFT - low * scale, 40, list(_legend(series))
    top = y = y + (20 if series else 0)
    for bar in shown:
        y += 18
        parts += [_text(_LEFT, y, bar.label)]
        parts += [_text(_RIGHT, y, " · ".join(mark.text for mark in bar.marks), "e")]
        for kind, mark in zip(_SERIES, bar.marks, strict=False):
            x = zero + min(mark.value, 0) * scale
            parts.append(_rect(x, y + 5, abs(mark.value) * scale, 8, kind))
            y += 10
        y += 8
    if low < 0:
        parts.append(f'<path class="z" d="M{zero:.1f} {top}V{y}"/>')
    if len(bars) > len(shown):
        y += 20
        parts.append(_text(_LEFT, y, more))
    numbers = (f"{bar.label}: {', '.join(mark.text for mark in bar.marks)}" for bar in bars)
    return _chart(title, chain(filter(None, [", ".join(series)]), numbers), parts, y + _MARGIN)


def lines(
    title: str,
    lines: Mapping[str, Sequence[tuple[int, int]]],
    ends: Sequence[str],
    top: Mark,
    told: Sequence[str],
) -> IO[bytes]:
    """A chart of lines by name, each with its points from left to right.

    `ends` name the first and the last place, `top` the highest number. Screen readers are `told`
    more.
    """
    points = [*chain.from_iterable(lines.values())]
    first, last = min(x for x, _y in points), max(x for x, _y in points)
    low, base, head = min(0, *(y for _x, y in points)), _HEIGHT - 40, 80
    across, up = (_RIGHT - _LEFT) / ((last - first) or 1), (base - head) / ((top.value - low) or 1)
    parts = [*_legend(list(lines))]
    zero = base + low * up
    parts.append(f'<path class="z" d="M{_LEFT} {zero:.1f}H{_RIGHT}M{_LEFT} {head}H{_RIGHT}"/>')
    parts.append(_text(_RIGHT, head - 6, top.text, "e"))
    parts += [_text(_LEFT, base + 20, ends[0]), _text(_RIGHT, base + 20, ends[1], "e")]
    for kind, line in zip(_SERIES, lines.values(), strict=False):
        drawn = (f"{_LEFT + (x - first) * across:.1f},{base - (y - low) * up:.1f}" for x, y in line)
        parts.append(f'<polyline class="{kind} l" points="{" ".join(drawn)}"/>')
    return _chart(title, told, parts, _HEIGHT)


def _chart(title: str, told: Iterable[str], parts: Iterable[str], height: int) -> IO[bytes]:
    heading = _text(_LEFT, 28, title, "h")
    return BytesIO(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">'
        f"<title>{_clean(title)}</title><desc>{_clean('; '.join(told))}</desc>"
        f"<style>{_STYLE}</style>{_rect(0, 0, _WIDTH, height, 'g')}"
        f"{heading}{''.join(parts)}</svg>".encode()
    )


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = _LEFT
    for kind, name in zip(_SERIES, names, strict=False):
        yield _rect(x, 42, 10, 10, kind)
        yield _text(x + 16, 52, name)
        x += 40 + 8 * len(name)


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    short = text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"
    return f'<text class="{kind}" x="{x:.1f}" y="{y}">{_clean(short)}</text>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}"/>'


def _clean(text: str) -> str:
    return escape(_NOT_IN_XML.sub(" ", text))
