"""HAProxy, nginx and Caddy in front of servers, with the files in deploy/."""

import os
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

from tests.programs import program, running
from tests.server import ROOT, free_port

DEPLOY = ROOT / "deploy"
#: What the tests of each need: the program, and those that write its files.
HAPROXY = pytest.mark.needs("haproxy")
NGINX = pytest.mark.needs("nginx", "envsubst")
CADDY = pytest.mark.needs("caddy")
#: Of the service's processes times its threads; the test servers have two processes.
MAXCONN = "512"
#: The first version of Caddy that waits for the whole body of a request; Debian's is older.
_CADDY_BUFFERING = (2, 7)


@dataclass(frozen=True)
class Proxy:
    """A running proxy, its files, and the context with which clients trust its certificate."""

    url: str
    folder: Path
    trust: ssl.SSLContext

    def command(self, line: str) -> None:
        """Send a command to HAProxy's socket, as an operator does before stopping a host."""
        assert not self.ask(line).strip()

    def ask(self, line: str) -> str:
        """What HAProxy's socket answers to a command."""
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(str(self.folder / "admin.sock"))
            admin.sendall(f"{line}\n".encode())
            return b"".join(iter(lambda: admin.recv(4096), b"")).decode()


@contextmanager
def haproxy(server_url: str, folder: Path, **variables: str) -> Iterator[str]:
    """Start HAProxy in front of one server, without TLS, and yield its URL.

    `variables` are for deploy/haproxy.cfg.
    """
    port = free_port()
    lines = (DEPLOY / "haproxy.cfg").read_text().splitlines(keepends=True)
    # One host, and a bind without a certificate; the rest stays.
    lines = [line for line in lines if "server host2" not in line]
    [bind] = [line for line in lines if line.lstrip().startswith("bind ")]
    lines[lines.index(bind)] = f"    bind 127.0.0.1:{port}\n"
    (folder / "haproxy.cfg").write_text("".join(lines))
    environment = os.environ | _variables(folder, port, [server_url]) | variables
    command = [program("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")]
    with running(command, port, env=environment):
        yield f"http://localhost:{port}"


@contextmanager
def haproxy_of_hosts(server_urls: Sequence[str], folder: Path, **variables: str) -> Iterator[Proxy]:
    """Start HAProxy with deploy/haproxy.cfg as it is; `variables` replace those of test servers."""
    port = free_port()
    trust = certify(folder)
    environment = os.environ | _variables(folder, port, server_urls) | variables
    command = [program("haproxy"), "-db", "-f", str(DEPLOY / "haproxy.cfg")]
    with running(command, port, env=environment):
        yield Proxy(f"https://localhost:{port}", folder, trust)


@contextmanager
def nginx_of_hosts(server_urls: Sequence[str], folder: Path) -> Iterator[Proxy]:
    """Start nginx with deploy/nginx.conf, whose variables `envsubst` replaces."""
    port = free_port()
    trust = certify(folder)
    main = write_nginx(folder, _variables(folder, port, server_urls))
    with running([program("nginx"), "-p", str(folder), "-c", str(main)], port):
        yield Proxy(f"https://localhost:{port}", folder, trust)


@contextmanager
def caddy_of_host(server_urls: Sequence[str], folder: Path) -> Iterator[Proxy]:
    """Start Caddy with deploy/Caddyfile in front of the first server.

    It gets a certificate of the test instead of one of its own, and no port but its own.
    """
    port = free_port()
    trust = certify(folder)
    text = (DEPLOY / "Caddyfile").read_text()
    pair = f"tls {folder}/tripcompanion.pem {folder}/tripcompanion.key"
    changes = {
        "web:8000": urlsplit(server_urls[0]).netloc,
        "{$DOMAIN:localhost} {": f"https://localhost:{port} {{\n\t{pair}",
        "{\n\t# Slow": "{\n\tadmin off\n\tauto_https disable_redirects\n\t# Slow",
    }
    if _caddy_version() < _CADDY_BUFFERING:
        changes["\t\trequest_buffers 11MiB\n"] = ""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    file = folder / "Caddyfile"
    file.write_text(text)
    homes = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    command = [program("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"]
    with running(command, port, env=os.environ | homes):
        yield Proxy(f"https://localhost:{port}", folder, trust)


def _caddy_version() -> tuple[int, ...]:
    said = subprocess.run([program("caddy"), "version"], capture_output=True, text=True, check=True)
    return tuple(int(part) for part in re.findall(r"\d+", said.stdout)[:2])


def write_nginx(folder: Path, variables: dict[str, str]) -> Path:
    """Write deploy/nginx.conf with its variables, and a main file that includes it."""
    names = " ".join(f"${{{name}}}" for name in variables)
    written = subprocess.run(
        [program("envsubst"), names],
        input=(DEPLOY / "nginx.conf").read_text(),
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / "tripcompanion.conf").write_text(written.stdout)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    # As root, its processes would be another user, who may not write here.
    user = "user root;\n" if os.geteuid() == 0 else ""
    main = folder / "nginx.conf"
    main.write_text(
        f"{user}daemon off;\npid {folder}/nginx.pid;\nerror_log stderr warn;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{places}include {folder}/tripcompanion.conf;\n}}\n"
    )
    return main


def deployment_variables(folder: Path) -> dict[str, str]:
    """What a deployer sets for both files, with a new certificate."""
    certify(folder)
    return _variables(folder, free_port(), ["http://localhost:8001", "http://localhost:8002"])


def certify(folder: Path) -> ssl.SSLContext:
    """Write a certificate for localhost and its key, and a context that trusts it."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    issued.private_key_pem.write_to_path(folder / "tripcompanion.key")
    issued.private_key_and_cert_chain_pem.write_to_path(folder / "tripcompanion.pem")
    return ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())


def _variables(folder: Path, port: int, server_urls: Sequence[str]) -> dict[str, str]:
    hosts = [urlsplit(url).netloc.replace("localhost", "127.0.0.1") for url in server_urls]
    return {
        "ADMIN_SOCKET": str(folder / "admin.sock"),
        "BIND": f"127.0.0.1:{port}",
        "CERTIFICATE": str(folder / "tripcompanion.pem"),
        "CERTIFICATE_KEY": str(folder / "tripcompanion.key"),
        "DOMAIN": "localhost",
        "MAXCONN": MAXCONN,
        **{f"HOST_{number}": host for number, host in enumerate(hosts, 1)},
    }


#: For `parametrize`, and for the parameters of a fixture. The first two balance several hosts.
PROXIES = [
    pytest.param(haproxy_of_hosts, id="HAProxy", marks=HAPROXY),
    pytest.param(nginx_of_hosts, id="nginx", marks=NGINX),
]
ALL_PROXIES = [*PROXIES, pytest.param(caddy_of_host, id="Caddy", marks=CADDY)]
