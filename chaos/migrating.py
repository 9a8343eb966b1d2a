"""Migrations while the service writes to the tables."""

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from chaos.environment import Environment
from chaos.service import ROOT
from chaos.writers import Journal

_EXPENSES = 10_000
_READER_SECONDS = 3
_CODE = ("tripcompanion", "users", "trips", "splits", "plugins", "locale", "manage.py")
_FOLDER = Path("splits", "migrations")
_NEWEST = max(path.stem for path in (ROOT / _FOLDER).glob("0*.py"))
_MIGRATION = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("splits", "{newest}")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE splits_split ADD COLUMN remark text",
            "ALTER TABLE splits_split DROP COLUMN remark",
        ),
        migrations.RunSQL(
            "CREATE INDEX split_remark ON splits_split (remark) WHERE remark IS NOT NULL",
            "DROP INDEX split_remark",
        ),
    ]
"""


def tables_change_in_use(environment: Environment) -> Journal:
    """F21: 100,000 splits get a column and an index during a long read and writes."""
    filled = subprocess.run(
        [sys.executable, "-m", "benchmarks.data", str(_EXPENSES)],
        env=environment.service.environment | {"DATABASE_TIMEOUT": "0"},
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    environment.require(filled.returncode == 0, f"no data: {filled.stderr.decode()[-300:]}")
    done: list[Any] = []
    with tempfile.TemporaryDirectory(prefix="tripcompanion-next-") as folder:
        copy = _next_version(Path(folder))
        with environment.load() as journal:
            thread = threading.Thread(target=lambda: done.append(_migrate(environment, copy)))
            with environment.database() as reader, reader.transaction():
                reader.execute("SELECT count(*) FROM splits_split")
                thread.start()
                time.sleep(_READER_SECONDS)
            thread.join()
            journal.mark()
            done.append(_migrate(environment, copy, "splits", _NEWEST))
            journal.mark()
    for outcome in done:
        environment.require(outcome.returncode == 0, f"not migrated: {outcome.stderr[-300:]}")
    tries = done[0].stderr.count("A table is busy")
    # Writers that wait for the trip, behind one that waits for the table, may get 503.
    environment.note(
        f"{tries} attempts before the table was free; {journal.answers[503]} writes got 503"
    )
    return journal


def three_migrate_at_once(environment: Environment) -> Journal:
    """F22: three processes migrate at once while the service writes."""
    outcomes: list[Any] = []
    with environment.load() as journal:
        threads = [
            threading.Thread(
                target=lambda: outcomes.append(environment.service.manage("migrate_safely"))
            )
            for _one in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.mark()
    environment.require(all(done.returncode == 0 for done in outcomes), "a migration failed")
    return journal


def _next_version(folder: Path) -> Path:
    """A copy of the code with one more migration."""
    for name in _CODE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / _FOLDER / "9999_remarks.py").write_text(_MIGRATION.format(newest=_NEWEST))
    return folder


def _migrate(
    environment: Environment, code: Path, *target: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "migrate_safely", *target],
        env=environment.service.environment | {"DATABASE_TIMEOUT": "0"},
        cwd=code, capture_output=True, text=True, check=False,
    )  # fmt: skip
