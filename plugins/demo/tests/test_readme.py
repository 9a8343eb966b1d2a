"""The documents tell the truth: the tour runs as printed, tables, targets and links are right."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from itertools import pairwise
from json import JSONDecoder, loads
from pathlib import Path

import httpx
import pytest
import yaml
from django.conf import settings

from tests.document import usual_plugins
from tests.releases import PREVIOUS_RELEASE
from tests.server import ROOT, running_server
from tests.trips.scopes import SCOPES_OF
from tripcompanion.plugin import read_yaml
from trips.models.events import Event
from trips.roles import TABLE, Access, TripRole
from users.scopes import all_scopes

pytestmark = pytest.mark.once

DOCS = {path.stem: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "docs/*.md", "deploy/*.md", "plugins/*/README.md")
    for path in ROOT.glob(pattern)
)
README = (ROOT / "README.md").read_text()
SEPARATOR = "\x1e"
needs_curl = pytest.mark.needs("curl")
# What only one kind of object has; the key of the numbers that name it elsewhere.
KINDS = {
    "email": "user",
    "tripCode": "trip",
    "joinedAt": "member",
    "splitType": "expense",
    "participant": "split",
    "settledOn": "settlement",
}


def section(title, document):
    """The text below a heading, up to the next of the same or a higher level."""
    level, below = re.search(rf"^(#+) {re.escape(title)}\n(.*)", document, re.M | re.S).groups()
    return re.split(rf"^#{{1,{len(level)}}} ", below, maxsplit=1, flags=re.M)[0]


def rows(title, document):
    """The cells of the first table of a section, without its head."""
    lines = re.findall(r"^\|(.+)\|$", section(title, document), re.M)
    return [[cell.strip() for cell in line.split("|")] for line in lines[2:]]


def tour(document, title):
    """Each shell block of a section with the answer that is shown for it, or with nothing."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", section(title, document), re.M | re.S)
    pairs = []
    for (language, text), (next_language, next_text) in pairwise([*blocks, ("", "")]):
        if language == "sh":
            pairs.append((text, next_text if next_language == "text" else ""))
    return pairs


def play(blocks, base_url, **variables):
    """Run the blocks in one shell, strictly, and give back the last line that each printed.

    The shell has nothing of this process's environment but PATH.
    """
    script = f"\nprintf '%s' '{SEPARATOR}'\n".join(blocks)
    script = script.replace("API=http://localhost:8000/api\n", f"API={base_url}/api\n")
    assert base_url in script, "the tour does not set API as expected"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.run(
        ["sh", "-eu", "-c", script],
        env={"PATH": path} | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (shell.returncode, shell.stderr) == (0, "")
    return [([""] + printed.split("\n"))[-2] for printed in shell.stdout.split(SEPARATOR)]


def parsed(text):
    """An answer, or a shown one: `…` in an object becomes a key, numbers keep their digits."""
    text = re.sub(r"…\s*}", '"…": 0}', text)
    return loads(text, parse_float=Decimal)


class Comparison:
    """Compares what is shown with what was answered, step after step.

    Identifiers may be others, but the same one must always stand for the same thing; tokens,
    instants and the number that makes the addresses unique may differ. In an object that is
    shown with `…`, keys may be missing.
    """

    def __init__(self):
        self.identifiers: dict[tuple[str, int], int] = {}

    def require(self, shown, real, where):
        if isinstance(shown, dict):
            assert isinstance(real, dict), where
            named = [key for key in shown if key != "…"]
            kept = named if "…" in shown else real
            assert named == [key for key in real if key in kept], where
            kind = next((kind for key, kind in KINDS.items() if key in real), "")
            for key in named:
                self._require_value(key, kind, shown[key], real[key], f"{where}.{key}")
        elif isinstance(shown, list):
            assert isinstance(real, list), where
            assert len(shown) == len(real), where
            for at, (one, other) in enumerate(zip(shown, real, strict=True)):
                self.require(one, other, f"{where}.{at}")
        else:
            assert repr(neutral(shown)) == repr(neutral(real)), where

    def _require_value(self, key, kind, shown, real, where):
        if (key == "id" or key.endswith("Id")) and isinstance(shown, int):
            assert isinstance(real, int), where
            kind = kind if key == "id" else key.removesuffix("Id")
            assert kind, f"{where}: of what?"
            assert self.identifiers.setdefault((kind, shown), real) == real, where
        else:
            self.require(shown, real, where)

    def require_distinct(self):
        """No two identifiers of a kind that are shown apart are one."""
        real = [(kind, number) for (kind, _shown), number in self.identifiers.items()]
        assert len(set(real)) == len(real), self.identifiers


def neutral(value):
    """A text without what differs from run to run."""
    if not isinstance(value, str):
        return value
    value = re.sub(r"^eyJ[\w.…-]+$", "(token)", value)
    value = re.sub(r"\.[0-9]{10}-[0-9]+@", ".(run)@", value)
    value = re.sub(r"^[0-9a-f]{6}…$|^[0-9a-f]{32}$", "(request)", value)
    return re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9:.]+Z", "(instant)", value)


@needs_curl
def test_the_tour_answers_what_it_shows_every_time(server):
    blocks, shown_answers = zip(*tour(DOCS["tour"], "A tour with curl"), strict=True)
    assert sum(1 for shown in shown_answers if shown) == 17
    for _time in range(2):
        comparison = Comparison()
        answers = play(list(blocks), server.url)
        assert len(answers) == len(blocks)
        for number, (shown, real) in enumerate(zip(shown_answers, answers, strict=True)):
            if shown:
                comparison.require(parsed(shown), parsed(real), f"block {number}")
        comparison.require_distinct()


@usual_plugins
@pytest.mark.slow
@needs_curl
def test_webhooks_changes_and_tokens_go_on_after_the_tour():
    registration, *_rest = re.findall(r"^```sh\n(.*?)^```$", DOCS["webhooks"], re.M | re.S)
    whole, start, further, waiting = re.findall(r"^```sh\n(.*?)^```$", DOCS["changes"], re.M | re.S)
    [token] = re.findall(r"^```sh\n(.*?)^```$", DOCS["roles"], re.M | re.S)
    before = "".join(block for block, _answer in tour(DOCS["tour"], "A tour with curl"))
    before += registration
    change = """api "$API/trips/$TRIP" -X PATCH -H "$OLGA" -d '{"title": "Porto"}'\n"""
    with running_server(WEBHOOKS_ALLOW_PRIVATE="true") as server:
        blocks = [before, whole, start + change + further, waiting, token]
        receiver = "http://localhost:9000/"
        made, all_of_it, read, waited, scoped = play(blocks, server.url, RECEIVER=receiver)
    assert loads(made)["secret"].startswith("whsec_")
    assert len(loads(all_of_it)["items"]) > 1
    assert [item["event"] for item in loads(read)["items"]] == ["trip.changed"]
    assert loads(waited) == loads(read)
    assert loads(scoped)["token"].startswith("tc_")


@usual_plugins
@pytest.mark.slow
@needs_curl
def test_the_first_requests_work_as_shown_after_make_run():
    [(first, shown)] = tour(README, "Who owes whom")
    [block] = re.findall(r"^```sh\n(.*?)^```$", DOCS["assistants"], re.M | re.S)
    with running_server() as server:
        server.manage("demo")
        [balances] = play([first], server.url)
        [answer] = play([block + "echo"], server.url)
    Comparison().require(parsed(shown), parsed(balances), "balances")
    trips = loads(answer)["result"]["structuredContent"]
    assert "Lisbon in May" in {trip["title"] for trip in trips["items"]}


@usual_plugins
@needs_curl
def test_a_program_for_splitwises_api_makes_its_first_group_as_shown():
    [block, *_rest] = re.findall(r"^```sh\n(.*?)^```$", DOCS["splitwise"], re.M | re.S)
    with running_server(SPLITWISE_API="true") as server:
        block = block.replace("localhost:8000", server.url.removeprefix("http://"))
        olga = {"name": "Olga", "email": "olga@example.com", "password": "four-green-suitcases"}
        assert httpx.post(f"{server.url}/api/users/register", json=olga).status_code == 201
        [answer] = play([f"# {server.url}\n{block}echo"], server.url)
    made, end = JSONDecoder().raw_decode(answer)
    groups = loads(answer[end:])["groups"]
    assert [group["name"] for group in groups if group["id"]] == [made["group"]["name"]] == ["Flat"]


CORE = [
    *(ROOT / "tripcompanion" / name for name in ("settings.py", "serving/preflight.py")),
    ROOT / "gunicorn.conf.py",
]
PLUGINS = sorted(ROOT.glob("plugins/*/settings.py"))


def knobs(*files):
    """Every variable that these files read, with its default as one writes it.

    None is a default that is empty, or not the same everywhere.
    """
    found: dict[str, str | None] = {"SECRET_KEY": None} if CORE[0] in files else {}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("env"), attr=reader) | ast.Name(reader),
                    args=[ast.Constant(str(name)), *rest],
                ) if reader != "refuse" and name.isupper():
                    found[name] = written(rest[0]) if rest and reader != "plugins" else None
    return found


def written(default):
    """A default in the source as one would write it in the environment."""
    try:
        value = eval(compile(ast.Expression(default), "", "eval"), {"__builtins__": {}})  # noqa: S307 -- of settings.py
    except NameError:
        return None
    if isinstance(value, list):
        value = ",".join(value)
    return (str(value).lower() if isinstance(value, bool) else str(value)) or None


@pytest.mark.parametrize(
    ("document", "title", "files"),
    [
        ("docs/operate.md", "Configuration", CORE),
        *((f"plugins/{file.parent.name}/README.md", "Operate it", [file]) for file in PLUGINS),
    ],
)
def test_the_table_of_variables_is_what_the_settings_read(document, title, files):
    text = (ROOT / document).read_text()
    read = knobs(*files)
    table = {}
    if read or f"## {title}\n" in text:
        table = {name.strip("`"): default for name, default, _meaning in rows(title, text)}
    assert table.keys() == read.keys()
    for name, default in read.items():
        shown = re.fullmatch(r"`(.*)`", table[name])
        assert (shown[1] if shown else None) == default, name


def test_the_example_file_names_every_variable_with_its_default():
    text = (ROOT / ".env.example").read_text()
    examples = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, re.M))
    compose = set(re.findall(r"\$\{(\w+):[?-]", (ROOT / "docker-compose.yml").read_text()))
    read = knobs(*CORE, *PLUGINS)
    assert examples.keys() == read.keys() | compose | {"COMPOSE_PROFILES"}
    for name, default in read.items():
        commented_out = re.search(rf"^#{name}=", text, re.M)
        if commented_out and default is not None:
            assert examples[name] == default, name


@usual_plugins
def test_the_table_of_roles_is_the_one_in_the_code():
    """`make schema` writes it."""
    cells = {Access.ANY: "yes", Access.OWN: "own", Access.NONE: "–"}
    lines = [["May", *TripRole], ["---"] * (1 + len(TripRole))]
    lines += [[can.value, *(cells[TABLE[can][role]] for role in TripRole)] for can in TABLE]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines).replace(" --- ", "---")
    page, shown = DOCS["roles"], r"^\| May .*?\n(?=\n)"
    if os.environ.get("WRITE_ROLES"):
        page = re.sub(shown, lambda _found: table, page, count=1, flags=re.M | re.S)
        (ROOT / "docs" / "roles.md").write_text(page)
    assert re.search(shown, page, re.M | re.S)[0] == table


@usual_plugins
def test_the_table_of_scopes_is_the_one_that_is_tested():
    table = dict(rows("Scoped tokens", DOCS["roles"]))
    assert list(table) == [f"`{scope}`" for scope in all_scopes()]
    for scope in (scope for scope in all_scopes() if scope.endswith(":write")):
        opened = [can.value for can in TABLE if scope in SCOPES_OF[can].split()]
        assert table[f"`{scope}`"] == "; ".join(opened)


def test_a_recipe_has_the_files_that_it_says_and_no_more():
    document = section("How to add", (ROOT / "CONTRIBUTING.md").read_text())
    limits = {"A field": 8, "A role": 8, "An event": 4, "A format of imports": 4}
    recipes = re.findall(
        r"^### ([^\n:]+): [^\n]*?(\d+) files\n(.*?)(?=^###)", document, re.M | re.S
    )
    assert {title for title, _count, _text in recipes} > limits.keys()
    for title, count, text in recipes:
        files = re.findall(r"^\d+\. `([^`]+)`", text, re.M)
        assert len(files) == int(count) <= limits.get(title, 8), title
        assert not [file for file in files if not (ROOT / file).exists()], title


def code_of(document):
    """What stands in the code spans and blocks of a document."""
    yield from re.findall(r"^```\w*\n(.*?)^```$", document, re.M | re.S)
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", document, flags=re.M | re.S))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_make_target_that_is_named_exists(name):
    document = (ROOT / name).read_text()
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    named = {
        target for code in code_of(document) for target in re.findall(r"\bmake ([a-z-]+)", code)
    }
    assert named <= targets


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_within_the_project_leads_somewhere(name):
    document = (ROOT / name).read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", document):
        if re.match(r"[a-z]+:", link):
            continue
        path, _hash, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), link


@pytest.mark.parametrize(
    ("name", "lines"), [("README.md", 120), ("ARCHITECTURE.md", 110), ("docs/operate.md", 300)]
)
def test_a_document_is_as_short_as_it_was_meant_to_be(name, lines):
    assert len((ROOT / name).read_text().splitlines()) <= lines


@pytest.mark.needs("openssl")
def test_the_settings_of_a_deployment_are_written_once(tmp_path):
    [script] = re.findall(
        r"^```sh\n(.*?)```$", section("The first start", DOCS["operate"]), re.M | re.S
    )[:1]
    assert "> .env" in script
    written = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, check=False)
    assert (written.returncode, written.stderr) == (0, b"")
    file = tmp_path / ".env"
    first = file.read_text()
    names = re.findall(r"^([A-Z_]+)=.+$", first, re.M)
    assert len(names) == len(first.splitlines())
    assert set(names) <= set(
        re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.M)
    )
    assert file.stat().st_mode & 0o077 == 0
    again = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, check=False)
    assert again.returncode != 0
    assert b".env" in again.stderr
    assert file.read_text() == first


def anchors(document):
    """The anchors of a document's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", document, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_newest_version_of_the_changelog_is_the_one_of_the_project():
    newest = re.search(r"^## \[([0-9.]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert newest == project["version"] == settings.SPECTACULAR_SETTINGS["VERSION"]


def test_what_is_new_in_the_core_is_in_the_changelog():
    """Fields, roles and events since the last release; of a plugin, its entry tells more."""
    last = subprocess.run(
        ["git", "show", f"{PREVIOUS_RELEASE}:openapi.yaml"],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    if last.returncode:
        pytest.skip("The history lacks the previous release.")
    kinds = re.compile(
        "(New)?(User|TripDetail|TripMember|TripRole|Expense|Settlement|Trip)(Request|Enum)?"
    )

    def names(document):
        for kind, schema in document["components"]["schemas"].items():
            if kinds.fullmatch(kind):
                yield from schema.get("properties", ())

    # It is as large as the current one.
    old = yaml.load(last.stdout, yaml.CSafeLoader)  # noqa: S506 -- a safe one
    schemas = old["components"]["schemas"]
    known = {*names(old), *schemas["EventEnum"]["enum"], *schemas["TripRoleEnum"]["enum"]}
    new = {*names(read_yaml(ROOT / "openapi.yaml")), *Event, *TripRole} - known
    changelog = (ROOT / "CHANGELOG.md").read_text()
    told = {word for code in code_of(changelog) for word in re.findall(r"[\w.]+", code)}
    assert new - told == set()


def test_every_program_whose_files_are_imported_is_in_the_changelog():
    table = rows("Coming from another service", (ROOT / "plugins/exchange/README.md").read_text())
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert [name for name, *_cells in table if name not in changelog] == []
