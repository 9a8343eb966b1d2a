"""Which test failed without each guard: kept outside git, so that it runs first the next time."""

import json
import re
from collections.abc import Iterator

from tests.mutations.mutant import ROOT, Mutant

_CACHE = ROOT / ".venv" / "mutations.json"


def recorded() -> dict[str, str]:
    """The test that caught each mutant the last time, by name, if it still exists."""
    stored = json.loads(_CACHE.read_text()) if _CACHE.exists() else {}
    return {mutant: test for mutant, test in stored.items() if _exists(test)}


def record(caught: dict[str, str]) -> None:
    _CACHE.write_text(json.dumps(caught, indent=1))


def table(mutants: list[Mutant]) -> Iterator[str]:
    """A Markdown table of all mutants; those that no recorded test catches have a dash."""
    caught = recorded()
    yield "| Mutation | File | Caught by |"
    yield "|---|---|---|"
    for mutant in mutants:
        test = f"`{caught[mutant.name]}`" if mutant.name in caught else "-"
        yield f"| {mutant.name} | {mutant.file} | {test} |"


def _exists(test: str) -> bool:
    file, _colons, name = test.partition("::")
    path = ROOT / file
    return path.exists() and bool(re.search(rf"^def {name}\b", path.read_text(), re.M))
