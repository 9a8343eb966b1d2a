"""The base of viewsets whose answers are also tables and pictures."""

from collections.abc import Callable
from typing import IO, Any

from django.http import FileResponse, HttpResponseBase, HttpResponseNotModified
from rest_framework.request import Request

from plugins.statistics import pictures
from tripcompanion.api.etags import etag_of, is_known
from tripcompanion.api.viewsets import ApiViewSet


class DrawnViewSet(ApiViewSet):
    """Answers with JSON, or with a file in one of the `files` of an action."""

    @classmethod
    def as_picture(cls, action: str, operation_id: str) -> Any:
        """The view of a route that ends with `.svg`: GET answers with the picture of `action`."""
        return cls.as_view(
            {"get": action},
            operation_ids={action: operation_id},
            response_serializers={action: None},
            files={action: {"svg": pictures.MEDIA_TYPE}},
            only_format="svg",
        )

    def in_any_format(
        self, request: Request, shown: Any, name: str, **writers: Callable[[Any], IO[bytes]]
    ) -> HttpResponseBase:
        """`shown` as JSON, or as the file that the writer for the chosen format makes of it.

        Each has its own `ETag`.
        """
        write = writers.get(request.accepted_renderer.format)
        if write is None:
            return self.with_etag(request, shown)
        content = write(shown)
        tag = etag_of(content.read())
        response: HttpResponseBase
        if request.method == "GET" and is_known(request, tag):
            content.close()
            response = HttpResponseNotModified()
        else:
            response = self.file(content, name)
        response["ETag"] = tag
        return response

    def file(self, *args: Any, **options: Any) -> FileResponse:
        response = super().file(*args, **options)
        if response["Content-Type"] == pictures.MEDIA_TYPE:
            # A browser shows it in the page.
            disposition = response["Content-Disposition"]
            response["Content-Disposition"] = disposition.replace("attachment", "inline", 1)
            response["Content-Security-Policy"] = pictures.POLICY
        return response
