"""Mutated pictures and files of two types, for as long as one likes: `make fuzz-files`.

MINUTES says how long (10). The files go through the API of a real server, and `process_attachments`
cleans them. Exit status 1 after an answer that neither accepts nor refuses, a file that is neither
cleaned nor refused, a cleaned file that says more than its pixels, and a process that used 150 MB
or more. The same seed makes the same files.
"""

import argparse
import io
import os
import random
import re
import secrets
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from django.test import override_settings
from PIL import Image

from plugins.attachments.tests.pictures import PDF, picture
from tests.fuzz import log_in_with_a_trip
from tests.server import Server, running_server

MAX_MEGABYTES = 150
#: What an upload may be answered with.
ANSWERS = {201, 415}
#: What is sent before the worker's results are read.
_BATCH = 24
_PATIENT_SECONDS = 120
SCRIPT = b"<script>alert(1)</script>"
#: Lengths and sizes that decoders get wrong.
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


class Wrong(Exception):
    """Something that no file may cause."""


def originals() -> dict[str, list[bytes]]:
    """Sound files by type, of as many of its kinds as Pillow writes."""
    noise = Image.effect_noise((90, 60), 90)
    frames = {"save_all": True, "append_images": [noise.rotate(90)], "duration": 1}
    found = {
        "JPEG": [picture(size=(96, 60)), _file(noise, "JPEG", progressive=True)],
        "PNG": [picture("PNG", size=(96, 60)), _file(noise.convert("P"), "PNG", **frames)],
        "WEBP": [picture("WEBP", size=(96, 60)), _file(noise, "WEBP", lossless=True, **frames)],
        "PDF": [PDF],
    }
    found["JPEG"].append(_file(noise.convert("CMYK"), "JPEG"))
    found["PNG"] += [_file(noise.convert(mode), "PNG") for mode in ("1", "I;16", "RGBA")]
    try:
        from pillow_heif import register_heif_opener  # noqa: PLC0415 -- an extra
    except ImportError:
        return found
    register_heif_opener()
    return found | {"HEIF": [_file(noise.convert("RGB"), "HEIF")]}


def _file(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def mutated(sound: dict[str, list[bytes]], chance: random.Random) -> bytes:
    """A file that begins like one that is accepted, mostly."""
    kind = chance.choice(list(sound))
    content = bytearray(chance.choice(sound[kind]))
    for _change in range(chance.randint(0, 8)):
        at = chance.randrange(min(4, len(content)), len(content) + 1)
        match chance.randrange(7):
            case 0:
                content[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                content[at : at + 4] = struct.pack(">I", chance.choice(_NUMBERS))
            case 2:
                content[at : at + 2] = struct.pack("<H", chance.choice(_NUMBERS) & 0xFFFF)
            case 3:
                del content[at : at + chance.choice([1, 16, 400])]
            case 4:
                piece = content[at : at + chance.randint(1, 200)]
                content[at:at] = piece * chance.choice([1, 2, 500])
            case 5:
                content[at:at] = chance.randbytes(chance.randint(1, 64))
            case 6:
                # Of two types at once, one of them perhaps a script.
                other = chance.choice([*sound.values(), [SCRIPT, b"PK\x03\x04" + SCRIPT]])
                content[at:at] = chance.choice(other)
    if kind == "PNG" and chance.random() < 0.7:
        return _with_sums(bytes(content))
    return bytes(content)


def _with_sums(content: bytes) -> bytes:
    """A PNG whose check sums are right again, so that more than the first one is read."""
    at, parts = 8, [content[:8]]
    while at + 8 <= len(content):
        [length] = struct.unpack(">I", content[at : at + 4])
        body = content[at + 4 : at + 8 + length]
        parts += [content[at : at + 4], body, struct.pack(">I", zlib.crc32(body))]
        at += 12 + length
    return b"".join(parts)


class Fuzz:
    """Sends files, and looks at what became of them."""

    def __init__(self, server: Server, http: httpx.Client, worker: int, seed: str) -> None:
        self.http = http
        self.http.headers["Authorization"] = f"Bearer {log_in_with_a_trip(server)}"
        self.trip = "/api/trips/{id}".format(**self.http.get("/api/trips").json()["items"][0])
        self.chance, self.sound = random.Random(seed), originals()
        self.server, self.worker = server, worker
        self.seen: Counter[str] = Counter()

    def run(self, seconds: float) -> None:
        """Raises `Wrong`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            sent = [self._upload(mutated(self.sound, self.chance)) for _file in range(_BATCH)]
            for url, content in filter(None, sent):
                self._look_at(url, content)
        for place in [*self.server.workers(), Path(f"/proc/{self.worker}")]:
            self._require_little_memory(place)

    def _upload(self, content: bytes) -> tuple[str, bytes] | None:
        name = self.chance.choice(["a.jpg", "b.pdf", "../c.html", "d.svg"])
        answer = self.http.post(f"{self.trip}/attachments", files={"file": (name, content)})
        self.seen[str(answer.status_code)] += 1
        if answer.status_code not in ANSWERS:
            raise Wrong(self._kept(content, f"{answer.status_code} {answer.text}"))
        return (answer.headers["Location"], content) if answer.is_success else None

    def _look_at(self, url: str, content: bytes) -> None:
        deadline = time.monotonic() + _PATIENT_SECONDS
        while (shown := self.http.get(url).json())["state"] == "processing":
            if time.monotonic() > deadline:
                raise Wrong(self._kept(content, "It is processed for ever."))
            time.sleep(0.05)
        self.seen[f"{shown['type']} {shown['state']}"] += 1
        answer = self.http.get(shown["url"])
        if answer.status_code != (200 if shown["state"] == "ready" else 409):
            raise Wrong(self._kept(content, f"The file is {answer.status_code}."))
        if shown["state"] == "ready" and shown["type"].startswith("image/"):
            image = Image.open(io.BytesIO(answer.content))
            image.load()
            if image.getexif() or SCRIPT in answer.content:
                raise Wrong(self._kept(content, "It says more than its pixels."))
        if self.http.delete(url).status_code != 204:
            raise Wrong(self._kept(content, "It cannot be deleted."))

    def _require_little_memory(self, place: Path) -> None:
        found = re.search(r"VmHWM:\s+(\d+) kB", (place / "status").read_text())
        megabytes = int(found[1]) // 1024 if found else 0
        self.seen["MB at most"] = max(self.seen["MB at most"], megabytes)
        if megabytes >= MAX_MEGABYTES:
            raise Wrong(f"A process used {megabytes} MB.")

    @staticmethod
    def _kept(content: bytes, text: str) -> str:
        """The text with the name of a file that has what was sent."""
        with tempfile.NamedTemporaryFile(prefix="fuzzed-", delete=False) as file:
            file.write(content)
        return f"{text} It was {file.name}."


@contextmanager
def fuzzing(seed: str) -> Iterator[Fuzz]:
    """A server on a database of its own, with a worker."""
    limits = {"QUOTA_ATTACHMENTS": "100000", "QUOTA_ACCOUNT_ATTACHMENTS": "100000"}
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(
            ATTACHMENTS_STORE=folder, THROTTLE_UPLOAD="", LOG_LEVEL="ERROR", **limits
        ) as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=60) as http,
    ):
        command = [sys.executable, "manage.py", "process_attachments", "--watch"]
        with subprocess.Popen(command, env=server.environment, cwd=server.root) as worker:
            try:
                yield Fuzz(server, http, worker.pid, seed)
            finally:
                worker.terminate()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz-files")
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MINUTES", "10")))
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the one that a run printed")
    options = parser.parse_args()
    sys.stdout.write(f"Seed {options.seed}\n")
    with override_settings(DATABASE_URL="sqlite:///:memory:"), fuzzing(options.seed) as fuzz:
        try:
            fuzz.run(options.minutes * 60)
        except Wrong as wrong:
            sys.stdout.write(f"{wrong}\n")
            return 1
        finally:
            seen = ", ".join(f"{count} {what}" for what, count in sorted(fuzz.seen.items()))
            sys.stdout.write(f"{seen}\n")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    sys.exit(main())
