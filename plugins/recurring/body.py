"""The body of a recurring expense: that of `createExpense`, without a date."""

from collections.abc import Container, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from rest_framework.exceptions import ValidationError

from splits.models import Division, Expense, SplitType
from splits.models.plugin_fields import plugin_fields
from splits.reports.preview import preview_of
from splits.serializers.expense import ExpenseRequest
from trips.models import Trip
from trips.models.default_division import renamed_figures, renamed_people
from trips.models.journal import as_text
from users.models import User

Body = dict[str, Any]

#: What a field replaces, apart from itself.
_INSTEAD: Mapping[str, set[str]] = {
    "payers": {"paidByUserId"},
    "paidByUserId": {"payers"},
    "currency": {"exchangeRate"},
    "items": {"tax", "tip", "discount"},
    "splitType": {"splitAmounts", "items", "tax", "tip", "discount"},
}
#: With these types, whoever has left the trip can be left out.
_SHRINKING = {SplitType.EQUAL, SplitType.SHARES}


class RecurringExpense(ExpenseRequest):
    """What is recorded: the body of an expense, without its date."""

    expense_date = None  # type: ignore[assignment]
    locals().update(dict.fromkeys(plugin_fields()))


def merged(stored: Body, sent: Mapping[str, Any]) -> Body:
    """`stored` with the fields that were sent in their place; as in any PATCH, null is omitted."""
    fields = RecurringExpense().fields.items()
    omitted = {name for name, field in fields if not (field.required or field.allow_null)}
    changes = {name: one for name, one in sent.items() if one is not None or name not in omitted}
    differ = {name for name in changes if changes[name] != stored.get(name)}
    replaced = {other for name in differ for other in _INSTEAD.get(name, ())}
    return {name: value for name, value in stored.items() if name not in replaced} | changes


def checked(body: Mapping[str, Any], trip: Trip, by: User, day: date, **context: Any) -> Body:
    """The body as it is stored: with its currency and who paid, and nothing that is not read.

    Raises what `preview` raises.
    """
    preview(body, trip, by, day, **context)
    names = RecurringExpense().fields.keys()
    known = {name: body[name] for name in body if name in names and body[name] is not None}
    if "payers" not in known:
        known.setdefault("paidByUserId", by.pk)
    return with_people({"currency": trip.currency} | known, {})


def stored_text(sent: Any, people: Mapping[int, int]) -> str:
    """A body from a file as it is stored, with the ids of people that they have here.

    Only its form is checked: whether it can be recorded is seen when it is. Raises
    `ValidationError`.
    """
    if not isinstance(sent, dict):
        raise ValidationError
    given = {name: value for name, value in sent.items() if value is not None}
    # The form of amounts follows from these.
    if "currency" not in given:
        raise ValidationError
    if given.get("splitAmounts") and "splitType" not in given:
        raise ValidationError
    # Another release may have written names that this one does not know.
    context = {"trip": Trip(currency=""), "is_lenient": True}
    request = RecurringExpense(data=given, partial=True, context=context)
    request.is_valid(raise_exception=True)
    known = {name: given[name] for name in given if name in request.fields}
    return as_text(with_people(known, people))


def preview(body: Mapping[str, Any], trip: Trip, by: User, day: date, **context: Any) -> Expense:
    """What would be recorded on `day`.

    Raises `ValidationError` on fields of `expense`, and `NoRate`.
    """
    try:
        return preview_of(trip, by, **arguments(body, trip, day, **context))
    except ValidationError as error:
        raise ValidationError({"expense": error.detail}) from error


def arguments(body: Mapping[str, Any], trip: Trip, day: date, **context: Any) -> dict[str, Any]:
    """What `Expense.record` takes to record it on `day`. Raises `ValidationError`.

    The bank publishes the rate of a day in the afternoon. So that of the day before is taken,
    whenever the worker comes.
    """
    dated = {**body, "expenseDate": day.isoformat()}
    request = ExpenseRequest(data=dated, context={**context, "trip": trip})
    request.is_valid(raise_exception=True)
    sent = request.validated_data
    until = day - timedelta(days=1)
    return {**sent, "division": Division(**sent["division"]), "rate_until": until}


def without_former(body: Body, present: Container[int]) -> tuple[Body, list[int]]:
    """The body without the participants who are not `present`, and the ids of these.

    Only a division that is possible without them is changed.
    """
    if body.get("splitType") not in _SHRINKING:
        return body, []
    listed = body.get("participantUserIds", [])
    former = [user_id for user_id in listed if user_id not in present]
    kept = {**body, "participantUserIds": [one for one in listed if one not in former]}
    if "splitAmounts" in body:
        figures = body["splitAmounts"].items()
        kept["splitAmounts"] = {key: one for key, one in figures if int(key) not in former}
    return kept, former


def with_people(body: Body, people: Mapping[int, int]) -> Body:
    """A valid body with numbers where it has texts, and other people, by their former ids.

    Who gets two places has both amounts or weights.
    """
    body = dict(body)
    for name in body.keys() & {"amount", "exchangeRate", "tax", "tip", "discount"}:
        body[name] = _number(body[name])
    if "paidByUserId" in body:
        [body["paidByUserId"]] = renamed_people([int(body["paidByUserId"])], people)
    if "participantUserIds" in body:
        body["participantUserIds"] = renamed_people(map(int, body["participantUserIds"]), people)
    if "payers" in body:
        paid = {str(row["userId"]): _number(row["amount"]) for row in body["payers"]}
        rows = renamed_figures(paid, people).items()
        body["payers"] = [{"userId": int(pk), "amount": amount} for pk, amount in rows]
    if "splitAmounts" in body:
        body["splitAmounts"] = _figures(body["splitAmounts"], people)
    if "items" in body:
        body["items"] = [
            {**row, "amount": _number(row["amount"]), "shares": _figures(row["shares"], people)}
            for row in body["items"]
        ]
    return body


def _figures(figures: Mapping[str, Any], people: Mapping[int, int]) -> dict[str, Any]:
    return renamed_figures({key: _number(value) for key, value in figures.items()}, people)


def _number(value: Any) -> Any:
    return Decimal(value) if isinstance(value, str) else value
