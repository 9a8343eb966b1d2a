"""Texts follow `Accept-Language`: our own, the framework's, and all of them."""

import ast
import io
import re
import tomllib
from functools import partial

import pytest
from babel.messages import mofile, pofile
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from django.test import Client
from django.utils import translation
from rest_framework.exceptions import APIException

from tests.document import OPERATIONS, ROOT, problem_of, usual_plugins
from tests.factories import PASSWORD, spend
from tests.hostile import World, fields_of, hostile, replaced
from tests.sources import PACKAGES, shipped

pytestmark = pytest.mark.once

FOLDER = ROOT / "locale" / "es" / "LC_MESSAGES"
LAZY = {"gettext_lazy": None, "ngettext_lazy": (1, 2), "pgettext_lazy": ((1, "c"), 2)}
BABEL = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["babel"]
METHODS = [(row["pattern"], row["method"]) for row in BABEL["mappings"]]
PLACEHOLDER = re.compile(r"%\(\w+\)s|%s|\{\w+\}")


def texts_in_the_code():
    found = set()
    for app in PACKAGES:
        for row in extract_from_dir(ROOT / app, METHODS, keywords=DEFAULT_KEYWORDS | LAZY):
            found.add(row[2] if isinstance(row[2], str) else row[2][0])
    return found


def translation_functions():
    """The `gettext` functions that the code imports: the local name, and that in Django."""
    for file in shipped():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
                for imported in node.names:
                    if "gettext" in imported.name:
                        yield imported.asname or imported.name, imported.name


@pytest.fixture(scope="module")
def catalog():
    with (FOLDER / "django.po").open("rb") as file:
        return pofile.read_po(file, locale="es")


@usual_plugins
def test_every_text_of_the_code_has_a_spanish_translation(catalog):
    translated = {message.id for message in catalog if message.id and message.string}
    assert texts_in_the_code() - translated == set()
    assert translated - texts_in_the_code() == set()


def test_every_translation_function_has_a_name_that_babel_extracts():
    names = {local for local, _imported in translation_functions()}
    assert "gettext_lazy" in names
    assert names - (DEFAULT_KEYWORDS | LAZY).keys() == set()


def test_the_underscore_is_gettext_everywhere():
    assert {imported for local, imported in translation_functions() if local == "_"} == {"gettext"}
    assert "gettext" not in {local for local, _imported in translation_functions()}


def test_no_translation_is_a_guess_or_loses_a_placeholder(catalog):
    assert not catalog.fuzzy
    assert not catalog.obsolete
    for message in catalog:
        assert not message.fuzzy, message.id
        assert not list(message.check(catalog)), message.id
        if message.id:
            expected = sorted(PLACEHOLDER.findall(message.id))
            assert sorted(PLACEHOLDER.findall(message.string)) == expected, message.id
            assert message.string.endswith(".") == message.id.endswith("."), message.id


def test_the_compiled_catalog_is_as_fresh_as_its_source(catalog):
    compiled = io.BytesIO()
    mofile.write_mo(compiled, catalog)
    assert (FOLDER / "django.mo").read_bytes() == compiled.getvalue()


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        *((None, "en"), ("", "en"), ("en", "en"), ("en-GB", "en"), ("fr", "en"), ("*", "en")),
        *(("es", "es"), ("es-MX", "es"), ("es-419", "es"), ("ES", "es"), ("fr, es;q=0.5", "es")),
        *(("es;q=0.5, en", "en"), ("de, fr;q=0.9", "en"), ("x" * 5000, "en")),
        *((";q=,,es-", "en"), ("español", "en"), ("../es", "en")),
    ],
)
def test_the_language_is_the_best_that_the_client_accepts(client, accepted, language):
    headers = {} if accepted is None else {"Accept-Language": accepted}
    response = client.get("/api/nothing", headers=headers)
    document = problem_of(response, 404, "not_found")
    titles = {"en": "Not Found", "es": "No encontrado"}
    texts = {"en": "There is no such path.", "es": "No existe esta ruta."}
    assert (document["title"], document["detail"]) == (titles[language], texts[language])
    assert response.headers["Content-Language"] == language
    assert "Accept-Language" in response.headers["Vary"]


def in_both(ask):
    """What is answered in English and in Spanish."""
    return [ask(headers={"Accept-Language": language}) for language in ("en", "es")]


def test_names_and_codes_of_programs_stay_as_they_are(api, olga):
    ask = partial(api(olga).post, "/api/trips", {"title": ""})
    english, spanish = (answer.json() for answer in in_both(ask))
    assert english["code"] == spanish["code"] == "invalid"
    assert english["errors"].keys() == spanish["errors"].keys()
    assert english["errors"]["startDate"] == ["This field is required."]
    assert spanish["errors"]["startDate"] == ["Este campo es requerido."]


def test_rules_with_values_in_them_speak_spanish(api, olga, ed, trip):
    spend(trip, 1000, paid_by=olga, among=[ed])
    response = api(ed).post(
        f"/api/trips/{trip.pk}/members/leave", headers={"Accept-Language": "es"}
    )
    document = problem_of(response, 409, "balance_open")
    assert document["detail"] == (
        "El saldo en este viaje es de -10.00 EUR; hay que saldarlo antes."
    )


@pytest.mark.parametrize("password", ["password", "12345678", "short"])
def test_the_frameworks_judgement_of_passwords_speaks_spanish(client, db, password):
    body = {"email": "nora@example.com", "password": password}
    ask = partial(client.post, "/api/users/register", body, "application/json")
    english, spanish = (answer.json()["errors"]["password"] for answer in in_both(ask))
    assert english != spanish


def all_kinds(kind):
    yield kind
    for narrower in kind.__subclasses__():
        yield from all_kinds(narrower)


def test_every_kind_of_refusal_speaks_both_languages():
    ours = [k for k in all_kinds(APIException) if "simplejwt" not in k.__module__]
    assert len(ours) > 25
    for kind in ours:
        details = set()
        for language in ("en", "es"):
            with translation.override(language):
                details.add(str(kind.default_detail))
        assert len(details) == 2, kind


@pytest.mark.slow
def test_everything_that_is_said_about_a_field_is_said_in_spanish_too(olga, ed, sam, trip):
    world = World(olga, ed, sam, trip)
    english_in_spanish, compared, seen = set(), set(), set()
    for operation in (op for op in OPERATIONS if "properties" in (op.body or {})):
        for body in world.bodies[str(operation)]:
            for path, schema, _required in fields_of(operation.body, body):
                rules = str({key: schema[key] for key in schema.keys() - {"description"}})
                for literal in hostile(str(path[-1]), schema):
                    if (rules, literal) in seen:
                        continue
                    seen.add((rules, literal))
                    said = partial(world.send, operation, replaced(body, path, literal))
                    english = said(language="en").json()["detail"]
                    if english not in compared:
                        compared.add(english)
                        english_in_spanish |= {english} & {said(language="es").json()["detail"]}
    assert english_in_spanish == set()


@pytest.mark.parametrize(
    "query", ["page=0", "pageSize=101", "paidBy=x", "dateFrom=x", "category=x", "ordering=x"]
)
def test_everything_that_is_said_about_a_query_is_said_in_spanish_too(api, olga, trip, query):
    answers = in_both(partial(api(olga).get, f"/api/trips/{trip.pk}/expenses?{query}"))
    english, spanish = (problem_of(answer, 400)["detail"] for answer in answers)
    assert english != spanish


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/api/trips", {}, 401),
        ("GET", "/api/trips", {"Authorization": "Bearer x"}, 401),
        ("DELETE", "/api/health", {}, 405),
        ("GET", "/api/session/logout", {}, 405),
        ("GET", "/api/health", {"Accept": "text/csv"}, 406),
        ("POST", "/api/users/login", {"Content-Type": "text/plain"}, 415),
        ("POST", "/api/users/login", {"Content-Type": "application/json"}, 400),
        ("GET", "/api/trips", {"Host": "evil.example"}, 400),
    ],
)
def test_everything_that_is_said_about_a_request_is_said_in_spanish_too(
    client, db, method, path, headers, status
):
    content_type = headers.get("Content-Type", "application/json")
    sent = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    answers = in_both(partial(client.generic, method, path, b"{", content_type, **sent))
    english, spanish = (problem_of(answer, status) for answer in answers)
    assert english["title"] != spanish["title"]
    assert english["detail"] != spanish["detail"]
    assert english["code"] == spanish["code"]


@pytest.mark.parametrize("path", ["/api/session/login", "/api/trips"])
def test_a_refused_form_speaks_spanish(olga, path):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(olga)
    response = browser.post(path, headers={"Accept-Language": "es"})
    assert "Vuelve a cargarla" in problem_of(response, 403, "csrf_failed")["detail"]


def test_a_page_for_developers_follows_the_language_too(client, olga):
    client.login(username=olga.email, password=PASSWORD)
    page = client.get("/api/session/login", headers={"Accept-Language": "es"})
    assert "Contraseña" in page.content.decode()
