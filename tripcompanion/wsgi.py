"""The WSGI entry point that the production server loads."""

import os
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")


def without_body_for_head(application: WSGIApplication) -> WSGIApplication:
    """`application`, whose answers to HEAD have the headers of GET and no body (RFC 9110, 9.3.2).

    Django leaves the body to the server, and not every server takes it away. A client, or a proxy
    that shares its connections, would take it for the start of the next answer.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "HEAD":
            return application(environ, start_response)
        heads: list[tuple[str, list[tuple[str, str]]]] = []

        def keep(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            heads.append((status, headers))

        body = application(environ, keep)
        status, headers = heads[-1]
        try:
            if not any(name.lower() == "content-length" for name, _value in headers):
                # Without a length the server would end the connection, and mark the end of a body.
                headers = [*headers, ("Content-Length", str(sum(map(len, body))))]
        finally:
            if hasattr(body, "close"):
                body.close()
        start_response(status, headers)
        return []

    return answer


application = without_body_for_head(get_wsgi_application())
