"""The source files of the project: those of the core, of the plugins, and of the tests of both."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ("tripcompanion", "users", "trips", "splits")
PACKAGES = (*CORE, "plugins")


def shipped(*packages: str, named: str = "*.py") -> list[Path]:
    """What users run of these packages, or of all: neither migrations nor the tests of plugins."""
    paths = (path for name in packages or PACKAGES for path in (ROOT / name).rglob(named))
    return sorted(p for p in paths if not {"migrations", "tests"} & {*p.relative_to(ROOT).parts})
