"""Pages of the admin site that export lists, and write only through commands of the models."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ORDER_VAR, PAGE_VAR
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import FieldDoesNotExist, PermissionDenied
from django.db import transaction
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.urls import path
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException

from plugins.csv_export import CsvColumns, csv_file
from tripcompanion.adminsite.base import PlainAdmin, ReadOnlyAdmin, page_url
from tripcompanion.api.problems import flatten
from tripcompanion.database.snapshots import snapshot
from trips.admin import person
from trips.models import Trip
from users.models import User

#: What is searched of the rows to which those of a list refer.
SEARCHED: Mapping[Any, tuple[str, ...]] = {User: ("email", "name"), Trip: ("title",)}
#: A longer list must be narrowed before it is exported, which thus occupies a thread for seconds.
MAX_ROWS = 100_000


def in_reader_language(message: str) -> str:
    """The text of a log entry in the active language; it is stored in English."""
    return _(message) if message else ""


class RulesAdmin(PlainAdmin):
    """Pages that write only through commands of the models, and show their errors as messages.

    The log outlives the rows, but must not contain the names of people, so it contains ids; see
    `logged_as`. What `list_display` names of other tables is read with the rows; people are links,
    unless the column leads to the row, and are searched, as trips are.
    """

    change_list_template: ClassVar[Any] = "admin/list_with_export.html"
    #: What is exported as CSV. Secrets are left out by not being named here.
    csv_columns: ClassVar[CsvColumns] = {}
    #: Actions of the list that the page of a row offers too, with the labels of their buttons.
    row_actions: ClassVar[Mapping[str, Any]] = {}

    def get_urls(self) -> list[Any]:
        """Django's pages, the file of a list, and the target of the buttons on a row's page."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        export = self.admin_site.admin_view(self.export_view)
        act = self.admin_site.admin_view(self.row_action_view)
        return [
            path("export/", export, name=f"{name}_export"),
            path("<path:object_id>/act/<slug:action>/", act, name=f"{name}_act"),
            *super().get_urls(),
        ]

    @property
    def _keys(self) -> dict[Any, Any]:
        """The foreign keys in `list_display`, by their names."""
        keys = {field.name: field for field in self.opts.concrete_fields if field.is_relation}
        return {name: keys[name] for name in self.list_display if name in keys}

    def get_list_display(self, request: HttpRequest) -> Any:
        plain = {*(self.list_display_links or self.list_display[:1])}
        people = {
            name: person(name, key.verbose_name)
            for name, key in self._keys.items()
            if key.related_model is User and name not in plain
        }
        return [people.get(column, column) for column in self.list_display]

    def get_list_select_related(self, request: HttpRequest) -> Any:
        return self.list_select_related or [*self._keys]

    def get_search_fields(self, request: HttpRequest) -> Any:
        found = [*self.search_fields]
        for name, key in self._keys.items():
            found += [f"{name}__{column}" for column in SEARCHED.get(key.related_model, ())]
        return found

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        if self.csv_columns:
            query = f"?{request.GET.urlencode()}" if request.GET else ""
            url = page_url(self.model, "export") + query
            export = {"export_url": url, "export_label": _("Export as CSV")}
            extra_context = export | (extra_context or {})
        return super().changelist_view(request, extra_context)

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """The list, on all of its pages, with the filters and the order of the query, as CSV."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        back = "../?" + request.GET.urlencode()
        try:
            with snapshot():
                changelist = self.get_changelist_instance(request)
                count = changelist.result_count
                file = (
                    csv_file(changelist.queryset, self.csv_columns) if count <= MAX_ROWS else None
                )
        except IncorrectLookupParameters:
            return HttpResponseRedirect(back)
        if file is None:
            text = _("A list of more than %(limit)d rows cannot be exported. Please filter it.")
            self.message_user(request, text % {"limit": MAX_ROWS}, messages.ERROR)
            return HttpResponseRedirect(back)
        # The log outlives accounts, so it contains no search terms.
        names = {name for name, value in request.GET.items() if value} - {ORDER_VAR, PAGE_VAR}
        filtered = f", filtered by {', '.join(sorted(names))}" if names else ""
        done = f"Exported {count} rows as CSV{filtered}."
        self._log(request, [(None, str(self.opts.verbose_name_plural))], CHANGE, done)
        name = f"{self.opts.model_name}-{timezone.now():%Y-%m-%d}.csv"
        return FileResponse(file, as_attachment=True, filename=name, content_type="text/csv")

    def get_row_actions(self, request: HttpRequest, row: Any) -> Mapping[str, Any]:
        """The `row_actions` that can be done to this row now."""
        return self.row_actions

    def get_row_links(self, request: HttpRequest, row: Any) -> Mapping[str, Any]:
        """More pages about this row: their labels by URL."""
        return {}

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if row := kwargs.get("obj"):
            actions = self.get_row_actions(request, row)
            context["row_links"] = self.get_row_links(request, row)
            context["row_actions"] = {
                page_url(self.model, "act", row.pk, name): label for name, label in actions.items()
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def row_action_view(self, request: HttpRequest, object_id: str, action: str) -> HttpResponse:
        """Run an action of the list on one row."""
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        if request.method == "POST":
            found = self.get_actions(request).get(action)
            if found is None or action not in self.get_row_actions(request, row):
                raise PermissionDenied
            rows = self.get_queryset(request).filter(pk=row.pk)
            try:
                with transaction.atomic():
                    found[0](self, request, rows)
            except APIException as refusal:
                self.show_refusal(request, refusal)
            if not rows.exists():
                return HttpResponseRedirect(page_url(self.model, "changelist"))
        return HttpResponseRedirect(page_url(self.model, "change", row.pk))

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except APIException as refusal:
            return self._refused(request, refusal)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().delete_view(request, *args, **kwargs)
        except APIException as refusal:
            return self._refused(request, refusal)

    def response_action(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Run an action on all of the chosen rows, or on none."""
        try:
            with transaction.atomic():
                return super().response_action(request, *args, **kwargs)
        except APIException as refusal:
            return self._refused(request, refusal)

    def _refused(self, request: HttpRequest, refusal: APIException) -> HttpResponse:
        self.show_refusal(request, refusal)
        return HttpResponseRedirect(request.get_full_path())

    def show_refusal(self, request: HttpRequest, refusal: APIException) -> None:
        for _path, texts in flatten(refusal.detail):
            for text in texts:
                self.message_user(request, text, messages.ERROR)

    def tell_count(self, request: HttpRequest, text: Any, count: int) -> None:
        """Tell how many rows an action changed; `text` has the placeholder `count`."""
        level = messages.SUCCESS if count else messages.WARNING
        self.message_user(request, text % {"count": count}, level)

    def journal(self, row: Any) -> str:
        """What the page of the history shows in addition to the log of the admin site."""
        return ""

    def logged_as(self, row: Any) -> str:
        """What the log calls a row."""
        return f"#{row.pk}"

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return self._log(request, self._named([obj]), ADDITION, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return self._log(request, self._named([obj]), CHANGE, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        return self._log(request, self._named(queryset), DELETION, "")

    def _named(self, rows: Iterable[Any]) -> Iterator[tuple[str, str]]:
        return ((str(row.pk), self.logged_as(row)) for row in rows)

    def _log(
        self, request: HttpRequest, named: Iterable[tuple[str | None, str]], flag: int, message: Any
    ) -> Any:
        """Write log entries in English, by id and name; the pages that show them translate them."""
        by: Any = request.user
        with translation.override(None):
            text = json.dumps(message) if isinstance(message, list) else str(message)
        kind = ContentType.objects.get_for_model(self.model, for_concrete_model=False)
        return LogEntry.objects.bulk_create(
            LogEntry(
                user=by,
                content_type=kind,
                object_id=object_id,
                object_repr=name[:200],
                action_flag=flag,
                change_message=text,
            )
            for object_id, name in named
        )

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """Name the changed fields by their English names, which can be translated later.

        Django stores the labels of the form. They are capitalized, and so have no translations.
        """
        if add or not form.changed_data:
            return super().construct_change_message(request, form, formsets, add)
        with translation.override(None):
            names = [str(self._field_name(form, name)) for name in form.changed_data]
        return [{"changed": {"fields": names}}]

    def _field_name(self, form: Any, name: str) -> Any:
        try:
            field: Any = self.model._meta.get_field(name)
        except FieldDoesNotExist:
            return form.fields[name].label or name
        return field.verbose_name

    def history_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        response = super().history_view(request, object_id, *args, **kwargs)
        if context := getattr(response, "context_data", None):
            context["journal"] = self.journal(context["object"])
        for entry in getattr(response, "context_data", {}).get("action_list", ()):
            entry.change_message = in_reader_language(entry.change_message)
        return response


class ExportedAdmin(RulesAdmin, ReadOnlyAdmin):
    """Read-only pages, whose lists can be exported."""
