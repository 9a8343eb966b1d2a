"""Attached pictures whose workers die, and whose storage goes away."""

import io
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from chaos.environment import Environment
from chaos.writers import Journal

_PICTURES = 6
_KILLS = 4
_READY_SECONDS = 120


def workers_die_and_files_are_away(environment: Environment) -> Journal:
    """F38: workers that decode pictures are killed, and the storage is away; no upload is lost."""
    scene, service = environment.scene, environment.service
    folder = Path(service.environment["ATTACHMENTS_STORE"])
    path = f"/trips/{scene.trip_id}/attachments"
    headers = {"Authorization": f"Bearer {scene.tokens[0]}"}
    out = io.BytesIO()
    Image.effect_noise((2400, 1600), 90).save(out, "PNG")
    content = out.getvalue()
    with httpx.Client(base_url=f"{scene.url}/api", timeout=30, headers=headers) as http:

        def upload() -> httpx.Response:
            return http.post(path, files={"file": ("bill.png", content)})

        def states() -> Counter[str]:
            rows = http.get(path, params={"pageSize": 100}).raise_for_status().json()["items"]
            return Counter(row["state"] for row in rows)

        with environment.load(timeout_seconds=30) as journal:
            uploaded = sum(upload().status_code == 201 for _number in range(_PICTURES))
            for _kill in range(_KILLS):
                worker = _start_worker(service.environment)
                time.sleep(1.5)
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
            away = folder.rename(folder.with_name("away"))
            folder.touch()
            refused = upload()
            environment.require(
                refused.json().get("code") == "storage_unavailable", f"answer: {refused.text}"
            )
            worker = _start_worker(service.environment)
            time.sleep(3)
            folder.unlink()
            away.rename(folder)
            try:
                until = time.monotonic() + _READY_SECONDS
                while states().keys() != {"ready"} and time.monotonic() < until:
                    time.sleep(1)
            finally:
                worker.terminate()
                worker.wait()
            journal.mark()
        found = states()
        environment.require(found == {"ready": uploaded}, f"{uploaded} uploaded, now {found}")
        stored = sum(file.is_file() for file in folder.rglob("*"))
    environment.note(f"{uploaded} of {_PICTURES} pictures ready, {stored} files stored")
    return journal


def _start_worker(environment: dict[str, Any]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "manage.py", "process_attachments", "--watch"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, start_new_session=True, **quiet)
