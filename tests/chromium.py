"""A headless Chromium that a test drives by the DevTools protocol, over a pipe.

`front_end` serves a page on the origin of a front end in development.
"""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.programs import program

ORIGIN = "http://localhost:4200"
WAIT_SECONDS = 60
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Page:
    """A tab. `run` evaluates JavaScript in it; `errors` are its exceptions and refused loads."""

    def __init__(self, commands: int, events: int) -> None:
        self._commands, self._events = commands, events
        self._buffer, self._number, self._session = b"", 0, ""
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._events, 1 << 16)
            assert chunk, "Chromium has ended."
            self._buffer += chunk
        message, _end, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"]))
        if event["method"] == "Log.entryAdded":
            entry = params["entry"]
            # A refused form is logged as a network error; advice is "verbose".
            if entry["source"] != "network" and entry["level"] != "verbose":
                self.errors.append(entry["text"])

    def open(self, url: str) -> None:
        """Load `url` and wait until its scripts have run."""
        self.run("window.isOld = true")
        self.call("Page.navigate", url=url)
        self.wait_for("!window.isOld && document.readyState === 'complete'")

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """The value of `expression` as soon as it is true."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
            if value := found["result"].get("value"):
                return value
            time.sleep(0.02)
        raise AssertionError(f"{expression} is not true:\n{self.text}")

    @property
    def text(self) -> str:
        """What the page shows."""
        return self.run("document.body.innerText")

    def fill(self, selector: str, value: str) -> None:
        """Enter `value` into the control that `selector` finds."""
        # React ignores an assignment to `value` without the setter of the class.
        self.run(
            f"""{{
                const control = document.querySelector({json.dumps(selector)});
                const setter = Object.getOwnPropertyDescriptor(
                    Object.getPrototypeOf(control), "value").set;
                setter.call(control, {json.dumps(value)});
                control.dispatchEvent(new Event("input", {{bubbles: true}}));
            }}"""
        )

    def click(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).click()")


@contextmanager
def chromium(profile: Path, *flags: str) -> Iterator[Page]:
    """A tab of a new browser, which ends with the block."""
    commands_in, commands = os.pipe()
    events, events_in = os.pipe()
    # Chromium reads commands from descriptor 3 and writes to 4.
    command = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
    arguments = (str(commands_in), str(events_in), program("chromium"), *FLAGS, *flags)
    process = subprocess.Popen(
        [
            *("bash", "-c", command, "bash", *arguments),
            *("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
        ],
        pass_fds=(commands_in, events_in),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands_in)
    os.close(events_in)
    try:
        page = Page(commands, events)
        yield page
        page.call("Browser.close")
    finally:
        os.close(commands)
        process.terminate()
        process.wait(timeout=WAIT_SECONDS)
        os.close(events)


def after_its_scripts(url: str, profile: Path) -> str:
    """The page at `url` as a real browser has it when nothing is going on any more."""
    return subprocess.run(
        [
            program("chromium"),
            *FLAGS,
            f"--user-data-dir={profile}",
            *("--virtual-time-budget=60000", "--dump-dom", url),
        ],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=True,
    ).stdout


@contextmanager
def front_end(page: str) -> Iterator[str]:
    """Serve `page` on ORIGIN; waits while another run of this test has the port."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802 -- as in http.server
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *args: object) -> None:
            """Nothing."""

    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            front = ThreadingHTTPServer(("127.0.0.1", 4200), Page)
            break
        except OSError:
            assert time.monotonic() < deadline, "Port 4200 is in use."
            time.sleep(0.5)
    threading.Thread(target=front.serve_forever, daemon=True).start()
    try:
        yield ORIGIN
    finally:
        front.shutdown()
        front.server_close()
