"""docs/private-names.md lists the names of libraries that no manual documents, and their files."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.document import usual_plugins
from tests.sources import shipped

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "private-names.md").read_text()
FILES = [path.relative_to(ROOT).as_posix() for path in (ROOT / "gunicorn.conf.py", *shipped())]

pytestmark = pytest.mark.once

LIBRARIES = re.compile(
    r"(django|rest_framework|psycopg|gunicorn|drf_spectacular|django_filters|django_otp"
    r"|rest_framework_simplejwt|prometheus_client|corsheaders)(\.|$)"
)
#: Modules, and single names of others, that the manuals list.
DOCUMENTED_MODULES = set(
    re.findall(
        r"\S+",
        """
    django django.apps django.conf django.contrib django.contrib.admin.models django.contrib.auth
    django.contrib.auth.admin django.contrib.auth.forms django.contrib.auth.hashers
    django.contrib.auth.management.commands django.contrib.auth.models
    django.contrib.auth.password_validation django.contrib.auth.signals
    django.contrib.auth.views django.contrib.contenttypes.models
    django.contrib.messages.storage.cookie django.contrib.sessions.models django.core
    django.core.cache django.core.checks django.core.exceptions django.core.files
    django.core.files.storage django.core.mail django.core.management
    django.core.management.base django.core.management.commands django.core.signals
    django.core.validators django.core.wsgi django.db django.db.backends.postgresql
    django.db.backends.signals django.db.migrations django.db.migrations.operations
    django.db.migrations.operations.base django.db.migrations.state django.db.models
    django.db.models.fields.json django.db.models.functions django.db.models.signals
    django.dispatch django.http
    django.shortcuts
    django.template.loader django.template.response django.urls django.utils
    django.utils.cache django.utils.dateparse django.utils.decorators
    django.utils.deprecation.MiddlewareMixin django.utils.functional
    django.utils.html django.utils.http django.utils.safestring django.utils.text.format_lazy
    django.utils.translation django.views django.views.decorators.cache
    django.views.decorators.csrf django.views.decorators.debug django.views.decorators.http
    django.views.generic
    rest_framework rest_framework.authentication rest_framework.exceptions
    rest_framework.generics rest_framework.negotiation rest_framework.pagination
    rest_framework.parsers rest_framework.permissions rest_framework.renderers
    rest_framework.request rest_framework.response rest_framework.serializers
    rest_framework.settings rest_framework.throttling rest_framework.views rest_framework.viewsets
    psycopg psycopg.abc psycopg.conninfo
    drf_spectacular.extensions drf_spectacular.generators drf_spectacular.openapi
    drf_spectacular.renderers drf_spectacular.types drf_spectacular.utils drf_spectacular.views
    django_filters.rest_framework
    django_otp django_otp.plugins.otp_static.admin django_otp.plugins.otp_static.models
    django_otp.plugins.otp_totp.admin django_otp.plugins.otp_totp.models
    rest_framework_simplejwt rest_framework_simplejwt.backends rest_framework_simplejwt.exceptions
    prometheus_client prometheus_client.core prometheus_client.multiprocess
    prometheus_client.registry
    """,
    )
)
#: Their classes may be subclassed, but no manual says what a subclass finds.
BASES = {"django.db.backends.postgresql", "gunicorn.workers.gthread"}
#: Variables of the compiled layer that hold an internal object.
INTERNAL = {"compiler", "lookup", "query"}
#: Names that the manuals list, and those of a named tuple.
DOCUMENTED = {
    *("_meta", "_default_manager", "_base_manager", "_replace", "_asdict"),
    *("connection", "cursor", "execute", "mogrify", "nextset", "vendor"),
}


@cache
def parsed(path):
    return ast.parse((ROOT / path).read_text())


def defined(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


@cache
def ours():
    """The names that our files define."""
    return {name for path in FILES for name in defined(parsed(path))}


def owner_of(node):
    """The last name before the dot."""
    return getattr(node.value, "id", getattr(node.value, "attr", ""))


def is_of_a_named_tuple(node):
    return node.attr == "_fields" and owner_of(node).istitle()


def is_super(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"


def imported(tree):
    """The module and the name of each import of a library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and LIBRARIES.match(str(node.module)):
            yield from ((str(node.module), alias.name) for alias in node.names)


def inherited(tree):
    """What subclasses of `BASES` use of their base."""
    bases = {name for module, name in imported(tree) if module in BASES}
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        if not bases & {str(ast.unparse(base)).partition(".")[0] for base in kind.bases}:
            continue
        own = set(defined(kind))
        for node in ast.walk(kind):
            if isinstance(node, ast.Attribute) and (
                is_super(node.value)
                or (getattr(node.value, "id", "") == "self" and node.attr not in own)
            ):
                yield node.attr


def undocumented(path):
    tree = parsed(path)
    found = {
        name
        for module, name in imported(tree)
        if not {module, f"{module}.{name}"} & DOCUMENTED_MODULES or name.startswith("_")
    }
    found |= set(inherited(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        is_own = node.attr in ours() and not is_super(node.value)
        is_private = re.match("_[a-z]", node.attr) and not (is_own or is_of_a_named_tuple(node))
        is_internal = owner_of(node) in INTERNAL or node.attr == "query"
        if is_private or ("/compiled/" in path and is_internal):
            found.add(node.attr)
    return found - DOCUMENTED - {name for name in found if name.startswith("__")}


def mentioned(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if owner_of(node) not in sys.stdlib_module_names and not is_of_a_named_tuple(node):
                yield node.attr
        elif isinstance(node, ast.Constant):
            yield str(node.value)
    yield from defined(tree)
    yield from (name for _module, name in imported(tree))


def listed():
    """The files of each name in the table."""
    rows = re.findall(r"^\| `([\w.]+)` \| [^|]+ \| ([^|]+) \|", PAGE, re.MULTILINE)
    return {name: set(re.findall(r"`([^`]+)`", files)) for name, files in rows}


def test_what_no_manual_documents_is_listed():
    table = listed()
    for path in FILES:
        assert undocumented(path) <= {name for name, files in table.items() if path in files}, path


@usual_plugins
def test_each_name_is_used_where_the_table_says():
    files: dict[str, set[str]] = {}
    for path in FILES:
        for name in mentioned(parsed(path)):
            files.setdefault(name, set()).add(path)
    for name, expected in listed().items():
        used = files.get(name, set())
        # Others may have the name of something of ours.
        assert used & expected == expected if name in ours() else used == expected, name


def test_versions_are_bounded():
    project = (ROOT / "pyproject.toml").read_text()
    for package in ("django", "djangorestframework", r"psycopg\[binary\]", "gunicorn"):
        assert re.search(rf'"{package}>=[0-9.]+,<[0-9.]+"', project), package
