"""Notices to the members of a trip, queued in the transaction of their cause."""

from django.db.models import Q

from users.models import Mail, User


def notify(event: str, people: Q, *, by: User, trip_id: int, expense_id: int | None = None) -> None:
    """Queue a notice of `event` for the members among `people` who want it, but not for `by`.

    `people` filters accounts; `event` is a key of `NOTICES`. Call it under the trip's lock. It
    takes one statement, and one more if somebody is to be notified.
    """
    members = User.objects.filter(
        people, memberships__trip=trip_id, memberships__left_at=None
    ).exclude(pk=by.pk)
    about = {"trip_id": trip_id, "expense_id": expense_id}
    Mail.objects.notify(event, members, **{k: v for k, v in about.items() if v is not None})
