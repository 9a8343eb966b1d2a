"""HAProxy in front of a server, with the configuration from docs/operate.md."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.server import ROOT, free_port


@contextmanager
def haproxy(server_url: str, folder: Path, *options: str) -> Iterator[str]:
    """Start the proxy and yield its URL; `options` are added to its `server` line.

    Skips the test if HAProxy is not installed.
    """
    program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if not program:
        pytest.skip("HAProxy is not installed")
    port = free_port()
    server = f"server web 127.0.0.1:{server_url.rpartition(':')[2]} {' '.join(options)}"
    written = (ROOT / "docs" / "operate.md").read_text()
    [lines] = re.findall(r"^```haproxy\n(.*?)^```$", written, re.DOTALL | re.MULTILINE)
    lines, binds = re.subn(r"bind :443 .*", f"bind 127.0.0.1:{port}", lines)
    lines, servers = re.subn(r"server web .*", server, lines)
    assert (binds, servers) == (1, 1)
    (folder / "haproxy.cfg").write_text(lines)
    process = subprocess.Popen([program, "-db", "-f", str(folder / "haproxy.cfg")])
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=10)
