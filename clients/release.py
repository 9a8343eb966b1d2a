"""Builds what a release consists of, in `dist/`, and tries each in a clean environment.

`python -m clients.release`. Everything is built from a clone, without what is not committed. The
image is built where there is a container engine. docs/versions.md says what to do before.
"""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import httpx

from clients import breaking
from clients.__main__ import FOLDER, PYTHON, run
from tests.programs import found
from tests.releases import PREVIOUS_RELEASE
from tests.server import ROOT, free_port, running_server

DIST = ROOT / "dist"
_START_SECONDS = 300
_TEST = (sys.executable, "-m", "pytest", "-q", "-n0", "plugins/demo/tests/test_installed.py")


def version_of(project: str) -> str:
    return str(tomllib.loads(project)["project"]["version"])


def write_notes(version: str) -> bool:
    """Write what the changelog says of the version; returns whether it has been released.

    While the changelog has a section `Unreleased`, that is what would be released next.
    """
    sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    (DIST / "NOTES.md").write_text(sections[0].partition("\n")[2].strip() + "\n")
    return not sections[0].startswith(f"[{version}]")


def require_major(version: str) -> None:
    """Stop if the version breaks clients and is not a major one."""
    name = f"{PREVIOUS_RELEASE}:pyproject.toml"
    last = version_of(subprocess.check_output(["git", "show", name], cwd=ROOT, text=True))
    if breaking.LIST.read_text() and version.partition(".")[0] == last.partition(".")[0]:
        sys.exit(f"{version} breaks clients of {last}, so it needs another major number.")


def release_wheel(clone: Path) -> None:
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", DIST)
    run("The wheel is built", *pip, clone)
    [wheel] = DIST.glob("tripcompanion-*.whl")
    run("It runs the tour in an empty environment", *_TEST, cwd=ROOT, WHEEL=str(wheel))


def release_npm(clone: Path, folder: Path) -> None:
    package = clone / "clients" / "typescript"
    run("The npm package is built", "npm", "pack", "--pack-destination", DIST, cwd=package)
    [archive] = DIST.glob("trip-companion-client-*.tgz")
    tools = json.loads((FOLDER / "package.json").read_text())["devDependencies"]
    needed = [f"{name}@{tools[name]}" for name in ("typescript", "@types/node")]
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copy(FOLDER / "play.ts", folder)
    install = ("npm", "install", "--prefer-offline", "--no-audit", "--no-fund")
    run("npm installs it", *install, archive, *needed, cwd=folder)
    options = json.loads((FOLDER / "tsconfig.json").read_text())["compilerOptions"]
    options |= {"outDir": "."}
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": options, "files": ["play.ts"]})
    )
    run("tsc --strict compiles the story", "npx", "tsc", cwd=folder)
    with running_server(LOG_LEVEL="ERROR") as server:
        run("The story succeeds", "node", "play.js", server.url, cwd=folder)


def release_python(clone: Path, folder: Path) -> None:
    source = folder / "client"
    generate = (PYTHON, "-m", "openapi_python_client", "generate", "--meta", "setup")
    document = ("--path", clone / "openapi.yaml", "--config", FOLDER / "openapi-python-client.yaml")
    run("The Python client is generated", *generate, *document, "--output-path", source)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", DIST)
    run("Its wheel is built", *pip, source)
    [wheel] = DIST.glob("trip_companion_client-*.whl")
    run("An environment is made", sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run("pip installs it", python, "-m", "pip", "install", "--quiet", wheel)
    with running_server(LOG_LEVEL="ERROR") as server:
        run("The story succeeds", python, FOLDER / "play.py", server.url, cwd=folder)


def release_image(clone: Path, version: str) -> None:
    """Build the image and run it as the README says, with another port and volume."""
    if found("docker") is None or subprocess.call(
        ["docker", "info"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        sys.stdout.write("The image was left out: there is no container engine\n")
        return
    readme = (ROOT / "README.md").read_text()
    [block] = re.findall(r"^```sh\n(docker build .*?)^```$", readme, re.M | re.S)
    image, name, port = f"tripcompanion:{version}", f"trips-{secrets.token_hex(4)}", free_port()
    for documented, own in {
        "https://git.example.com/trip-companion.git": str(clone),
        "--tag tripcompanion": f"--tag {image} --network host",
        "docker run": f"docker run --detach --name {name}",
        ":8000:8000": f":{port}:8000",
        "tripcompanion:/data": f"{name}:/data",
        " tripcompanion tripcompanion run": f" {image} tripcompanion run",
    }.items():
        block = block.replace(documented, own)
    build, start = block.strip().split("\n")
    run("The image is built", "sh", "-euc", build)
    url = f"http://localhost:{port}"
    try:
        # The second one finds the data in the volume.
        for _time in range(2):
            run("It is started", "sh", "-euc", start)
            wait_for(url)
            run("It runs the tour", *_TEST, "-ktour", cwd=ROOT, SERVED=url)
            run("It is stopped", "docker", "stop", name)
            # Not `--rm`, which the engine does some time after the stop.
            run("It is removed", "docker", "rm", name)
    finally:
        for remove in (["rm", "--force"], ["volume", "rm"]):
            subprocess.call(["docker", *remove, name], stdout=subprocess.DEVNULL)


def wait_for(url: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            httpx.get(f"{url}/api/health").raise_for_status()
        except httpx.HTTPError:
            if time.monotonic() > deadline:
                sys.exit(f"Nothing answers at {url}")
            time.sleep(0.1)
        else:
            return


def main() -> None:
    """Build and try everything."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    version = version_of((ROOT / "pyproject.toml").read_text())
    breaking.main([])
    is_rehearsal = write_notes(version)
    if not is_rehearsal:
        require_major(version)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        clone = folder / "clone"
        run("A clone is made", "git", "clone", "--quiet", ROOT, clone)
        for name in ("npm", "python"):
            (folder / name).mkdir()
        release_wheel(clone)
        release_npm(clone, folder / "npm")
        release_python(clone, folder / "python")
        release_image(clone, version)
    for file in sorted(DIST.iterdir()):
        sys.stdout.write(f"{file.stat().st_size:10} dist/{file.name}\n")
    if is_rehearsal:
        sys.stdout.write(f"A rehearsal: the changelog has changes since {version}.\n")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    os.environ |= {"DEBUG": "true"}
    main()
