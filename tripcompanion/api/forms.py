"""HTML forms for request bodies, which a script in the page sends as JSON."""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from rest_framework import serializers
from rest_framework.renderers import HTMLFormRenderer
from rest_framework.utils.field_mapping import ClassLookupDict
from rest_framework.utils.serializer_helpers import BoundField

from tripcompanion.api.rendering import ExactJSONRenderer

_JSON = {"base_template": "json.html"}


class FormRenderer(HTMLFormRenderer):
    """DRF's form renderer with templates that show errors; nested values are entered as JSON."""

    template_pack = "api/form/"
    default_style: Any = ClassLookupDict(
        {
            **HTMLFormRenderer.default_style.mapping,
            serializers.Serializer: _JSON,
            serializers.ListSerializer: _JSON,
            serializers.ListField: _JSON,
            serializers.DictField: _JSON,
        }
    )


class Form(NamedTuple):
    """A form on a page. It has a button for each of its `methods`; a GET has no JSON body."""

    methods: tuple[str, ...]
    title: str
    action: str
    fields: SafeString = SafeString()
    raw: str = ""
    errors: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    #: Whether it is unfolded: it has failed, or it is all that there is on the page.
    is_open: bool = False


def fields_of(
    prefix: str,
    serializer: serializers.Serializer,
    values: Mapping[str, Any],
    present: Mapping[str, Any] | None = None,
    errors: Mapping[str, list[str]] | None = None,
) -> SafeString:
    """The fields of `serializer` with `values` and with the errors of a problem document.

    The ids of the inputs start with `prefix`. `present` are the stored values: a PATCH sends only
    what differs from them.
    """
    renderer, bounds = FormRenderer(), []
    for name, field in serializer.fields.items():
        if field.read_only:
            continue
        style = renderer.default_style[field] | field.style
        is_json = style["base_template"] == _JSON["base_template"]
        # Without a value, the first choice of an optional field would look like its default.
        default = None if field.default is serializers.empty else field.default
        value = values.get(name, default)
        style["id"] = f"{prefix}-{name}"
        style["is_required"] = field.required
        # An empty input is null, or an empty text where that is allowed or null is not.
        style["is_text"] = field.required or getattr(field, "allow_blank", False)
        style["present"] = None
        if present is not None:
            style["present"] = as_text(present.get(name), is_json=is_json)
        field.style = style
        texts: Any = _at(name, errors or {})
        bounds.append(BoundField(field, as_text(value, is_json=is_json), texts))
    rendered = ((renderer.render_field(bound, {}),) for bound in bounds)
    return format_html_join("", "{}", rendered)


def _at(name: str, errors: Mapping[str, list[str]]) -> list[str]:
    """The errors of a field, and those inside its value with their path."""
    texts = []
    for path, found in errors.items():
        top, _dot, rest = path.partition(".")
        if top == name:
            texts += [f"{rest}: {text}" if rest else text for text in found]
    return texts


def errors_elsewhere(names: Iterable[str], errors: Mapping[str, list[str]]) -> list[str]:
    """The errors that belong to none of the fields `names`."""
    known = set(names)
    lost = {path: texts for path, texts in errors.items() if path.partition(".")[0] not in known}
    return [f"{path}: {text}" for path, texts in lost.items() for text in texts]


def as_json(value: Any) -> str:
    """`value` as indented JSON."""
    return ExactJSONRenderer().render(value, None, {"indent": 2}).decode()


def as_text(value: Any, *, is_json: bool) -> str:
    """The text of an input for `value`; numbers are the same in every language."""
    if value is None:
        return ""
    if is_json:
        return as_json(value)
    if isinstance(value, bool):
        return json.dumps(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)
