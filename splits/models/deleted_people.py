"""People in deleted entries: whoever takes the place of a guest takes it there, too."""

from collections.abc import Mapping
from typing import Any

from splits.models.deleted import DeletedEntry, DeletedKind
from splits.models.division import Part
from splits.models.expense import Expense
from splits.models.merged import MergedPeople, amounts, merge_people
from splits.models.restoring import deleted_expense
from trips.models import Trip

#: The columns of stored rows that name somebody, who may be a guest.
_PEOPLE = {
    "payers": ("user_id",),
    "splits": ("participant_id",),
    "settlements": ("sender_id", "receiver_id"),
    "settlement": ("sender_id", "receiver_id"),
}


def claim_in_deleted(trip: Trip, guest_id: int, user_id: int) -> None:
    """Give the guest's place in deleted entries to an account that is in none of them.

    Call it under the lock of the trip.
    """
    for entry in trip.deleted_entries.all():
        _replace(entry.stored, guest_id, user_id)
        for row in entry.stored.get("expense", ()):
            merged = MergedPeople.load(row["merged"])
            row["merged"] = merged.given_to(user_id, by=guest_id).text
        entry.save_rows()


def merge_in_deleted(trip: Trip, guest_id: int, user_id: int, twins: Mapping[int, int]) -> None:
    """Merge the guest with a member in deleted entries, as in those that are not deleted.

    `twins` are splits of the guest that became part of others. A settlement between the two
    vanishes. Call it under the lock of the trip.
    """
    entries = list(trip.deleted_entries.all())
    all_twins = dict(twins)
    for entry in entries:
        if entry.kind == DeletedKind.EXPENSE:
            all_twins |= _merge_expense(entry, trip, guest_id, user_id)
    for entry in entries:
        _replace(entry.stored, guest_id, user_id)
        for name in ("settlements", "settlement"):
            rows = entry.stored.get(name, [])
            rows[:] = [row for row in rows if row["sender_id"] != row["receiver_id"]]
            for row in rows:
                row["split_id"] = all_twins.get(row["split_id"], row["split_id"])
        if entry.stored[entry.kind]:
            entry.save_rows()
        else:
            entry.delete()


def _replace(stored: dict[str, Any], guest_id: int, user_id: int) -> None:
    for name, columns in _PEOPLE.items():
        for row in stored.get(name, ()):
            for column in columns:
                if row[column] == guest_id:
                    row[column] = user_id


def _merge_expense(entry: DeletedEntry, trip: Trip, guest_id: int, user_id: int) -> dict[int, int]:
    """Add up what the two paid and bear in a deleted expense.

    Returns the member's split by that of the guest, if both have one.
    """
    stored, expense = entry.stored, deleted_expense(entry, trip)
    people = {payer.user_id for payer in expense.loaded_payers}
    if guest_id not in people | {split.participant_id for split in expense.loaded_splits}:
        return {}
    parts, payments = merge_people(expense, guest_id, user_id)
    stored["expense"][0] |= {"merged": expense.merged, "split_type": expense.split_type}
    _replace(stored, guest_id, user_id)
    payers: dict[int, Any] = {}
    for row in stored["payers"]:
        payers.setdefault(row["user_id"], row)
    for payer_id, payment in payments.items():
        payers[payer_id] |= payment._asdict()
    stored["payers"] = list(payers.values())
    own = {split.participant_id: split.pk for split in expense.loaded_splits}
    twins = {own[guest_id]: own[user_id]} if {guest_id, user_id} <= own.keys() else {}
    owed_minor = _owed(expense, user_id, amounts(parts), amounts(payments))
    _merge_splits(stored, parts, user_id, twins, owed_minor)
    return twins


def _owed(
    expense: Expense, user_id: int, shares: Mapping[int, int], paid: Mapping[int, int]
) -> int:
    """What the user owes for an expense that is paid and divided like this."""
    merged = MergedPeople.load(expense.merged)
    debts = merged.debts(shares, paid, expense.number, expense.trip.ranks)
    return sum(minor for (debtor_id, _creditor), minor in debts.items() if debtor_id == user_id)


def _merge_splits(
    stored: dict[str, Any],
    parts: Mapping[int, Part],
    user_id: int,
    twins: Mapping[int, int],
    owed_minor: int,
) -> None:
    """Replace the stored splits by those of `parts`, without the guest's if it has a twin.

    At most `owed_minor` of what was open for the two is still.
    """
    pairs = list(zip(stored["splits"], stored["states"], strict=True))
    states = [state for row, state in pairs if row["participant_id"] == user_id]
    kept = [(row, state) for row, state in pairs if row["id"] not in twins]
    stored["splits"], stored["states"] = [], []
    for row, state in kept:
        if row["participant_id"] == user_id:
            open_minor = min(owed_minor, sum(minor for minor, _covered_at in states))
            times = [covered_at for _minor, covered_at in states if covered_at]
            state = [open_minor, max(times, default=None) if open_minor == 0 else None]
        stored["splits"].append(row | parts[row["participant_id"]]._asdict())
        stored["states"].append(state)
