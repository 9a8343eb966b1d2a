"""What the OpenAPI document says apart from views and serializers, from `description.yaml`."""

from pathlib import Path
from typing import Any

import yaml


def read_yaml(path: Path) -> Any:
    """The data in a file. If PyYAML was built with libyaml, that takes a tenth of the time."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 -- a safe one


_TEXTS = read_yaml(Path(__file__).with_suffix(".yaml"))
DESCRIPTION: str = _TEXTS["introduction"]
#: The tags of the operations, in reading order.
TAGS = [{"name": name, "description": text} for name, text in _TEXTS["tags"].items()]

#: The choices behind each enum schema.
ENUM_NAMES: dict[str, str] = {
    "AccountRoleEnum": "users.models.Role",
    "TripRoleEnum": "trips.roles.TripRole",
    "JoinRoleEnum": "trips.roles.JOIN_ROLE_CHOICES",
    "CategoryEnum": "splits.models.Category.values",
    "SplitTypeEnum": "splits.models.SplitType.values",
    "DefaultSplitTypeEnum": "trips.models.default_division.DEFAULT_SPLIT_TYPES",
    "CurrencyEnum": "tripcompanion.currency.amounts.CODES",
    "ScopeEnum": "users.scopes.CHOICES",
    "EntryKindEnum": "splits.serializers.settlement.KINDS",
    "InvitationStateEnum": "trips.models.InvitationState",
    "WebhookStateEnum": "plugins.webhooks.models.webhook.WebhookState",
    "DeliveryStateEnum": "plugins.webhooks.models.delivery.DeliveryState",
    "WebhookEventEnum": "plugins.webhooks.models.delivery.EVENT_CHOICES",
    "EventPatternEnum": "plugins.webhooks.serializers.PATTERNS",
    "EventEnum": "trips.models.journal.Event",
    "ImportStateEnum": "plugins.exchange.models.STATES",
    "ImportOutcomeEnum": "plugins.exchange.models.Outcome.values",
    "AttachmentTypeEnum": "plugins.attachments.recognition.Kind",
    "AttachmentStateEnum": "plugins.attachments.models.State",
    "ViaEnum": "users.models.Via",
    "ObjectTypeEnum": "splits.serializers.history.OBJECT_TYPES",
    "NoticeModeEnum": "users.models.NoticeMode",
    "NoticeEventEnum": "users.serializers.NOTICE_EVENTS",
}


def describe(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: describe what has no declaration of its own."""
    for name, schema in result["components"]["schemas"].items():
        if name in _TEXTS["schemas"]:
            schema["description"] = _TEXTS["schemas"][name]
    for item in result["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                if text := _TEXTS["parameters"].get(parameter["name"]):
                    parameter.setdefault("description", text)
    return result
