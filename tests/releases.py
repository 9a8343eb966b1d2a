"""The previous release, to run beside this version."""

import io
import subprocess
import tarfile
from pathlib import Path

from tests.server import ROOT

#: The last commit of the previous release; every release moves it to the one before.
PREVIOUS_RELEASE = "1bf1eb766c847400a4523c6338556361f3c17fc8"


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
