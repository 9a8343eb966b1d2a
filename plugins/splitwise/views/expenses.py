"""Expenses, and payments, which are settlements."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError as InvalidAddress
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.attachments.models import Attachment, UnsupportedType
from plugins.attachments.serializers import AttachmentRequest
from plugins.attachments.storage import discard
from plugins.attachments.views import UploadThrottle, store_file
from plugins.forms import SentFile
from plugins.splitwise.adding import Person, accounts_locked, friendship, invited_as
from plugins.splitwise.categories import our_category
from plugins.splitwise.entries import MAX_ROWS, Filters, comments_on, find, find_one, shown
from plugins.splitwise.errors import refused
from plugins.splitwise.models import GivenCategory, Group
from plugins.splitwise.objects import PAYMENT, PAYMENTS_FROM, Entry, row_id
from plugins.splitwise.parsing import RECEIPT, Fields, MultipartBody
from plugins.splitwise.viewset import SplitwiseViewSet
from splits.models import DeletedEntry, Division, Expense, Settlement, SplitType
from splits.models.division import require_sum
from splits.models.restoring import restore_expense, restore_settlement
from splits.models.settlement import today
from splits.serializers.expense import ExpenseRequest
from splits.serializers.settlement import SettlementRequest
from tripcompanion.api.parsing import PayloadTooLarge
from tripcompanion.currency.amounts import CODES, MAX_AMOUNT, to_minor
from trips.models import Trip, get_visible_or_404
from users.models import User

_FAILED: dict[str, Any] = {"success": False}
_PAGE = 20
#: What is kept of an expense, by its name here and in our own API.
_TEXTS = {"description": "description", "details": "notes"}
#: What people paid, or owe, in the rows of a body: texts of amounts by user id, without zeros.
Shares = Mapping[int, Any]


class ExpenseViewSet(SplitwiseViewSet):
    """Expenses and payments; see `Entry`."""

    stubs: ClassVar = {
        "create_expense": {"expenses": []},
        "update_expense": {"expenses": []},
        "delete_expense": _FAILED,
        "undelete_expense": _FAILED,
    }

    #: The file in `receipt`, which is stored and has no row yet.
    draft: Attachment | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if (request.content_type or "").startswith(MultipartBody.media_type):
            sent = self.fields.get(RECEIPT)
            if isinstance(sent, SentFile):
                # Not in the action, which an `Idempotency-Key` runs in a transaction.
                self._store(sent)
        elif int(request.META.get("CONTENT_LENGTH") or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise PayloadTooLarge

    def _store(self, sent: SentFile) -> None:
        self.count(UploadThrottle())
        self.validated(AttachmentRequest, {"file": sent})
        draft = Attachment(created_by=self.caller)
        try:
            store_file(draft, sent)
        except UnsupportedType as error:
            text = _("A receipt is a JPEG, PNG, WebP, HEIC or PDF file.")
            raise refused(text, RECEIPT) from error
        self.draft = draft

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        # After a 5xx, the row may be stored; `sweep` knows later.
        if self.draft is not None and response.status_code < 500:
            discard(self.draft.file)
        return super().finalize_response(request, response, *args, **kwargs)

    @contextmanager
    def _with_receipt(self) -> Iterator[list[Expense]]:
        """Open a transaction; the file, if there is one, is attached to the expense in the list."""
        # The quota of files locks the account, and accounts come before trips.
        with accounts_locked(self.caller, []) if self.draft else transaction.atomic():
            attached: list[Expense] = []
            yield attached
            if self.draft is not None:
                [self.draft.expense] = attached
                self.draft.trip = self.draft.expense.trip
                self.draft.add()
                self.draft = None

    def get_expense(self, request: Request, expense_id: int) -> Response:
        entry = find_one(self.caller, expense_id)
        self.note_answer_in(entry.trip.pk)
        return Response({"expense": {**self._shown([entry])[0], "comments": comments_on(entry)}})

    def get_expenses(self, request: Request) -> Response:
        query = self.parameters
        limit, offset = query.count("limit"), query.count("offset") or 0
        friend_id = None if "group_id" in query else query.id("friend_id")
        filters = Filters(
            friend_id,
            query.day("dated_after"),
            query.day("dated_before"),
            query.instant("updated_after"),
            query.instant("updated_before"),
            without_deleted=query.flag("visible") is True,
        )
        most = min(_PAGE if limit is None else limit or MAX_ROWS, MAX_ROWS)
        found = find(self._trip_ids(query, friend_id), filters, most, offset)
        return Response({"expenses": self._shown(found)})

    def _trip_ids(self, query: Fields, friend_id: int | None) -> list[int]:
        """The trips in which entries are looked for."""
        if group_id := query.id("group_id"):
            return [self.get_visible_trip(group_id).pk]
        if "group_id" in query:
            return list(Group.objects.friendships(self.caller).values_list("pk", flat=True))
        trips = Trip.objects.of_member(self.caller)
        if friend_id is not None:
            trips = trips.filter(members__user=friend_id, members__left_at=None)
        return list(trips.values_list("pk", flat=True))

    def create_expense(self, request: Request) -> Response:
        fields = self.fields
        _refuse_unknown(fields)
        rows = fields.rows()
        # Before the transaction: if it fails, a limit still counts the look-up of an address.
        other = None if fields.id("group_id") else self._other(rows)
        # A refused expense leaves no friendship, guest or invitation.
        with transaction.atomic():
            trip, user_ids = self._place(fields, rows, other)
            _refuse_currency(fields, trip)
            paid, owed = _shares(rows, user_ids)
            record = self._pay if fields.flag("payment") else self._record
            recorded = record(trip, fields, paid, owed)
        return self._answer(recorded)

    def _other(self, rows: list[Fields]) -> Person:
        """With whom the caller shares an expense outside of groups."""
        others = [row for row in rows if not self._is_caller(row)]
        if len(rows) != 2 or len(others) != 1:
            raise refused(_("Outside of a group, an expense is between you and one other person."))
        return Person(self, others[0])

    def _place(
        self, fields: Fields, rows: list[Fields], other: Person | None
    ) -> tuple[Trip, list[int]]:
        """The trip of the expense, and the ids of the people in its rows."""
        if other is None:
            trip = self.get_visible_trip(fields.required_id("group_id"))
            return trip, [_member(trip, row) for row in rows]
        currency = fields.text("currency_code") or self.caller.currency
        if currency not in CODES:
            raise refused(_("Not the code of a currency."), "currency_code")
        trip, user = friendship(self.caller, other, currency)
        return trip, [user.pk if row is other.row else self.caller.pk for row in rows]

    def _is_caller(self, row: Fields) -> bool:
        if "user_id" in row:
            return row.id("user_id") == self.caller.pk
        accounts = User.objects.with_email(row.text("email") or "")
        return accounts.filter(pk=self.caller.pk).exists()

    def _record(self, trip: Trip, fields: Fields, paid: Shares, owed: Shares) -> int:
        body: dict[str, Any] = dict(_texts(fields))
        body["amount"], body["expenseDate"] = fields.get("cost"), str(fields.day("date") or today())
        if fields.flag("split_equally"):
            if paid or owed:
                raise refused(_("Send either split_equally or the shares."), "split_equally")
            members = list(trip.members.present().values_list("user", flat=True))
            body |= {"splitType": SplitType.EQUAL, "participantUserIds": members}
            body["paidByUserId"] = self.caller.pk
        else:
            body |= _body_of(paid, owed)
        body |= _category(fields)
        new = self.validated(ExpenseRequest, body, trip=trip)
        new["division"] = Division(**new["division"])
        with self._with_receipt() as attached:
            expense = Expense.record(trip, self.caller, **new)
            attached.append(expense)
            _keep_category(trip, expense.pk, fields)
        return expense.pk

    def _pay(self, trip: Trip, fields: Fields, paid: Shares, owed: Shares) -> int:
        if not (len(paid) == len(owed) == 1 and paid.keys() != owed.keys()):
            text = _("In a payment, one person pays, and another one receives all of it.")
            raise refused(text, "users")
        [sender], [receiver] = paid, owed
        cost = _minor("cost", fields.get("cost"), trip.currency)
        for share in (paid[sender], owed[receiver]):
            require_sum("base", [_minor("users", share, trip.currency)], cost, trip.currency)
        if self.draft is not None:
            raise refused(_("A payment has no receipt."), RECEIPT)
        body = {"fromUserId": sender, "toUserId": receiver, "amount": fields.get("cost")}
        body |= {"note": _note(fields), "settledOn": str(fields.day("date") or today())}
        new = self.validated(SettlementRequest, body, currency=trip.currency)
        value = new.pop("amount")
        settlement = Settlement(trip=trip, created_by=self.caller, **new)
        settlement.record(value)
        return PAYMENTS_FROM + settlement.pk

    def update_expense(self, request: Request, expense_id: int) -> Response:
        """Change what differs from what clients read. Any row replaces all shares."""
        fields, entry = self.fields, find_one(self.caller, expense_id)
        if entry.deleted_at is not None:
            raise NotFound
        _refuse_unknown(fields)
        if fields.flag("split_equally"):
            raise refused(_("Send the shares."), "split_equally")
        trip = self.get_visible_trip(entry.trip.pk)
        _refuse_currency(fields, trip)
        outside = Group.objects.friendships(self.caller).filter(pk=trip.pk).exists()
        if "group_id" in fields and fields.id("group_id") != (None if outside else trip.pk):
            raise refused(_("An expense cannot move to another group."), "group_id")
        if fields.flag("payment") not in {None, entry.is_payment}:
            raise refused(_("An expense cannot become a payment, or a payment an expense."))
        changes = self._changes(trip, fields, entry)
        given = {} if entry.is_payment else _category(fields)
        if entry.is_payment and (changes or self.draft):
            raise refused(_("A payment cannot be changed: delete it, and record another one."))
        if changes or given or self.draft:
            self._change(trip, entry, {**changes, **given})
        return self._answer(entry.id)

    def _change(self, trip: Trip, entry: Entry, body: Mapping[str, Any]) -> None:
        rows = Expense.objects.with_trip
        expense = get_visible_or_404(rows, self.caller, trip_id=trip.pk, pk=entry.id)
        if expense.currency != trip.currency and body.keys() & {"amount", "payers", "splitAmounts"}:
            text = _("It was recorded in %(currency)s; change it in the app.")
            raise refused(text % {"currency": expense.currency})
        about = {"trip": trip, "expense": expense, "partial": True}
        changes = self.validated(ExpenseRequest, body, **about)
        with self._with_receipt() as attached:
            if changes:
                expense.change(self.caller, **changes)
            attached.append(expense)
            _keep_category(trip, expense.pk, self.fields)

    def _changes(self, trip: Trip, fields: Fields, entry: Entry) -> dict[str, Any]:
        """The fields that differ from `entry`, as a part of the body of an expense."""
        stored = {"description": entry.description, "notes": entry.details}
        body: dict[str, Any] = {
            name: text for name, text in _texts(fields).items() if text != stored[name]
        }
        if (day := fields.day("date")) is not None and day != entry.day:
            body["expenseDate"] = str(day)
        has_new_cost = False
        if "cost" in fields:
            has_new_cost = _minor("cost", fields.get("cost"), trip.currency) != entry.amount_minor
        if has_new_cost:
            body["amount"] = fields.get("cost")
        rows = fields.rows()
        if not rows:
            return body
        paid, owed = _shares(rows, [_member(trip, row) for row in rows])
        new = _body_of(paid, owed)
        if has_new_cost or _minors(paid, trip.currency) != _nonzero(entry.paid):
            body["payers"] = new["payers"]
        if has_new_cost or _minors(owed, trip.currency) != _nonzero(entry.owed):
            names = ("splitType", "participantUserIds", "splitAmounts")
            body |= {name: new[name] for name in names}
        return body

    def delete_expense(self, request: Request, expense_id: int) -> Response:
        is_payment, pk = row_id(expense_id)
        kind: Any = Settlement if is_payment else Expense
        entry = get_visible_or_404(kind.objects.all, self.caller, pk=pk)
        entry.remove(by=self.caller)
        return self.done({"success": True, "errors": {}}, entry.trip_id)

    def undelete_expense(self, request: Request, expense_id: int) -> Response:
        is_payment, pk = row_id(expense_id)
        rows: Any = DeletedEntry.objects
        rows = rows.settlements if is_payment else rows.expenses
        kept = get_visible_or_404(rows, self.caller, object_id=pk)
        restore: Any = restore_settlement if is_payment else restore_expense
        restore(kept, self.caller)
        return self.done({"success": True, "errors": {}}, kept.trip_id)

    def _shown(self, entries: list[Entry]) -> list[dict[str, Any]]:
        return shown(entries, self.request.build_absolute_uri)

    def _answer(self, entry_id: int) -> Response:
        entry = find_one(self.caller, entry_id)
        return self.done({"expenses": self._shown([entry]), "errors": {}}, entry.trip.pk)


def _refuse_unknown(fields: Fields) -> None:
    """Raise `ValidationError` for what would be lost."""
    if (fields.text("repeat_interval") or "never") != "never":
        raise refused(_("Expenses do not repeat here."), "repeat_interval")
    if fields.flag("email_reminder"):
        raise refused(_("There are no reminders here."), "email_reminder")


def _refuse_currency(fields: Fields, trip: Trip) -> None:
    if (fields.text("currency_code") or trip.currency) != trip.currency:
        text = _("This group is in %(currency)s.") % {"currency": trip.currency}
        raise refused(text, "currency_code")


def _member(trip: Trip, row: Fields) -> int:
    """The id of the member whom a row names by an id or an address."""
    if "user_id" in row:
        return row.required_id("user_id")
    email = row.text("email") or ""
    named = Q(user__in=User.objects.with_email(email))
    with suppress(InvalidAddress):
        named |= invited_as(email)
    found = trip.members.present().filter(named).values_list("user", flat=True).first()
    if found is None:
        raise refused(_("Not a member of the group; add them first: %s.") % email, "users")
    return found


def _shares(rows: list[Fields], user_ids: list[int]) -> tuple[Shares, Shares]:
    if len(set(user_ids)) < len(user_ids):
        raise refused(_("Somebody is listed twice."), "users")

    def given(name: str) -> dict[int, Any]:
        sent = {pk: row.get(name) for pk, row in zip(user_ids, rows, strict=True)}
        return {pk: one for pk, one in sent.items() if one is not None and _decimal("users", one)}

    return given("paid_share"), given("owed_share")


def _decimal(name: str, value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    is_plain = number.is_finite() and number.adjusted() > -30 and not isinstance(value, bool)
    if not is_plain or abs(number) > MAX_AMOUNT:
        raise ValidationError({name: [_("A valid number is required.")]})
    return number


def _minor(name: str, value: Any, currency: str) -> int:
    return to_minor(_decimal(name, value), currency)


def _minors(amounts: Mapping[int, Any], currency: str) -> dict[int, int]:
    return _nonzero({pk: _minor("users", value, currency) for pk, value in amounts.items()})


def _nonzero(amounts: Mapping[int, int]) -> dict[int, int]:
    return {pk: minor for pk, minor in amounts.items() if minor}


def _body_of(paid: Shares, owed: Shares) -> dict[str, Any]:
    """The shares as the body of an expense has them."""
    if not (paid and owed):
        raise refused(_("Somebody must have paid, and somebody must bear it."), "users")
    return {
        "payers": [{"userId": pk, "amount": value} for pk, value in paid.items()],
        "splitType": SplitType.MANUAL,
        "participantUserIds": list(owed),
        "splitAmounts": {str(pk): value for pk, value in owed.items()},
    }


def _texts(fields: Fields) -> dict[str, str]:
    texts = {ours: fields.text(theirs) for theirs, ours in _TEXTS.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _note(fields: Fields) -> str:
    """Description and details of a payment as one text, which `Entry` takes apart."""
    description = fields.text("description") or PAYMENT
    details = fields.text("details") or ""
    if not details:
        return "" if description == PAYMENT else description
    return f"{description}\n{details}"


def _category(fields: Fields) -> dict[str, str]:
    category_id = fields.id("category_id")
    if category_id is None:
        return {}
    try:
        return {"category": our_category(category_id)}
    except KeyError as error:
        text = _("There is no such category, or it has others below it.")
        raise ValidationError({"category_id": [text]}) from error


def _keep_category(trip: Trip, expense_id: int, fields: Fields) -> None:
    if category_id := fields.id("category_id"):
        given = {"category_id": category_id}
        GivenCategory.objects.update_or_create(given, trip=trip, expense_id=expense_id)
