"""Base classes and helpers of the pages of the admin site."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import quote
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html


def link(row: Model, label: Any = None) -> str:
    """A link to the page of `row`."""
    url = page_url(type(row), "change", row.pk)
    return format_html('<a href="{}">{}</a>', url, label or row)


def page_url(model: type[Model], page: str, *args: Any, **query: Any) -> str:
    """The URL of a page of `model`, such as "changelist"; `args` are a row's id and words."""
    opts = model._meta
    name = f"admin:{opts.app_label}_{opts.model_name}_{page}"
    return reverse(name, args=[quote(args[0]), *args[1:]] if args else [], query=query)


class PlainAdmin(admin.ModelAdmin):
    """What all pages share."""

    show_full_result_count = False
    ordering: ClassVar[Any] = ("-id",)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list. What is in no calendar, such as the year after 9999, is a wrong filter."""
        try:
            return super().get_changelist_instance(request)
        except (OverflowError, ValueError) as error:
            raise IncorrectLookupParameters from error

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """False, because the ledger refers to these rows."""
        return False


class ReadOnlyAdmin(PlainAdmin):
    """Read-only pages."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
