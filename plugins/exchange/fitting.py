"""An entry of a file as the ledger can record it: its texts, its amount in the trip's currency."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import replace
from datetime import date
from decimal import Context, Decimal
from typing import Any

from django.core.exceptions import ValidationError as ModelError
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from plugins.exchange.columns import MODELS, carried
from plugins.exchange.currencies import SUCCESSORS
from plugins.exchange.description import (
    FIRST_DAY,
    LAST_DAY,
    DescribedComment,
    DescribedExpense,
    DescribedSettlement,
    Note,
    UnreadableFile,
)
from plugins.exchange.formats.entries import apportioned
from plugins.exchange.formats.reading import RowError, TripDescription, plain
from plugins.recording import KEPT_TYPES
from splits.models import Rate
from splits.models.division import OF_AMOUNTS, PERCENTAGE_WHOLE, SCALE, Division, Money
from splits.models.in_trip import added_rows
from splits.models.items import EXTRAS, Items
from splits.models.payer import MAX_PAYERS
from splits.models.rate import ENTERED, NoRate
from splits.models.tag import MAX_TAG_CHARS, MAX_TAGS, clean_tags
from splits.serializers.expense import ExpenseRequest, items_of
from tripcompanion.api.serializers import MAX_MARKS, MAX_URL_CHARS, has_many_marks
from tripcompanion.currency.amounts import ENDED, EXPONENTS, MAX_AMOUNT, convert, to_major, to_minor
from trips.models.default_division import MAX_WEIGHT

#: What both databases store of a rate.
_SIGNIFICANT = Context(prec=15)
_LAST_DECIMAL = Decimal(1).scaleb(-15)
_MAX_RATE = Decimal(10) ** 6
#: What was entered is in the currency of the expense.
_OF_ONE_CURRENCY = {"MANUAL", *KEPT_TYPES}


class Fitting:
    """Makes entries fit for a trip in `currency`, whose people have the keys in `people`.

    `given` are the caller's rates, of which `given_used` names those that were needed; `rates` are
    all that were needed, with source and day.
    """

    def __init__(
        self, described: TripDescription, currency: str, people: Set[str], given: Mapping[str, str]
    ) -> None:
        self.described, self.currency = described, currency
        self.people, self.given, self.given_used = people, given, set[str]()
        self._names = {person.key: plain(person.name) for person in described.people}
        self.rates: dict[str, tuple[Decimal, str, date]] = {}

    def fitted(self, entry: Any) -> tuple[Any, list[Note]]:
        """The entry as it can be recorded, with all notes. Raises `RowError`."""
        if not FIRST_DAY <= entry.date <= LAST_DAY:
            raise RowError("date_out_of_range", date=str(entry.date))
        is_expense, notes = isinstance(entry, DescribedExpense), [*entry.notes]
        cut: list[Note] = []
        if not entry.amount_minor or not (is_expense or entry.amount_minor > 0):
            raise RowError("no_amount")
        if is_expense:
            _require_division(entry)
        elif entry.sender == entry.receiver:
            raise RowError("to_oneself")
        entry = _with_fields(entry, cut)
        if is_expense:
            if not entry.title:
                entry = replace(entry, fields={**entry.fields, "description": _("Expense")})
                notes.append(Note("no_description"))
            entry = self._with_comments(entry, cut)
        self.require_people(entry)
        entry = self._in_use(self._in_trip_currency(entry, notes), notes)
        return entry, notes + cut

    def require_people(self, entry: Any) -> None:
        """Raise `RowError` if it names somebody who is not in the file."""
        if not entry.people <= self.people:
            raise RowError("unknown_person")

    def _in_trip_currency(self, entry: Any, notes: list[Note]) -> Any:
        """The entry without its rate, which leads to another currency than the trip's.

        It stays as entered if that can be converted; else it is in the file's currency.
        """
        if self.currency == self.described.currency:
            return entry
        if entry.converted_minor is not None:
            if self._converts(entry.currency):
                entry = _as_entered(entry)
            else:
                entry = _with_amount(entry, "original_amount", notes)
                entry = _restated(entry, self.described.currency, entry.converted_minor)
        return replace(entry, rate=None, converted_minor=None)

    def _converts(self, currency: str) -> bool:
        """Whether an amount is, or can be converted to be, in the trip's currency."""
        if currency == self.currency or currency in ENDED:
            return currency not in ENDED or currency in self.given
        with suppress(RowError):
            return bool(self._rate(currency))
        return False

    def _in_use(self, entry: Any, notes: list[Note]) -> Any:
        """The entry in a currency in which it can be recorded: some have ended.

        Its amount stays in its text. By the file's own amount or rate, or by the caller's rate, it
        is in the trip's currency; else by law in the one that came next. Raises `RowError`.
        """
        if entry.currency not in ENDED:
            return entry
        currency, rate = self.currency, entry.rate
        if entry.converted_minor is None and rate is None:
            rate = self._given(entry.currency) or Decimal(0)
            if not rate and entry.currency not in SUCCESSORS:
                raise RowError("no_rate", currency=entry.currency)
            if not rate:
                currency, units = SUCCESSORS[entry.currency]
                rate = 1 / units
        minor = entry.converted_minor
        if minor is None:
            minor = convert(entry.amount_minor, entry.currency, currency, rate or Decimal(1))
        entry = _restated(_with_amount(entry, "converted", notes), currency, minor)
        return replace(entry, rate=None, converted_minor=None)

    def moved(self, entry: Any) -> Counter[tuple[str, str]]:
        """What the entry changes in the balances that the file leads to. Raises `RowError`."""
        moved: Counter[tuple[str, str]] = Counter()
        minor, currency = entry.converted_minor, self.described.currency
        if minor is None:
            minor, currency = entry.amount_minor, entry.currency
        if isinstance(entry, DescribedSettlement):
            moved.update({(entry.sender, currency): minor})
            moved.subtract({(entry.receiver, currency): minor})
            return moved
        for key, part in apportioned(minor, dict(entry.payers)).items():
            moved[key, currency] += part
        weights = {key: 1 if value is None else value for key, value in entry.entered}
        parts = dict(entry.parts) if entry.parts else apportioned(minor, weights, entry.line)
        for key, part in parts.items():
            moved[key, currency] -= part
        return moved

    def content(self, entry: Any) -> dict[str, Any]:
        """What is recorded when the plan is confirmed, with people by key. Raises `RowError`."""
        amount_minor, rate, source, day = self._converted(entry)
        if not 0 < abs(amount_minor) <= to_minor(MAX_AMOUNT, self.currency):
            raise RowError("amount_out_of_range")
        common = {
            **entry.fields,
            "amount": amount_minor,
            "entered_amount": entry.amount_minor,
            "currency": entry.currency,
            "rate": rate,
            "rate_source": source,
            "rate_day": day,
        }
        if isinstance(entry, DescribedSettlement):
            return {**common, "sender": entry.sender, "receiver": entry.receiver}
        shown = _as_divided(entry)
        split_type, entered = shown.split_type, shown.entered
        if split_type == "PERCENTAGE" and sum(v for _k, v in entered) != PERCENTAGE_WHOLE:
            split_type = "SHARES"
        return {
            **common,
            "payers": entry.payers,
            "paid": None if entry.converted_minor is None else entry.paid,
            "split_type": split_type,
            "entered": entered,
            "items": _items_text(entry) if split_type in KEPT_TYPES else None,
            "parts": entry.parts,
            "parts_currency": entry.currency
            if entry.converted_minor is None
            else self.described.currency,
            "comments": [comment.text for comment in entry.comments],
        }

    def _with_comments(self, entry: DescribedExpense, notes: list[Note]) -> DescribedExpense:
        """The entry with comments as the caller writes them: each begins with its author's name."""
        texts = []
        if (rows := added_rows().get("comments")) is None:
            return replace(entry, comments=())
        most_chars = longest(rows.model, rows.text)
        for comment in entry.comments:
            text = "\n".join(line.rstrip() for line in comment.text.splitlines())
            text = _plain(text, notes)
            if text:
                texts.append(f"{self._names.get(comment.person or '', '?')}: {text}")
        if max(map(len, texts), default=0) > most_chars:
            notes.append(Note("cut", {"limit": most_chars}))
        if len(texts) > rows.limit:
            notes.append(Note("comments_cut", {"limit": rows.limit}))
        kept = (DescribedComment(text[:most_chars]) for text in texts[: rows.limit])
        return replace(entry, comments=tuple(kept))

    def _converted(self, entry: Any) -> tuple[int, Decimal | None, str, date | None]:
        """The amount in the trip's currency, and the rate with its source and day."""
        if entry.currency == self.currency:
            return entry.amount_minor, None, "", None
        source, day = entry.rate_source or ENTERED, entry.rate_day or timezone.now().date()
        rate = entry.rate
        wanted = entry.converted_minor
        if rate is not None:
            rate = _storable(rate, Decimal(1))
        if wanted is not None and (rate is None or self._by(entry, rate) != wanted):
            source, day = ENTERED, timezone.now().date()
            own = to_major(wanted, self.currency)
            rate = _storable(own, to_major(entry.amount_minor, entry.currency))
        if rate is None:
            rate, source, day = self._rate(entry.currency)
        if not 0 < rate <= _MAX_RATE:
            raise RowError("bad_rate", currency=entry.currency)
        minor = self._by(entry, rate)
        if wanted is not None and minor != wanted:
            raise RowError("bad_rate", currency=entry.currency)
        return minor, rate, source, day

    def _by(self, entry: Any, rate: Decimal) -> int:
        return convert(entry.amount_minor, entry.currency, self.currency, rate)

    def _given(self, currency: str) -> Decimal | None:
        """The caller's rate, which is used."""
        if currency not in self.given:
            return None
        self.given_used.add(currency)
        return Decimal(self.given[currency])

    def _rate(self, currency: str) -> tuple[Decimal, str, date]:
        """The caller's rate to the trip's currency, or the latest stored. Raises `RowError`."""
        if currency not in self.rates:
            given = self._given(currency)
            if given is not None:
                rate = _storable(given, Decimal(1))
                self.rates[currency] = (rate, ENTERED, timezone.now().date())
            else:
                try:
                    found = Rate.objects.latest_to(self.currency, [currency])[currency]
                except NoRate as error:
                    raise RowError("no_rate", currency=currency) from error
                self.rates[currency] = (found.rate, found.source, found.day)
        return self.rates[currency]


def _with_amount(entry: Any, code: str, notes: list[Note]) -> Any:
    """The entry with its amount in a note with this code, and in its text, if that has room."""
    amount = f"{to_major(entry.amount_minor, entry.currency):f} {entry.currency}"
    notes.append(Note(code, {"amount": amount}))
    name = entry.remark_column
    text = "\n".join(filter(None, [entry.fields[name], amount]))
    if len(text) <= longest(MODELS[entry.kind], name):
        entry = replace(entry, fields={**entry.fields, name: text})
    return entry


def _as_entered(entry: Any) -> Any:
    """The entry with nothing in the file's currency: its exact parts are in its own if needed.

    They are not if they only differ in odd cents from the division.
    """
    if not isinstance(entry, DescribedExpense) or entry.parts is None:
        return entry
    entry = _as_divided(entry)
    return replace(entry, parts=entry.entered if entry.split_type == "MANUAL" else None)


def _as_divided(entry: DescribedExpense) -> DescribedExpense:
    """The entry with its exact parts as the division, unless they only differ in odd cents."""
    if entry.parts is None or entry.split_type in KEPT_TYPES:
        return entry
    weights = {key: 1 if value is None else value for key, value in entry.entered}
    if entry.split_type != "MANUAL" or sum(weights.values()) == entry.amount_minor:
        stated = apportioned(sum(part for _key, part in entry.parts), weights)
        if all(abs(part - stated.get(key, 0)) <= 1 for key, part in entry.parts):
            return entry
    entered = tuple(apportioned(entry.amount_minor, dict(entry.parts), entry.line).items())
    return replace(entry, split_type="MANUAL", entered=entered)


def _restated(entry: Any, currency: str, amount_minor: int) -> Any:
    """The entry with another amount, in proportion to which everything in it changes.

    Exact parts of the amount in the file are in this currency already, if that has one.
    """
    changed: dict[str, Any] = {"currency": currency, "amount_minor": amount_minor}
    if isinstance(entry, DescribedExpense):
        changed["payers"] = tuple(apportioned(amount_minor, dict(entry.payers)).items())
        parts = entry.parts
        if parts is not None and entry.converted_minor is None:
            parts = tuple(apportioned(amount_minor, dict(parts), entry.line).items())
        changed["parts"] = parts
        if entry.split_type in _OF_ONE_CURRENCY and parts is not None:
            changed |= {"split_type": "MANUAL", "entered": parts}
    return replace(entry, **changed)


def _require_division(entry: DescribedExpense) -> None:
    """Raise `RowError` unless everything adds up, has one sign, and can be stored."""
    if len(entry.payers) > MAX_PAYERS:
        raise RowError("too_many_payers", limit=MAX_PAYERS)
    whole = entry.amount_minor if entry.converted_minor is None else entry.converted_minor
    sums: list[tuple[Any, int]] = [
        (entry.payers, entry.amount_minor),
        (entry.parts or (("", whole),), whole),
    ]
    if entry.split_type == "MANUAL" and entry.converted_minor is None:
        sums.append((entry.entered, entry.amount_minor))
    if any(sum(value or 0 for _key, value in values) != total for values, total in sums):
        raise RowError("does_not_add_up")
    sign = -1 if entry.amount_minor < 0 else 1
    if sign < 0 and len(entry.payers) > 1:
        raise RowError("several_receivers")
    if min(sign * minor for _key, minor in entry.payers) < 1:
        raise RowError("negative_part")
    _require_entered(entry, sign)


def _require_entered(entry: DescribedExpense, sign: int) -> None:
    """Raise `RowError` unless what was entered for people can be stored."""
    is_manual = entry.split_type == "MANUAL"
    least = 0 if is_manual else 1
    entered = [least if value is None else value for _key, value in entry.entered]
    if not entered:
        raise RowError("nobody_takes_part")
    signed = [sign * value for value in entered] if is_manual else entered
    if entry.split_type != "ADJUSTMENT" and min(signed) < least:
        raise RowError("negative_part")
    if entry.split_type not in OF_AMOUNTS:
        if max(entered) > MAX_WEIGHT * SCALE:
            raise RowError("weight_too_large")
    elif max(map(abs, entered)) > to_minor(MAX_AMOUNT, entry.currency):
        raise RowError("amount_too_large")


def _items_text(entry: DescribedExpense) -> str | None:
    """The items as they are stored, with the ids in the file. Raises `RowError`.

    What was entered must divide the amount.
    """
    values, items = {int(key): value for key, value in entry.entered}, None
    try:
        if entry.split_type == "ITEMIZED":
            own_ids = {pk: pk for pk in values}
            items = items_from(entry.items, entry.currency, own_ids, entry.line)
        entered = {pk: value for pk, value in values.items() if value is not None}
        whole = Money(entry.amount_minor, entry.amount_minor, entry.currency)
        Division(entry.split_type, tuple(values), entered, items).parts(whole, 0)
    except (UnreadableFile, ValidationError) as error:
        raise RowError("does_not_add_up") from error
    return items and items.text(entry.currency)


def items_from(shown: Any, currency: str, people: Mapping[int, int], line: int) -> Items:
    """The items of a file in our own format, with other ids of people. Raises `UnreadableFile`."""
    wrong = UnreadableFile("bad_value", line, name="items")
    fields = ExpenseRequest(context={"is_lenient": True}).fields
    if not isinstance(shown, dict) or currency not in EXPONENTS:
        raise wrong
    try:
        extras = {
            name: fields[name].run_validation(shown[name]) for name in EXTRAS if name in shown
        }
        rows = fields["items"].run_validation(shown["items"])
        for row in rows:
            row["shares"] = {people[pk]: weight for pk, weight in row["shares"].items()}
        return items_of(rows, extras, currency)
    except (KeyError, ValidationError) as error:
        raise wrong from error


def longest(model: Any, name: str) -> int:
    """How many characters a text column takes."""
    return model._meta.get_field(name).max_length


def _with_fields(entry: Any, notes: list[Note]) -> Any:
    """The entry with all columns that are carried, as they can be recorded: texts are cut."""
    fields: dict[str, Any] = {}
    for column in carried(MODELS[entry.kind]).values():
        name, value = column.name, entry.fields.get(column.name)
        if name in _FITTED:
            value = _FITTED[name](value)
        elif value is None:
            value = column.get_default()
        elif column.max_length and not column.choices:
            value = _plain(value, notes)
            if len(value) > column.max_length:
                notes.append(Note("cut", {"limit": column.max_length}))
                value = value[: column.max_length].strip()
        else:
            try:
                value = column.clean(value, None)
            except ModelError:
                value = column.get_default()
        fields[name] = value
    return replace(entry, fields=fields)


def _plain(text: str, notes: list[Note]) -> str:
    """The plain text, with a note if a letter had too many accents."""
    if has_many_marks(text):
        notes.append(Note("marks_cut", {"limit": MAX_MARKS}))
    return plain(text)


def _web_address(text: str | None) -> str | None:
    if not text or not text.startswith(("https://", "http://")) or len(text) > MAX_URL_CHARS:
        return None
    return text if text.isprintable() and " " not in text else None


def _tags(texts: Iterable[str] | None) -> list[str]:
    return clean_tags(plain(tag)[:MAX_TAG_CHARS] for tag in texts or ())[:MAX_TAGS]


#: What has its own rule of what can be recorded.
_FITTED: Mapping[str, Callable[[Any], Any]] = {"receipt_url": _web_address, "tags": _tags}


def _storable(numerator: Decimal, denominator: Decimal) -> Decimal:
    """The quotient as both databases store it; one that is no rate stays none."""
    # A file may have one of a hundred digits, which cannot be rounded to the last decimal.
    quotient = max(Decimal(0), min(_SIGNIFICANT.divide(numerator, denominator), 2 * _MAX_RATE))
    return quotient.quantize(_LAST_DECIMAL)
