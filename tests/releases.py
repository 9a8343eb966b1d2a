"""The previous release, to run beside this version."""

import io
import subprocess
import tarfile
from pathlib import Path

from tests.server import ROOT

#: The last commit of the previous release; every release moves it to the one before.
PREVIOUS_RELEASE = "496e9f2b0021d09b069e7d3d132bab8ebc88134a"


def previous_release(folder: Path) -> bool:
    """Unpack its files into `folder`; False if the history does not have it."""
    archive = subprocess.run(
        ["git", "archive", PREVIOUS_RELEASE], cwd=ROOT, capture_output=True, check=False
    )
    if archive.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return True
