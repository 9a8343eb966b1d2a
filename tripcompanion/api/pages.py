"""What the browsable API shows of a viewset besides its responses."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _
from drf_spectacular.drainage import get_override
from rest_framework.serializers import BaseSerializer, Serializer

from tripcompanion.api.navigation import Link
from tripcompanion.openapi.examples import examples

_TITLES = {
    "create": _("Create"),
    "update": _("Change"),
    "partial_update": _("Change"),
    "destroy": _("Delete"),
}


class PageMixin:
    """Titles, names, links and form values of a viewset's HTML pages; JSON responses need none."""

    request: Any
    kwargs: Any
    action: str
    request_serializers: ClassVar[Mapping[str, type[BaseSerializer]]]
    operation_ids: ClassVar[Mapping[str, str]]
    check_permissions: Any

    #: The titles of the pages of actions that read, and of the forms of those that write.
    page_titles: ClassVar[Mapping[str, Any]] = {}

    def title_of(self, action: str) -> str:
        """The title of an action in the caller's language; empty if it has none."""
        return str(self.page_titles.get(action) or _TITLES.get(action, ""))

    def named_rows(self) -> tuple[Any, dict[str, str]]:
        """The row that the last parameter of the path names, and the names by parameter.

        The row is None, and names are missing, if the caller may not see it.
        """
        return None, {}

    def permits_on_page(self, found: Any) -> bool:
        """Whether the caller may do the current action to `found`; it may also raise a refusal."""
        self.check_permissions(self.request)
        return True

    def pages_above(self, found: Any) -> Sequence[Link]:
        """Breadcrumbs before those that the path itself gives."""
        return []

    def other_pages(self, found: Any) -> Sequence[Link]:
        """Links to pages that are not below this one; `found` may be None."""
        return []

    def path_of_row(self, item: Mapping[str, Any]) -> str:
        """The path of a listed row; empty if it is below the list, or has none."""
        return ""

    def body_examples(self, action: str, found: Any) -> dict[str, Any]:
        """The bodies by summary that the OpenAPI document gives as examples and that succeed."""
        found_examples = examples().get(self.operation_ids.get(action, ""), ())
        bodies = {
            example.summary: example.body
            for example in found_examples
            if example.body is not None and example.status < 400 and not example.secrets
        }
        if bodies:
            return bodies
        declared = get_override(self.request_serializers[action], "examples", [])
        return {example.name: example.value for example in declared}

    def present_values(
        self, serializer: Serializer, shown: Mapping[str, Any], found: Any
    ) -> dict[str, Any]:
        """The values of the fields of a body in `shown`, the representation of `found`."""
        return {name: shown[name] for name in serializer.get_fields() if name in shown}
