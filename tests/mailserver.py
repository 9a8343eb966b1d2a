"""A real SMTP server on this machine, as much of it as a sender needs, that keeps what it gets."""

import re
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from threading import Event, Thread

from tests.server import free_port


class Session(socketserver.StreamRequestHandler):
    """One connection."""

    server: "MailServer"

    def handle(self) -> None:
        self.say("220 ready")
        while line := self.rfile.readline().decode().strip():
            word = line.split()[0].upper()
            if word == "DATA" and self.server.stalls:
                self.server.is_stalled.set()
                # The sender may be gone by then.
                self.server.is_over.wait()
                return
            if word == "DATA":
                self.say("354 go on")
                self.keep(b"".join(iter(self.rfile.readline, b".\r\n")))
            elif word == "RCPT" and (refusal := self.server.refusals.get(address_in(line))):
                self.say(refusal)
            elif word == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 fine")

    def keep(self, data: bytes) -> None:
        message = message_from_bytes(data.replace(b"\r\n..", b"\r\n."), policy=policy.default)
        self.server.received.append(message)
        self.say("250 kept")

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


class MailServer(socketserver.ThreadingTCPServer):
    """Keeps mails in `received`; answers a recipient in `refusals` with the line given there."""

    allow_reuse_address = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Session)
        self.received: list[EmailMessage] = []
        self.refusals: dict[str, str] = {}
        #: Whether it takes the text of no mail, and lets the sender wait; then `is_stalled` is set.
        self.stalls = False
        self.is_stalled, self.is_over = Event(), Event()
        self.url = f"smtp://127.0.0.1:{self.server_address[1]}"


def address_in(line: str) -> str:
    return re.search(r"<(.*?)>", line)[1]


def token_in(text: str) -> str:
    """The token of the link in a mail."""
    return re.search(r"\?token=([\w-]+)", text)[1]


@contextmanager
def mail_server(port: int = 0) -> Iterator[MailServer]:
    """Serve on `port`, by default a free one, until the end of the block."""
    with MailServer(port or free_port()) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            server.shutdown()
            thread.join()
