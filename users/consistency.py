"""Callers see their own changes, although reads may take place on a replica."""

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from tripcompanion.database.replica import HEADER, as_text
from users.models.position import store_position

#: Refusals because of what is stored: the caller will read it again.
_CONTRADICTED = {404, 409, 410, 412}


class Consistency(MiddlewareMixin):
    """After a change, stores the position for the caller's reads and sends it to the client.

    `settings.py` adds it if there is a replica.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.method in {"GET", "HEAD", "OPTIONS"}:
            return response
        status = response.status_code
        # DRF also sets the authenticated user on Django's request.
        caller = request.user
        if caller.is_authenticated and (status < 400 or status in _CONTRADICTED):
            position = store_position([caller.pk])
            if position is not None:
                response[HEADER] = as_text(position)
        return response
