"""The name of a request's route: its pattern, so that it contains no id and no token."""

from django.http import HttpRequest

#: Static files, unknown paths, and what a middleware answers.
OTHER = "other"


def route_of(request: HttpRequest) -> str:
    """The route as in `urls.py`, such as `/api/trips/<id:trip_id>`, or `OTHER`."""
    match = request.resolver_match
    # The last route in `urls.py` is empty and matches every path.
    if match is None or not (match.route or request.path_info == "/"):
        return OTHER
    return f"/{match.route}"
