"""The button of each list of the admin site that exports it as CSV."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR, PAGE_VAR
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from tripcompanion.adminsite.csv_export import CsvColumns, csv_file
from tripcompanion.database.snapshots import snapshot

#: A longer list must be narrowed first, so that an export occupies a thread for seconds at most.
MAX_ROWS = 100_000


class CsvExport(admin.ModelAdmin):
    """Exports the rows that a list shows, on all of its pages, with its filters and its order."""

    #: What is exported. Secrets are left out by not being named here.
    csv_columns: ClassVar[CsvColumns] = {}
    change_list_template: ClassVar[Any] = "admin/list_with_export.html"

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view(self.export_view)
        return [path("export/", view, name=self._export_name()), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        if self.csv_columns:
            query = f"?{request.GET.urlencode()}" if request.GET else ""
            url = reverse(f"{self.admin_site.name}:{self._export_name()}") + query
            export = {"export_url": url, "export_label": _("Export as CSV")}
            extra_context = export | (extra_context or {})
        return super().changelist_view(request, extra_context)

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """The list with the filters of the query, as a file."""
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
        self._log_export(request, count)
        name = f"{self.opts.model_name}-{timezone.now():%Y-%m-%d}.csv"
        return FileResponse(file, as_attachment=True, filename=name, content_type="text/csv")

    def _log_export(self, request: HttpRequest, count: int) -> None:
        """Log who exported how much. The log outlives accounts, so it contains no search terms."""
        names = {name for name, value in request.GET.items() if value} - {ORDER_VAR, PAGE_VAR}
        filtered = f", filtered by {', '.join(sorted(names))}" if names else ""
        by: Any = request.user
        LogEntry.objects.create(
            user_id=by.pk,
            content_type=ContentType.objects.get_for_model(self.model, for_concrete_model=False),
            object_repr=str(self.opts.verbose_name_plural)[:200],
            action_flag=CHANGE,
            change_message=f"Exported {count} rows as CSV{filtered}.",
        )

    def _export_name(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_export"
