"""The page of a run, tests/MUTATIONS.md: which test noticed that a guard was away."""

import re

from tests.mutations.mutant import ROOT, Mutant

REPORT = ROOT / "tests" / "MUTATIONS.md"
_HEAD = """# Mutations

Each row is a guard of the service that was taken away, and the first test that failed without it.
`make mutate ARGS=--write` writes this page; a test holds that its rows are the present mutants.

| Without this guard | Where | Caught by |
|---|---|---|
"""


def reported() -> dict[str, str]:
    """By which test each mutant was caught the last time, by name; survivors are left out."""
    rows = re.findall(r"^\| (.+) \| .+ \| `(.+)` \|$", REPORT.read_text(), re.M)
    return dict(rows)


def write_report(caught: dict[str, str], mutants: list[Mutant]) -> None:
    """The page; a mutant that nothing caught has no test in its row."""
    rows = [
        f"| {m.name} | {m.file} | " + (f"`{caught[m.name]}`" if m.name in caught else "-") + " |"
        for m in mutants
    ]
    REPORT.write_text(_HEAD + "\n".join(rows) + "\n")
