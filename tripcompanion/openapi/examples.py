"""The examples of the OpenAPI document: real requests with their responses.

They are in the `examples.yaml` of each app, by `operationId`. A test sends every request, in the
order of the document, to a fresh service with the demo data. `make examples` writes the responses.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.apps import apps

from tripcompanion.api.problems import CONTENT_TYPE, TITLES
from tripcompanion.plugin import read_yaml

FILE_NAME = "examples.yaml"
JSON = "application/json"


@dataclass(frozen=True)
class Example:
    """A request with its response; a request without a body has `body` None."""

    name: str
    summary: str
    #: The expected status; from 400 on, the response is a problem document.
    status: int
    #: The first name of the demo account that sends it; empty for nobody.
    caller: str = ""
    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    #: Requests that must be sent before it, a line for each, such as
    #: `PATCH /api/trips/1 {"budget": null}`.
    first: str = ""
    body: Any = None
    #: Fields of the body that only the service knows, such as a token; the test fills them in.
    secrets: Sequence[str] = ()
    #: Whether the lists in the response are longer than shown.
    shortened: bool = False
    response: Any = None

    def description(self, path: str) -> str:
        """Who sends the request and where, with the demo data."""
        url = re.sub(r"{(\w+)}", lambda match: str(self.path[match[1]]), path)
        where = f"`{url}?{urlencode(self.query)}`" if self.query else f"`{url}`"
        sender = f"`{self.caller}@example.com`" if self.caller else "anybody"
        lines = [f"`{line}`" for line in self.first.splitlines()]
        before = f", after {' and '.join(lines)}" if lines else ""
        more = " The lists are shortened." if self.shortened else ""
        return f"To {where} by {sender}{before}.{more}"


def example_files() -> Iterator[Path]:
    """The files with examples, at most one for each app."""
    for app in apps.get_app_configs():
        file = Path(app.path) / FILE_NAME
        if file.exists():
            yield file


@cache
def examples() -> Mapping[str, Sequence[Example]]:
    found: dict[str, list[Example]] = {}
    for file in example_files():
        for operation_id, rows in read_yaml(file).items():
            found[operation_id] = [Example(**row) for row in rows]
    return found


def add_examples(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Postprocessing hook: put the examples into the document."""
    components = result["components"]
    for path, item in result["paths"].items():
        for operation in item.values():
            found = examples().get(operation["operationId"], ())
            shown = [(example, example.description(path)) for example in found]
            if found:
                _add_to_parameters(operation, found[0])
            _add(
                operation.get("requestBody", {}).get("content", {}).get(JSON),
                {
                    example.name: _shown(example, text, example.body)
                    for example, text in shown
                    # A body that is refused for itself contradicts its schema.
                    if example.body is not None and example.status != 400
                },
            )
            for status in sorted({str(example.status) for example in found if example.response}):
                answers = {
                    example.name: _shown(example, text, example.response)
                    for example, text in shown
                    if str(example.status) == status
                }
                if status.startswith("2"):
                    _add(operation["responses"][status]["content"][JSON], answers)
                else:
                    _add_refusals(operation, status, answers, components)
                # What was created before is answered alike.
                again = operation["responses"].get("200", {}).get("content", {}).get(JSON)
                if status == "201" and again is not None:
                    _add(again, answers)
    used = repr(result["paths"])
    components["responses"] = {
        name: response
        for name, response in sorted(components["responses"].items())
        if f"'#/components/responses/{name}'" in used
    }
    return result


def _shown(example: Example, description: str, value: Any) -> dict[str, Any]:
    return {"summary": example.summary, "description": description, "value": value}


def _add_to_parameters(operation: dict[str, Any], example: Example) -> None:
    """The values of the first example, which the documentation page then fills in.

    It would send those of optional parameters as well, which nobody asked for.
    """
    values = {**example.path, **example.query}
    for parameter in operation.get("parameters", ()):
        if parameter.get("required") and parameter["name"] in values:
            parameter["example"] = values[parameter["name"]]


def _add(content: dict[str, Any] | None, added: dict[str, Any]) -> None:
    """Add to the examples of `content`; examples that the serializer declares are replaced."""
    if content is not None and added:
        content["examples"] = added


def _add_refusals(
    operation: dict[str, Any], status: str, added: dict[str, Any], components: dict[str, Any]
) -> None:
    """Give an operation its own refusal, in which the examples replace the usual ones."""
    shared = components["responses"][operation["responses"][status]["$ref"].rpartition("/")[2]]
    codes = {example["value"]["code"] for example in added.values()}
    refusal = deepcopy(shared)
    content = refusal["content"][CONTENT_TYPE]
    content["examples"] = added | {
        name: example
        for name, example in content["examples"].items()
        if example["value"]["code"] not in codes
    }
    name = refusal_name(operation, status)
    components["responses"][name] = refusal
    operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}


def refusal_name(operation: Mapping[str, Any], status: str) -> str:
    """The component name of a refusal that is peculiar to an operation."""
    own, title = operation["operationId"], str(TITLES[int(status)])
    return own[0].upper() + own[1:] + title.replace(" ", "")
