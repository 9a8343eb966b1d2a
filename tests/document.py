"""What is written in `openapi.yaml`, and what every refusal looks like."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir
from typing import Any
from uuid import UUID

import orjson
import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parent.parent
MEMBERS = {"type", "title", "status", "detail", "message", "code", "requestId"}
PROBLEM = "application/problem+json"
JSON = ("application/json", PROBLEM)
#: What the document leaves out of every operation: faults of the request as such, of a credential,
#: or of the service, and what only the database refuses.
ANYWHERE = {
    *("bad_request", "invalid", "method_not_allowed", "length_required", "internal_error"),
    *("token_invalid", "token_expired", "csrf_failed", "out_of_range", "conflict"),
}
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """One method of one path, as the document has it."""

    method: str
    path: str
    spec: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_open(self) -> bool:
        """Whether it can be called without a token."""
        return not self.spec["security"] or {} in self.spec["security"]

    @property
    def body(self) -> dict[str, Any] | None:
        """The schema of the request body."""
        content = self.spec.get("requestBody", {}).get("content", {})
        return resolved(content["application/json"]["schema"]) if JSON[0] in content else None

    @property
    def takes_form(self) -> bool:
        """Whether the request body can only be a form."""
        content = self.spec.get("requestBody", {}).get("content", {})
        return bool(content) and JSON[0] not in content

    def parameters(self, place: str) -> list[dict[str, Any]]:
        """Parameters in `path`, `query` or `header`."""
        return [p for p in self.spec.get("parameters", ()) if p["in"] == place]

    @cached_property
    def refusals(self) -> dict[int, set[str]]:
        """The codes of the errors by their status."""
        return {
            int(status): {example["value"]["code"] for example in content["examples"].values()}
            for status, response in self.spec["responses"].items()
            if (content := response.get("content", {}).get(PROBLEM))
        }

    def required_query(self, first: str = "?", but: str = "") -> str:
        """An "a" for each text that the query requires, but one; empty if it requires none."""
        names = [p["name"] for p in self.parameters("query") if p.get("required")]
        parts = [f"{name}=a" for name in names if name != but]
        return first + "&".join(parts) if parts else ""

    def url(self, ids: Mapping[str, Any]) -> str:
        """The path with every parameter filled in from `ids`."""

        def filled(match: re.Match[str]) -> str:
            value = ids[match[1]]
            is_uuid = match[1].endswith("Uuid") and isinstance(value, int)
            return str(UUID(int=value) if is_uuid else value)

        return re.sub(r"{(\w+)}", filled, self.path)


def parse_yaml(text: str | bytes) -> Any:
    """What `yaml.safe_load` returns, but faster where PyYAML is compiled."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 -- a safe one


def read_document() -> dict[str, Any]:
    """`openapi.yaml` as it stands; with other plugins than the usual ones, what it would be."""
    if not has_other_plugins():
        text = (ROOT / "openapi.yaml").read_bytes()
        # To parse it takes more than a second of each process.
        name = f"tripcompanion_openapi_{sha256(text).hexdigest()}_{os.getuid()}.json"
        kept = Path(gettempdir(), name)
        if not kept.exists():
            with NamedTemporaryFile(dir=kept.parent, delete=False) as file:
                file.write(orjson.dumps(parse_yaml(text)))
            Path(file.name).rename(kept)
        return orjson.loads(kept.read_bytes())
    # Not above: the fuzzer reads the file without settings.
    from tripcompanion.openapi.document import document as generated  # noqa: PLC0415 -- see above

    text, _etag = generated("en", "json")
    return json.loads(text)


def has_other_plugins() -> bool:
    """Whether the environment says which plugins there are."""
    return "PLUGINS" in os.environ


#: For tests of what is written down about the service as it comes.
usual_plugins = pytest.mark.skipif(has_other_plugins(), reason="It is about the usual plugins")


@cache
def document() -> dict[str, Any]:
    """The same, parsed once, with every refusal where it is referred to."""
    document = read_document()
    for item in document["paths"].values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                if name := response.get("$ref", "").rpartition("/")[2]:
                    operation["responses"][status] = document["components"]["responses"][name]
    return document


@cache
def operations() -> list[Operation]:
    return [
        Operation(method.upper(), path, item[method])
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item
    ]


@cache
def _patterns() -> list[tuple[str, re.Pattern[str], Operation]]:
    """Methods and paths with their operations; fixed paths go before those with parameters."""
    fixed_first = sorted(operations(), key=lambda operation: operation.path.count("{"))
    return [
        (operation.method, re.compile(re.sub(r"{\w+}", "[^/]+", operation.path)), operation)
        for operation in fixed_first
    ]


@lru_cache(4096)
def operation_at(method: str, path: str) -> Operation | None:
    """The operation behind a real path, if there is one."""
    fits = (op for verb, path_of, op in _patterns() if verb == method and path_of.fullmatch(path))
    return next(fits, None)


def largest_page(path: str) -> str:
    """The query that asks for a page of 100 rows, with an "a" for each text that it requires.

    It is empty for a GET that takes none.
    """
    operation = operation_at("GET", path)
    taken = operation.parameters("query") if operation else ()
    if all(field["name"] != "pageSize" for field in taken):
        return ""
    return "?pageSize=100" + operation.required_query("&")


def require_documented(response: Any, method: str, path: str) -> None:
    """Fail if `openapi.yaml` lacks the status of a response, or the code of its problem."""
    operation = operation_at(method, path)
    if operation is None or not response.headers.get("Content-Type", PROBLEM).startswith(JSON):
        return
    said = f"{operation} answers {response.status_code}"
    if response.headers.get("Content-Type") != PROBLEM:
        assert str(response.status_code) in operation.spec["responses"], said
    elif (code := json.loads(response.content)["code"]) not in ANYWHERE:
        assert code in operation.refusals.get(response.status_code, ()), f"{said} {code}"


@cache
def any_ids() -> Mapping[str, Any]:
    """All parameters in paths, each with a value that leads somewhere by chance only."""
    return {
        parameter["name"]: 1 if "format" in parameter["schema"] else "x"  # int64 or uuid
        for operation in operations()
        for parameter in operation.parameters("path")
    }


def __getattr__(name: str) -> Any:
    """DOCUMENT, OPERATIONS and ANY_IDS; who does not need them does not wait for the parser."""
    lazy = {"DOCUMENT": document, "OPERATIONS": operations, "ANY_IDS": any_ids}
    if name not in lazy:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return lazy[name]()


def resolved(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` without `$ref` and `allOf` at its top."""
    if "$ref" in schema:
        return resolved(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    merged = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema.get("allOf", ()):
        merged = resolved(part) | merged
    return merged


def problem_of(response: Any, status: int, code: str = "") -> dict[str, Any]:
    """The problem document in `response` (Django's or httpx's), whose form is checked."""
    asked = getattr(response, "wsgi_request", None)
    where = f"{asked.method} {asked.path}: " if asked else ""
    assert response.status_code == status, f"{where}{response.status_code} {response.content[:500]}"
    assert response.headers["Content-Type"] == "application/problem+json", where
    document: dict[str, Any] = json.loads(response.content)
    assert document.keys() >= MEMBERS
    assert document["status"] == status
    assert document["type"]
    assert document["title"]
    assert document["detail"]
    assert document["message"] == document["detail"]
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", document["code"])
    for field, texts in document.get("errors", {}).items():
        assert field, document
        assert texts, document
        assert all(isinstance(text, str) and text for text in texts)
    assert not code or document["code"] == code, where
    return document


def fields_in(response: Any) -> list[str]:
    """The fields that the refusal of a body or a query names."""
    return list(problem_of(response, 400, "invalid")["errors"])


def _closed(node: Any) -> Any:
    """A copy of a schema in which an object has the documented fields only."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items()}
    if "properties" in closed and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


_ADDED_TO = {"enum", "anyOf", "oneOf"}


def _opened(node: Any) -> Any:
    """A copy of a schema without lists of values and of schemas, to which plugins add."""
    if isinstance(node, list):
        return [_opened(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _opened(value) for key, value in node.items() if key not in _ADDED_TO}


@cache
def _components(change: Callable[[Any], Any]) -> dict[str, Any]:
    return change(document()["components"])


def errors_of(value: Any, schema: dict[str, Any], *, may_have_more: bool = False) -> list[str]:
    """What is wrong with `value` under `schema`; names that it does not have are, by default."""
    change = _opened if may_have_more else _closed
    whole = {**change(schema), "components": _components(change)}
    checker = Draft202012Validator.FORMAT_CHECKER
    return [
        f"{error.json_path}: {error.message[:200]}"
        for error in Draft202012Validator(whole, format_checker=checker).iter_errors(value)
    ]


def require_valid(operation: Operation, response: Any) -> None:
    """Hold an answer against what is documented for its status, with its headers and its code."""
    status = str(response.status_code)
    assert status in operation.spec["responses"], (str(operation), status, response.content[:300])
    documented = operation.spec["responses"][status]
    headers = set(documented.get("headers", ()))
    for name in headers - {"ETag"}:
        assert response.headers[name], (str(operation), name)
    assert "ETag" not in response.headers or "ETag" in headers, str(operation)
    if not documented.get("content"):
        assert response.content == b"", str(operation)
        return
    content = documented["content"][response.headers["Content-Type"]]
    if content["schema"].get("format") == "binary":
        return
    value = json.loads(response.content)
    assert errors_of(value, content["schema"]) == [], (str(operation), value)
    if status in {"404", "409", "412", "422"}:
        codes = {example["value"]["code"] for example in content["examples"].values()}
        assert problem_of(response, response.status_code)["code"] in codes, str(operation)


def contents(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every documented body of an operation, with the place where it stands."""
    for media_type, content in operation.spec.get("requestBody", {}).get("content", {}).items():
        yield f"request {media_type}", content
    for status, response in operation.spec["responses"].items():
        for media_type, content in response.get("content", {}).items():
            yield f"{status} {media_type}", content
