"""Errors as these clients read them.

They take a status other than 200 for a failure of the request as such. What a rule refuses is a 200
whose `errors` says why. See `tripcompanion/api/problems.py` for what is refused.
"""

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response
from rest_framework.settings import api_settings

from tripcompanion.api.problems import Conflict, exception_handler

#: Our names of fields that have another one here.
_THEIR_NAMES = {
    "amount": "cost",
    "currency": "currency_code",
    "expenseDate": "date",
    "settledOn": "date",
    "notes": "details",
    "note": "details",
    "payers": "users",
    "participantUserIds": "users",
    "splitAmounts": "users",
    "fromUserId": "users",
    "toUserId": "users",
    "title": "name",
    "file": "receipt",
    "name": "first_name",
    "text": "content",
    api_settings.NON_FIELD_ERRORS_KEY: "base",
}
#: All shares together: what is wrong with them is `base`. One share is named after a point.
_ALL_SHARES = {"payers", "splitAmounts"}


def refused(text: str, field: str = "base") -> ValidationError:
    """What cannot be done here, as an exception."""
    return ValidationError({field: [text]})


def answer_error(
    exc: Exception, context: Mapping[str, Any], stub: Mapping[str, Any] | None
) -> Response:
    """DRF's hook. `stub` is what a refused write answers besides `errors`.

    With `errors` in it, they are a list of texts, and otherwise lists by their fields.
    A stub with `success` is also sent if the object does not exist.
    """
    response = exception_handler(exc, context)
    # Browsers are not among these clients.
    response.content_type = None
    problem = response.data
    if response.status_code == 401:
        response.data = {"error": problem["detail"]}
        return response
    errors: dict[str, list[str]] = {}
    for name, texts in problem.get("errors", {"base": [problem["detail"]]}).items():
        field = name.partition(".")[0]
        theirs = "base" if name in _ALL_SHARES else _THEIR_NAMES.get(field, field)
        errors.setdefault(theirs, []).extend(texts)
    response.data = {"errors": errors}
    is_missing = response.status_code == 404 and stub is not None and "success" in stub
    is_refused = is_missing or isinstance(exc, ValidationError | Conflict | PermissionDenied)
    if context["request"].method not in SAFE_METHODS and is_refused:
        if is_missing and "expense_id" in context["kwargs"]:
            # Clients look for it there.
            errors = {"expense": [problem["detail"]]}
        response.status_code, context["view"].after_success = 200, None
        is_list = stub is not None and "errors" in stub
        listed = [text for texts in errors.values() for text in texts]
        response.data = {**(stub or {}), "errors": listed if is_list else errors}
        if stub is not None and "group" in stub:
            # One client looks for them there.
            response.data["group"] = {**stub["group"], "errors": errors}
    return response
