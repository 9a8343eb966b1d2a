"""What the OpenAPI document says apart from views and serializers.

Each app says its own part in its `document.yaml`; what belongs to no app is in `description.yaml`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils.functional import SimpleLazyObject

from tripcompanion.plugin import plugins, read_yaml

_TEXTS: Mapping[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
DESCRIPTION: str = _TEXTS["introduction"]


def _said(section: str) -> Mapping[str, str]:
    """A section of all apps, in their order, and of `description.yaml`."""
    documents = [*(app.document for app in plugins()), _TEXTS]
    return {name: text for each in documents for name, text in each.get(section, {}).items()}


#: The choices behind each enum schema, once the apps are loaded.
ENUM_NAMES: Any = SimpleLazyObject(lambda: _said("enums"))


def describe(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: describe what has no declaration of its own."""
    schemas, parameters = _said("schemas"), _said("parameters")
    for name, schema in result["components"]["schemas"].items():
        if name in schemas:
            schema["description"] = schemas[name]
    for item in result["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                if text := parameters.get(parameter["name"]):
                    parameter.setdefault("description", text)
    return result


def add_tags(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: the tags of the operations, in reading order."""
    tags = _said("tags").items()
    return result | {"tags": [{"name": name, "description": text} for name, text in tags]}
