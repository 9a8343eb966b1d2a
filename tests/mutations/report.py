"""The report of a run, tests/MUTATIONS.md: which test failed without each guard."""

import re

from tests.mutations.mutant import ROOT, Mutant

REPORT = ROOT / "tests" / "MUTATIONS.md"
_HEAD = """# Mutations

Each row is a guard that was removed from the code, and the first test that failed without it.
`make mutate ARGS=--write` writes this page. A test checks that its rows match the current mutants.

| Mutation | File | Caught by |
|---|---|---|
"""


def reported() -> dict[str, str]:
    """The test that caught each mutant in the last report, by name; without the survivors."""
    rows = re.findall(r"^\| (.+) \| .+ \| `(.+)` \|$", REPORT.read_text(), re.M)
    return dict(rows)


def write_report(caught: dict[str, str], mutants: list[Mutant]) -> None:
    """Write the report; a mutant that nothing caught has no test in its row."""
    rows = [
        f"| {m.name} | {m.file} | " + (f"`{caught[m.name]}`" if m.name in caught else "-") + " |"
        for m in mutants
    ]
    REPORT.write_text(_HEAD + "\n".join(rows) + "\n")
