"""The table that a run ends with, in Markdown, and the machine that it was measured on."""

import os
import platform
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.client import Leg

HEAD = (
    "Operation", "n", "p50 ms", "p95 ms", "req/s at 8", "CPU ms", "floor p50", "floor req/s",
    "floor CPU", "p50 ratio", "req/s ratio", "CPU ratio", "noise", "growth",
)  # fmt: skip


@dataclass
class Side:
    """What was measured of one server, a leg for each round: alone, and with eight clients."""

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

    @property
    def noise(self) -> float:
        """How far the p50 of the rounds lie apart, as a part of their median."""
        times = [leg.p50_ms for leg in self.alone]
        return (max(times) - min(times)) / self.p50_ms


@dataclass
class Row:
    """One operation on one W(n), of both servers."""

    service: Side = field(default_factory=Side)
    floor: Side = field(default_factory=Side)

    @property
    def p50_ratio(self) -> float:
        return self.service.p50_ms / self.floor.p50_ms

    @property
    def per_second_ratio(self) -> float:
        return self.service.per_second / self.floor.per_second

    @property
    def noise(self) -> float:
        return max(self.service.noise, self.floor.noise)


Rows = Mapping[tuple[str, int], Row]


def table(rows: Rows) -> str:
    """A line for each operation and size; growth is of the service's p50, smallest n to this."""
    lines = [HEAD, ["---", *["---:"] * (len(HEAD) - 1)]]
    first: dict[str, Row] = {}
    for (name, size), row in rows.items():
        service, floor = row.service, row.floor
        smallest = first.setdefault(name, row)
        growth = "" if smallest is row else f"{service.p50_ms / smallest.service.p50_ms:.2f}"
        cells = [name, f"{size:,}"]
        cells += [f"{service.p50_ms:.2f}", f"{service.p95_ms:.2f}", f"{service.per_second:.0f}"]
        cells += [f"{service.cpu_ms:.2f}", f"{floor.p50_ms:.2f}", f"{floor.per_second:.0f}"]
        cells += [f"{floor.cpu_ms:.2f}", f"{row.p50_ratio:.2f}", f"{row.per_second_ratio:.2f}"]
        cells.append(f"{service.cpu_ms / floor.cpu_ms:.2f}" if floor.cpu_ms else "")
        lines.append([*cells, f"{row.noise:.0%}", growth])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def above(rows: Rows, goals: Mapping[str, float]) -> Iterable[str]:
    """The lines that miss the goal of their operation, in p50 or in requests per second."""
    for (name, size), row in rows.items():
        slower = max(row.p50_ratio, 1 / row.per_second_ratio)
        if slower > goals[name]:
            yield f"{name}({size:,}): {slower:.1f} times the floor, the goal is {goals[name]:g}"


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
