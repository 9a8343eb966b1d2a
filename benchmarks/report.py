"""The table that a run ends with, in Markdown, and the machine that it was measured on."""

import os
import platform
import statistics
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.client import Leg

HEAD = (
    "Operation", "n", "p50 ms", "p95 ms", "req/s at 8", "CPU ms", "floor p50", "floor req/s",
    "floor CPU", "p50 ratio", "req/s ratio", "CPU ratio", "noise", "growth",
)  # fmt: skip

#: How many times as long an operation may take that does not depend on n.
MOST_GROWTH = 1.2


@dataclass
class Side:
    """What was measured of one server, leg by leg: alone, and with eight clients."""

    alone: list[Leg] = field(default_factory=list)
    crowd: list[Leg] = field(default_factory=list)

    @property
    def p50_ms(self) -> float:
        return statistics.median(leg.p50_ms for leg in self.alone)

    @property
    def p95_ms(self) -> float:
        return statistics.median(leg.p95_ms for leg in self.alone)

    @property
    def per_second(self) -> float:
        return statistics.median(leg.per_second for leg in self.crowd)

    @property
    def cpu_ms(self) -> float:
        return statistics.median(leg.cpu_ms for leg in self.alone + self.crowd)


@dataclass
class Row:
    """One operation on one W(n), of both servers; legs of the same place were neighbours."""

    service: Side = field(default_factory=Side)
    floor: Side = field(default_factory=Side)

    @property
    def p50_ratio(self) -> float:
        return statistics.median(self._p50_ratios)

    @property
    def per_second_ratio(self) -> float:
        legs = zip(self.service.crowd, self.floor.crowd, strict=True)
        return statistics.median(mine.per_second / theirs.per_second for mine, theirs in legs)

    @property
    def noise(self) -> float:
        """How far the middle half of the p50 ratios lie apart, as a part of their median."""
        if len(self._p50_ratios) < 2:
            return 0.0
        first, _median, third = statistics.quantiles(self._p50_ratios, n=4)
        return (third - first) / self.p50_ratio

    def growth_from(self, smaller: "Row") -> float:
        """How many times as long as `smaller` the service takes with one client."""
        legs = zip(self.service.alone, smaller.service.alone, strict=True)
        return statistics.median(mine.p50_ms / theirs.p50_ms for mine, theirs in legs)

    @property
    def _p50_ratios(self) -> list[float]:
        legs = zip(self.service.alone, self.floor.alone, strict=True)
        return [mine.p50_ms / theirs.p50_ms for mine, theirs in legs]


Rows = Mapping[tuple[str, int], Row]


def table(rows: Rows) -> str:
    """A line for each operation and size."""
    lines = [HEAD, ["---", *["---:"] * (len(HEAD) - 1)]]
    first: dict[str, Row] = {}
    for (name, size), row in rows.items():
        service, floor = row.service, row.floor
        smallest = first.setdefault(name, row)
        growth = "" if smallest is row else f"{row.growth_from(smallest):.2f}"
        cells = [name, f"{size:,}"]
        cells += [f"{service.p50_ms:.2f}", f"{service.p95_ms:.2f}", f"{service.per_second:.0f}"]
        cells += [f"{service.cpu_ms:.2f}", f"{floor.p50_ms:.2f}", f"{floor.per_second:.0f}"]
        cells += [f"{floor.cpu_ms:.2f}", f"{row.p50_ratio:.2f}", f"{row.per_second_ratio:.2f}"]
        cells.append(f"{service.cpu_ms / floor.cpu_ms:.2f}" if floor.cpu_ms else "")
        lines.append([*cells, f"{row.noise:.0%}", growth])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def above(rows: Rows, goals: Mapping[str, float], flat: Container[str]) -> Iterable[str]:
    """The lines that miss the goal of their operation, in p50 or in requests per second.

    And those of operations in `flat` that take longer than with the smallest n.
    """
    first: dict[str, Row] = {}
    for (name, size), row in rows.items():
        slower = max(row.p50_ratio, 1 / row.per_second_ratio)
        if slower > goals[name]:
            yield f"{name}({size:,}): {slower:.1f} times the floor, the goal is {goals[name]:g}"
        growth = row.growth_from(first.setdefault(name, row))
        if name in flat and growth > MOST_GROWTH:
            yield f"{name}({size:,}): grows {growth:.2f} times, the goal is {MOST_GROWTH:g}"


def machine() -> str:
    """Cores, memory, processor, what else it is doing, and the versions."""
    facts = [f"{os.cpu_count()} cores"]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        facts.append(f"{memory_bytes / 2**30:.0f} GiB")
    processors = Path("/proc/cpuinfo")
    if processors.exists():
        named = [ln for ln in processors.read_text().splitlines() if ln.startswith("model name")]
        facts += [line.partition(": ")[2] for line in named[:1]]
    facts.append(f"Python {platform.python_version()}")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{', '.join(facts)}; load average {load}"
