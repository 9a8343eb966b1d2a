"""The result of a run as a Markdown table, and a description of the machine."""

import os
import platform
import statistics
from argparse import ArgumentParser
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.client import Leg

HEAD = (
    "Operation", "n", "p50 ms", "p95 ms", "req/s at 8", "CPU ms", "baseline p50", "baseline req/s",
    "baseline CPU", "uncompiled p50", "uncompiled CPU",
    "p50 ratio", "req/s ratio", "CPU ratio", "noise", "growth",
)  # fmt: skip

#: The maximum growth of operations that should not depend on n.
MOST_GROWTH = 1.2


@dataclass
class Side:
    """The measurements of one server: with one client, and with eight."""

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
    """One operation on one W(n), on each server; legs with the same index were neighbours."""

    service: Side = field(default_factory=Side)
    uncompiled: Side = field(default_factory=Side)
    baseline: Side = field(default_factory=Side)

    @property
    def sides(self) -> Mapping[str, Side]:
        """The measurements by the name of the server."""
        return vars(self)

    @property
    def p50_ratio(self) -> float:
        return statistics.median(self._p50_ratios)

    @property
    def per_second_ratio(self) -> float:
        legs = zip(self.service.crowd, self.baseline.crowd, strict=True)
        return statistics.median(mine.per_second / theirs.per_second for mine, theirs in legs)

    @property
    def noise(self) -> float:
        """The interquartile range of the p50 ratios, divided by their median."""
        if len(self._p50_ratios) < 2:
            return 0.0
        first, _median, third = statistics.quantiles(self._p50_ratios, n=4)
        return (third - first) / self.p50_ratio

    def growth_from(self, smaller: "Row") -> float:
        """The service's p50 with one client, divided by that of `smaller`."""
        legs = zip(self.service.alone, smaller.service.alone, strict=True)
        return statistics.median(mine.p50_ms / theirs.p50_ms for mine, theirs in legs)

    @property
    def _p50_ratios(self) -> list[float]:
        legs = zip(self.service.alone, self.baseline.alone, strict=True)
        return [mine.p50_ms / theirs.p50_ms for mine, theirs in legs]


Rows = Mapping[tuple[str, int], Row]


def table(rows: Rows) -> str:
    """A row for each operation and size."""
    lines = [HEAD, ["---", *["---:"] * (len(HEAD) - 1)]]
    first: dict[str, Row] = {}
    for (name, size), row in rows.items():
        service, baseline = row.service, row.baseline
        smallest = first.setdefault(name, row)
        growth = "" if smallest is row else f"{row.growth_from(smallest):.2f}"
        cells = [name, f"{size:,}"]
        cells += [f"{service.p50_ms:.2f}", f"{service.p95_ms:.2f}", f"{service.per_second:.0f}"]
        cells += [f"{service.cpu_ms:.2f}", f"{baseline.p50_ms:.2f}", f"{baseline.per_second:.0f}"]
        cells += [f"{baseline.cpu_ms:.2f}", f"{row.uncompiled.p50_ms:.2f}"]
        cells += [
            f"{row.uncompiled.cpu_ms:.2f}",
            f"{row.p50_ratio:.2f}",
            f"{row.per_second_ratio:.2f}",
        ]
        cells.append(f"{service.cpu_ms / baseline.cpu_ms:.2f}" if baseline.cpu_ms else "")
        lines.append([*cells, f"{row.noise:.0%}", growth])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def above(rows: Rows, goals: Mapping[str, float], flat: Container[str]) -> Iterable[str]:
    """The rows that miss the goal of their operation, in p50 or in requests per second.

    Also rows of operations in `flat` whose time grows by more than `MOST_GROWTH`.
    """
    first: dict[str, Row] = {}
    for (name, size), row in rows.items():
        slower = max(row.p50_ratio, 1 / row.per_second_ratio)
        if slower > goals[name]:
            yield f"{name}({size:,}): {slower:.1f} times the baseline, the goal is {goals[name]:g}"
        growth = row.growth_from(first.setdefault(name, row))
        if name in flat and growth > MOST_GROWTH:
            yield f"{name}({size:,}): grows {growth:.2f} times, the goal is {MOST_GROWTH:g}"


def machine() -> str:
    """Cores, memory, processor, Python version and load average."""
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


def sizes_in(text: str, parser: ArgumentParser) -> list[int]:
    """The numbers of an option `--sizes`, the smallest first; a usage error if one is none."""
    try:
        return sorted({int(size) for size in text.split(",")})
    except ValueError:
        parser.error("--sizes must be integers separated by commas")
