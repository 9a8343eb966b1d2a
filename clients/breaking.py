"""What changed in openapi.yaml since the last release and breaks clients.

`python -m clients.breaking` fails unless `breaking.txt` has the same lines; with --write it writes
them. docs/versions.md says what counts.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.releases import PREVIOUS_RELEASE
from tests.server import ROOT
from tripcompanion.plugin import read_yaml

LIST = Path(__file__).with_name("breaking.txt")
METHODS = ("get", "post", "put", "patch", "delete")
#: Keywords of a request's values that may not become larger, and those that may not become smaller.
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_SAME = ("pattern", "format", "multipleOf", "uniqueItems")

Schema = Mapping[str, Any]


class Comparison:
    """Compares two documents; `breaks` are lines in the order in which they are found."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self.old, self.new = old, new
        self.breaks: dict[str, None] = {}
        #: The breaks between two named schemas, in requests or responses.
        self._known: dict[tuple[str, str, bool], dict[str, None]] = {}
        #: What is being compared: a schema may contain itself.
        self._open: list[tuple[Schema, Schema]] = []

    def run(self) -> list[str]:
        for path, method, operation in operations(self.old):
            where = f"{method.upper()} {path}"
            now = self.new["paths"].get(path, {}).get(method)
            if now is None:
                self.note(where, "is gone")
            else:
                self._operation(where, operation, now)
        return sorted(self.breaks)

    def note(self, where: str, what: str) -> None:
        self.breaks[f"{where}: {what}"] = None

    def _operation(self, where: str, old: Schema, new: Schema) -> None:
        if old.get("operationId") != new.get("operationId"):
            self.note(where, f"operationId {old.get('operationId')} is {new.get('operationId')}")
        if {} in old.get("security", [{}]) and {} not in new.get("security", [{}]):
            self.note(where, "needs a log-in")
        self._parameters(where, old, new)
        self._body(where, old.get("requestBody"), new.get("requestBody"))
        for status, answer in old["responses"].items():
            if not status.startswith("2"):
                continue
            now = new["responses"].get(status)
            if now is None:
                self.note(where, f"no longer answers {status}")
                continue
            kinds = resolved(self.new, now).get("content", {})
            for kind, content in resolved(self.old, answer).get("content", {}).items():
                if kind not in kinds:
                    self.note(where, f"no longer answers {kind}")
                elif "schema" in content:
                    place = f"{where} -> {status}"
                    self.schema(place, content["schema"], kinds[kind].get("schema", {}), False)

    def _parameters(self, where: str, old: Schema, new: Schema) -> None:
        before = self._by_name(self.old, old)
        now = self._by_name(self.new, new)
        for key, parameter in before.items():
            if key not in now:
                self.note(where, f"the {key[0]} parameter {key[1]} is gone")
            else:
                self.schema(f"{where} ?{key[1]}", parameter["schema"], now[key]["schema"], True)
        for key, parameter in now.items():
            was_required = before.get(key, {}).get("required", False)
            if parameter.get("required") and not was_required:
                self.note(where, f"the {key[0]} parameter {key[1]} is required")

    @staticmethod
    def _by_name(document: Schema, operation: Schema) -> dict[tuple[str, str], Schema]:
        found = [resolved(document, one) for one in operation.get("parameters", ())]
        return {(one["in"], one["name"]): one for one in found}

    def _body(self, where: str, old: Schema | None, new: Schema | None) -> None:
        if new is None:
            if old is not None:
                self.note(where, "takes no body")
            return
        if new.get("required") and not (old or {}).get("required"):
            self.note(where, "a body is required")
        for kind, content in (old or {}).get("content", {}).items():
            if kind not in new["content"]:
                self.note(where, f"no longer takes {kind}")
            else:
                now = new["content"][kind].get("schema", {})
                self.schema(f"{where} <-", content.get("schema", {}), now, True)

    def schema(self, where: str, old: Schema, new: Schema, is_sent: bool) -> None:
        """Compare what is sent by clients, or answered to them.

        What the old document allows in a request, the new one has to allow; in a response, the
        other way round.
        """
        key = old.get("$ref", ""), new.get("$ref", ""), is_sent
        if not all(key[:2]):
            self.breaks.update(self._schema(where, old, new, is_sent))
            return
        if key not in self._known:
            self._known[key] = {}
            where = f"{key[0].rpartition('/')[2]} {'<-' if is_sent else '->'}"
            self._known[key] = self._schema(where, old, new, is_sent)
        self.breaks.update(self._known[key])

    def _schema(self, where: str, old: Schema, new: Schema, is_sent: bool) -> dict[str, None]:
        breaks: dict[str, None] = {}
        before, now = variants(self.old, old), variants(self.new, new)
        wider, narrower = (now, before) if is_sent else (before, now)
        for one in narrower:
            # The variant that is nearest.
            trials = [self._trial(where, one, other, is_sent) for other in wider]
            breaks.update(min(trials, key=len))
        return breaks

    def _trial(self, where: str, one: Schema, other: Schema, is_sent: bool) -> dict[str, None]:
        """The breaks if a value of the schema `one` has to be one of the schema `other`."""
        trial = Comparison(self.old, self.new)
        trial._known, trial._open = self._known, [*self._open, (one, other)]
        if not any(one is first and other is second for first, second in self._open):
            old, new = (one, other) if is_sent else (other, one)
            trial._values(where, old, new, is_sent)
        return trial.breaks

    def _values(self, where: str, old: Schema, new: Schema, is_sent: bool) -> None:
        self._type(where, old, new, is_sent)
        if is_sent:
            self._bounds(where, old, new)
        self._properties(where, old, new, is_sent)
        for keyword, mark in (("items", "[]"), ("additionalProperties", ".*")):
            before, now = old.get(keyword), new.get(keyword)
            if isinstance(before, dict) and isinstance(now, dict):
                self.schema(where + mark, before, now, is_sent)

    def _type(self, where: str, old: Schema, new: Schema, is_sent: bool) -> None:
        narrower, wider = (old, new) if is_sent else (new, old)
        kind, kinds = narrower.get("type"), {wider.get("type")}
        if "number" in kinds:
            kinds.add("integer")
        if kinds != {None} and kind not in kinds:
            self.note(where, f"{old.get('type')} is {new.get('type')}")
        values, allowed = choices(narrower), choices(wider)
        if allowed is None:
            return
        if values is None:
            self.note(where, "has a list of values" if is_sent else "has no list of values")
        elif lost := sorted(map(str, values - allowed)):
            self.note(where, f"{'no longer' if is_sent else 'now also'} {', '.join(lost)}")

    def _bounds(self, where: str, old: Schema, new: Schema) -> None:
        for keywords, sign in ((_LOWER, 1), (_UPPER, -1)):
            for keyword in keywords:
                bound = new.get(keyword)
                was = old.get(keyword)
                if bound is not None and (was is None or (bound - was) * sign > 0):
                    self.note(where, f"{keyword} {was} is {bound}")
        for keyword in _SAME:
            if new.get(keyword) is not None and new[keyword] != old.get(keyword):
                self.note(where, f"{keyword} {old.get(keyword)} is {new[keyword]}")

    def _properties(self, where: str, old: Schema, new: Schema, is_sent: bool) -> None:
        before, now = old.get("properties", {}), new.get("properties", {})
        for name, schema in before.items():
            if name in now:
                self.schema(f"{where} .{name}", schema, now[name], is_sent)
            elif not is_sent or new.get("additionalProperties") is False:
                self.note(where, f".{name} is gone")
        needed, was_needed = set(new.get("required", ())), set(old.get("required", ()))
        if is_sent:
            for name in sorted(needed - was_needed):
                self.note(where, f".{name} is required")
        else:
            for name in sorted((was_needed - needed) & now.keys()):
                self.note(where, f".{name} may be missing")


def operations(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in document["paths"].items():
        yield from ((path, method, methods[method]) for method in METHODS if method in methods)


def resolved(document: Schema, schema: Schema) -> Schema:
    """The schema behind references."""
    while "$ref" in schema:
        found: Any = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        schema = found
    return schema


def variants(document: Schema, schema: Schema) -> list[Schema]:
    """A value is of one of these schemas, each with one type."""
    schema = resolved(document, schema)
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema:
            rest = {name: value for name, value in schema.items() if name != keyword}
            found = [one for part in schema[keyword] for one in variants(document, part)]
            return [{**rest, **one} for one in found] if rest else found
    if "allOf" in schema:
        merged = {name: value for name, value in schema.items() if name != "allOf"}
        for part in schema["allOf"]:
            for one in variants(document, part):
                both = {**one.get("properties", {}), **merged.get("properties", {})}
                needed = [*one.get("required", ()), *merged.get("required", ())]
                merged = {**one, **merged, "properties": both, "required": needed}
        return [merged]
    kinds = schema.get("type")
    return [{**schema, "type": kind} for kind in kinds] if isinstance(kinds, list) else [schema]


def choices(schema: Schema) -> set[Any] | None:
    """The values that a schema lists; None if it lists none."""
    if schema.get("type") == "null":
        return {None}
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return None if listed is None else set(listed)


def breaking_changes() -> list[str]:
    """The lines for the document of the last release and the current one."""
    name = f"{PREVIOUS_RELEASE}:openapi.yaml"
    last = subprocess.check_output(["git", "show", name], cwd=ROOT)
    with_last = ROOT / ".venv" / "released.yaml"
    with_last.write_bytes(last)
    return Comparison(read_yaml(with_last), read_yaml(ROOT / "openapi.yaml")).run()


def main(arguments: list[str]) -> None:
    """Compare, and write or check the list."""
    found = "".join(f"{line}\n" for line in breaking_changes())
    if "--write" in arguments:
        LIST.write_text(found)
    listed = LIST.read_text()
    new = [line for line in found.splitlines() if line not in listed.splitlines()]
    old = [line for line in listed.splitlines() if line not in found.splitlines()]
    if new or old:
        sys.exit(
            "".join(f"breaks clients: {line}\n" for line in new)
            + "".join(f"breaks none: {line}\n" for line in old)
            + "If this is meant, say it in CHANGELOG.md below `Breaks clients`, and write it to "
            "clients/breaking.txt: .venv/bin/python -m clients.breaking --write"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
