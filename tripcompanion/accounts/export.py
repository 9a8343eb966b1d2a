"""The export of all data that the service stores about a user."""

from collections.abc import Mapping
from functools import partial
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.db.models import F, Q, QuerySet

from plugins.attachments.models import Attachment, State
from plugins.attachments.recognition import extension_of
from plugins.attachments.storage import copy
from plugins.exchange.trip_file import write_json
from plugins.recurring.models import Recurrence
from splits.models import Debt, Settlement
from splits.models.comment import Comment
from splits.models.expense import Expense
from splits.models.payer import Payer
from splits.models.split import Split
from tripcompanion.accounts.export_serializers import AccountExport, ExportedAccount
from tripcompanion.api.rendering import ExactJSONRenderer, written_file
from tripcompanion.api.serializers import camel_case
from tripcompanion.compiled import serialize
from trips.models import Invitation, Member, Trip
from trips.models.journal import JournalEntry
from users.models import User

#: How many rows are held in memory at a time.
CHUNK_ROWS = 1000


def personal_data_of(user: User) -> Mapping[str, QuerySet]:
    """The rows about `user`, one query for each kind, oldest first.

    A new model with personal data must be added here.
    """
    either_side = Q(debtor=user) | Q(creditor=user)
    either_end = Q(sender=user) | Q(receiver=user) | Q(created_by=user)
    # An expense is joined with rows of its trip only, which are on the same node.
    in_trip = Q(expense__trip=F("trip"))
    of_debt = ("trip", "debtor", "creditor")
    of_settlement = ("trip", "sender", "receiver", "created_by")
    rows: dict[str, QuerySet] = {
        "log_ins": user.sessions.order_by("created_at"),
        "scripts": user.scoped_tokens.order_by("id"),
        "filters": user.saved_filters.order_by("id"),
        "invitations": Invitation.objects.filter(created_by=user).order_by("id"),
        "imports": user.imports.order_by("id").defer("file"),
        "webhooks": user.webhooks.order_by("id"),
        "memberships": Member.objects.filter(user=user).select_related("trip"),
        "expenses": Expense.objects.filter(created_by=user).select_related("trip").order_by("id"),
        "recurring": Recurrence.objects.filter(created_by=user).order_by("id"),
        "comments": Comment.objects.filter(in_trip, created_by=user)
        .select_related("expense")
        .order_by("id"),
        "attachments": Attachment.objects.filter(created_by=user).order_by("id"),
        "payments": Payer.objects.filter(in_trip, user=user)
        .select_related("expense__trip")
        .order_by("id"),
        "splits": Split.objects.filter(in_trip, participant=user)
        .select_related("expense__trip")
        .order_by("id"),
        "debts": Debt.objects.filter(either_side).select_related(*of_debt).order_by("id"),
        "settlements": Settlement.objects.filter(either_end)
        .select_related(*of_settlement)
        .order_by("id"),
        "history": JournalEntry.objects.filter(by=user).order_by("trip", "number"),
    }
    return rows


def exported(user: User) -> IO[bytes]:
    """A temporary file with an `AccountExport` of `user` as JSON. Call it in a snapshot."""
    return written_file(lambda file: _write_account(user, file))


def archive_of(user: User) -> IO[bytes]:
    """Like `exported`, as a ZIP archive with each present trip of `user` as JSON, and their files.

    Raises `StorageUnavailable`.
    """
    return written_file(partial(_write_archive, user))


def _write_archive(user: User, file: IO[bytes]) -> None:
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        with archive.open("account.json", "w", force_zip64=True) as member:
            _write_account(user, member)
        for trip in Trip.objects.of_member(user).order_by("pk"):
            with archive.open(f"trips/{trip.pk}.json", "w", force_zip64=True) as member:
                write_json(trip, member.write)
        ready = Attachment.objects.filter(created_by=user, state=State.READY).order_by("id")
        # One by one, because PostgreSQL ends a transaction in which nothing happens for a while.
        for row in ready.iterator(1):
            name = f"attachments/{row.pk}.{extension_of(row.type)}"
            # They are compressed already.
            with archive.open(ZipInfo(name), "w", force_zip64=True) as member:
                copy(row.file, member)


def _write_account(user: User, file: IO[bytes]) -> None:
    """Write row by row: only `CHUNK_ROWS` rows are in memory."""
    fields: Any = AccountExport().fields
    file.write(b'{"account":' + _json(serialize(ExportedAccount, user, {})))
    for name, queryset in personal_data_of(user).items():
        shape = type(fields[camel_case(name)].child)
        file.write(b',"%s":[' % camel_case(name).encode())
        comma = b""
        for row in queryset.iterator(CHUNK_ROWS):
            file.write(comma + _json(serialize(shape, row, {})))
            comma = b","
        file.write(b"]")
    file.write(b"}")


def _json(value: Any) -> bytes:
    return ExactJSONRenderer().render(value)
