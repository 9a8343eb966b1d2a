"""The browsable API: DRF's pages with forms, links and names."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer, BrowsableAPIRenderer
from rest_framework.request import Request, override_method
from rest_framework.response import Response

from tripcompanion.api import navigation
from tripcompanion.api.forms import Form, as_json, errors_elsewhere, fields_of
from tripcompanion.api.navigation import Link
from tripcompanion.api.rendering import ExactJSONRenderer, as_parsed

#: The texts of the templates, which pybabel does not read. Django translates others.
_TEXTS = (
    gettext_lazy("Filters"),
    gettext_lazy("Apply"),
    gettext_lazy("Reset"),
    gettext_lazy("Example"),
    gettext_lazy("As JSON"),
    gettext_lazy("Created:"),
    gettext_lazy("Sends every field."),
    gettext_lazy("Sends the fields that you changed."),
)
#: The longest response that a page shows.
MAX_SHOWN_BYTES = 256 * 1024
#: The page of such a response names no row: it is gone, or the caller may not know it.
_NAMELESS = {204, 401, 403}


class BrowsableRenderer(BrowsableAPIRenderer):
    """DRF's browsable API. What is shown besides the JSON comes from the hooks of `ApiViewSet`."""

    filter_template = "api/filters.html"
    page: "_Page | None" = None

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """As DRF does; the request refers to this renderer, so the page must not refer to it."""
        try:
            return super().render(*args, **kwargs)
        finally:
            self.page = None

    def get_default_renderer(self, view: Any) -> BaseRenderer:
        return _IndentedJSONRenderer()

    def get_content(
        self,
        renderer: Any,
        data: Any,
        accepted_media_type: Any,
        renderer_context: Mapping[str, Any],
    ) -> Any:
        """The response as indented JSON, or where to find it: of megabytes, no page is made."""
        compact = data if isinstance(data, bytes) else ExactJSONRenderer().render(data)
        if len(compact) <= MAX_SHOWN_BYTES:
            return super().get_content(renderer, data, accepted_media_type, renderer_context)
        request = renderer_context["request"]
        query = request.query_params.copy()
        query["format"] = ExactJSONRenderer.format
        url = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
        text = _("This response has %(size)s KiB of JSON: %(url)s")
        return text % {"size": len(compact) // 1024, "url": url}

    def get_filter_form(self, data: Any, view: Any, request: Any) -> Any:
        # DRF reads the queryset of every list view; most of these views have no filter.
        if getattr(view, "filterset_class", None) is None:
            return None
        return super().get_filter_form(data, view, request)

    def get_rendered_html_form(self, data: Any, view: Any, method: str, request: Any) -> Any:
        """Nothing: `forms` in the context replaces DRF's forms, which send no JSON."""

    def get_raw_data_form(self, data: Any, view: Any, method: str, request: Any) -> Any:
        """Nothing, for the same reason."""

    def get_name(self, view: Any) -> str:
        return self.page.crumbs[-1].name if self.page else super().get_name(view)

    def get_breadcrumbs(self, request: Request) -> list[tuple[str, str]]:
        crumbs = self.page.crumbs if self.page else []
        return [(crumb.name, crumb.path) for crumb in crumbs]

    def get_context(
        self, data: Any, accepted_media_type: str | None, renderer_context: Mapping[str, Any]
    ) -> dict[str, Any]:
        view, response = renderer_context["view"], renderer_context["response"]
        # A view that is no viewset has a page without names, links and forms.
        self.page = _Page(view, response) if getattr(view, "action_map", None) else None
        context = super().get_context(data, accepted_media_type, renderer_context)
        if self.page:
            crumbs = self.page.crumbs
            context |= {
                "titles": [crumb.name for crumb in reversed(crumbs)],
                "links": self.page.links(),
                "rows": self.page.rows(),
                "pages": self.page.pages(),
                "created": response.get("Location"),
                "forms": list(self.page.forms()),
                "query_form": self.page.query_form(),
                # DRF's template shows `filter_form` below everything else.
                "filters": context.pop("filter_form"),
            }
        return context


class _Page:
    """What the page of a response of `view` shows besides the JSON."""

    def __init__(self, view: Any, response: Response) -> None:
        self.view, self.response, self.request = view, response, view.request
        self.data = as_parsed(response.data)
        self.path = view.request.path
        status = response.status_code
        is_lost = status == 404 and self.request.method == "GET"
        self.is_nameless = is_lost or status >= 500 or status in _NAMELESS
        self.found, names = (None, {}) if self.is_nameless else view.named_rows()
        above = view.pages_above(self.found) if self.found is not None else []
        crumbs = navigation.breadcrumbs(view, self.path, names)
        # After those that are above both, such as the root.
        at = sum(link.path.startswith(f"{crumb.path}/") for link in above[:1] for crumb in crumbs)
        self.crumbs = [*crumbs[:at], *above, *crumbs[at:]]

    @property
    def is_shown(self) -> bool:
        """Whether the response shows the resource at this path."""
        return self.response.status_code == 200 and "get" in self.view.action_map

    @property
    def _items(self) -> list[Any]:
        data = self.data
        items = data.get("items", ()) if isinstance(data, dict) else data
        return items if self.is_shown and isinstance(items, list) else []

    def links(self) -> list[Link]:
        """The pages below this one, and others that the view names."""
        if self.is_nameless:
            return []
        others = self.view.other_pages(self.found)
        return [*others, *navigation.below(self.view, self.path, self.found)]

    def rows(self) -> list[Link]:
        return navigation.rows(self.view, self.path, self._items)

    def pages(self) -> list[Link]:
        data = self.data
        is_page = self.is_shown and isinstance(data, dict) and "totalPages" in data
        return navigation.pages(data, self.request) if is_page else []

    def query_form(self) -> Form | None:
        """The query parameters of this page, except those of filters, which have their form."""
        query = self.view.query_serializers.get(self.view.action)
        if query is None or self.request.method != "GET":
            return None
        fields = fields_of("query", query(), self.request.query_params.dict())
        return Form(("GET",), _("Options"), self.path, fields)

    def forms(self) -> Iterator[Form]:
        """A form for each command that the caller may give here; PUT and PATCH share one."""
        # A refused log-in is a 401, and its form is shown again.
        if self.is_nameless and self.request.method in {"GET", "DELETE"}:
            return
        allowed = [
            method
            for method in ("POST", "PUT", "PATCH", "DELETE")
            if navigation.permits(self.view, method, self.found)
        ]
        changes = tuple(method for method in ("PUT", "PATCH") if method in allowed)
        for methods in (("POST",), changes, ("DELETE",)):
            if methods and methods[0] in allowed:
                yield self._form(methods)

    def _form(self, methods: tuple[str, ...]) -> Form:
        view = self.view
        is_sent = self.request.method in methods
        problem = self.data if is_sent and self.response.status_code >= 400 else None
        with override_method(view, self.request, methods[-1]):
            action = view.action
            body = view.request_serializers.get(action)
            serializer = body and body(context=view.get_serializer_context())
        is_open = bool(problem) or "get" not in view.action_map
        title = view.title_of(action)
        if serializer is None:
            errors = (problem["detail"],) if problem else ()
            return Form(methods, title, self.path, errors=errors, is_open=is_open)
        present = self._present(serializer) if "PUT" in methods or "PATCH" in methods else None
        examples = view.body_examples(action, self.found) if present is None else {}
        values = present if present is not None else next(iter(examples.values()), {})
        if methods == ("DELETE",):
            values, examples = {}, {}
        elsewhere: list[str] = []
        found_errors: Mapping[str, list[str]] = {}
        if problem:
            values = (present or {}) | self._sent()
            found_errors = problem.get("errors", {})
            elsewhere = errors_elsewhere(serializer.fields, found_errors)
            if not found_errors:
                elsewhere = [problem["detail"]]
        return Form(
            methods,
            title,
            self.path,
            fields_of(methods[0].lower(), serializer, values, present, found_errors),
            as_json(values),
            tuple(elsewhere),
            tuple((name, as_json(value)) for name, value in examples.items()),
            is_open,
        )

    def _present(self, serializer: Any) -> dict[str, Any]:
        """The stored values of the fields of a body: shown by this response, or read again."""
        view = self.view
        shown = self.data if self.is_shown else None
        if "get" not in view.action_map:
            view = navigation.view_at(self.path.rpartition("/")[0], self.request)
        if shown is None and view is not None and "get" in view.action_map:
            shown = as_parsed(navigation.read(view))
        if not isinstance(shown, Mapping):
            return {}
        return self.view.present_values(serializer, shown, self.found)

    def _sent(self) -> dict[str, Any]:
        """The body of the request; empty if it is not acceptable JSON."""
        try:
            return dict(self.request.data)
        except APIException:
            return {}


class _IndentedJSONRenderer(ExactJSONRenderer):
    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return super().render(data, accepted_media_type, {"indent": 2})
