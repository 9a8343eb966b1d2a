"""What a plan says about a file and its rows, by code. The texts are for people."""

from collections.abc import Mapping
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ParseError

from plugins.exchange.description import UnreadableFile
from plugins.exchange.formats import PROGRAMS

_TEXTS: Mapping[str, Any] = {
    # Why a file cannot be read. Some are also why a row is skipped.
    "bad_number": gettext_lazy("A number cannot be read: %(text)s."),
    "bad_history": gettext_lazy("This change in the history cannot be shown."),
    "bad_value": gettext_lazy("The value of %(name)s is not possible."),
    "circular_events": gettext_lazy("The event %(name)s passes on to itself."),
    "contradiction": gettext_lazy("The file contradicts itself."),
    "currency_ended": gettext_lazy(
        "%(currency)s has ended, and no other took its place at a fixed rate. Please send "
        "`currency`, and `exchangeRates` with the worth of %(currency)s in it."
    ),
    "currency_needed": gettext_lazy("The file does not say its currency. Please send `currency`."),
    "empty_file": gettext_lazy("The file is empty."),
    "entangled_events": gettext_lazy("The event %(name)s passes on too many parts to others."),
    "is_archive": gettext_lazy(
        "This is an archive or a spreadsheet. Please send the CSV or JSON file."
    ),
    "is_settlement_plan": gettext_lazy(
        "This is a settlement plan, which has no entries. Send the bills."
    ),
    "malformed_csv": gettext_lazy("This is not valid CSV."),
    "malformed_json": gettext_lazy("This is not valid JSON."),
    "missing_field": gettext_lazy("The field %(name)s is missing, or is not what it should be."),
    "not_an_object": gettext_lazy("This should be an object."),
    "not_text": gettext_lazy("The file contains NUL characters, so it is not text."),
    "lone_surrogate": gettext_lazy("The file contains half a character (a lone surrogate)."),
    "one_group": gettext_lazy("A file of this format is one group. Please leave `group` out."),
    "repeated_id": gettext_lazy("Two rows of %(table)s have the id %(id)s."),
    "repeated_key": gettext_lazy("The file has the key %(name)s twice in one object."),
    "several_groups": gettext_lazy(
        "The file has several groups. Please send `group`, one of: %(groups)s."
    ),
    "too_deep": gettext_lazy("It is nested deeper than %(limit)s levels."),
    "too_long": gettext_lazy("A text is longer than %(limit)s characters."),
    "too_many_columns": gettext_lazy("There are more than %(limit)s columns."),
    "too_many_events": gettext_lazy("There are more than %(limit)s events."),
    "too_many_parts": gettext_lazy("There are more than %(limit)s cells or parts of people."),
    "too_many_lines": gettext_lazy("There are more than %(limit)s lines."),
    "two_date_orders": gettext_lazy("Some dates have the day first, and some the month."),
    "two_decimal_marks": gettext_lazy(
        "Some numbers have a decimal point, and some a decimal comma."
    ),
    "two_weights": gettext_lazy("%(name)s has two different weights, so this is not one export."),
    "unclear_date_order": gettext_lazy(
        "It is unclear whether the day or the month comes first. Please write dates as 2026-05-31."
    ),
    "unclear_decimal_mark": gettext_lazy(
        "It is unclear whether 1.234 is one thousand or one and a bit."
    ),
    "unknown_format": format_lazy(
        gettext_lazy(
            "This format is not known. Send an export of {programs} or Trip Companion, "
            "as CSV or JSON."
        ),
        programs=", ".join(PROGRAMS),
    ),
    "unknown_split": gettext_lazy("The way of dividing %(text)s is not known."),
    "unknown_version": gettext_lazy("The file has a version that this service does not know."),
    "wrong_encoding": gettext_lazy(
        "The encoding of the file is not known. Please save it as UTF-8."
    ),
    # Why a row is skipped.
    "weight_too_large": gettext_lazy("The weight of a person is above 1,000,000."),
    "amount_out_of_range": gettext_lazy("The amount is too small or too large."),
    "amount_too_large": gettext_lazy("The amount is too large."),
    "bad_date": gettext_lazy("This is not a date: %(text)s."),
    "bad_rate": gettext_lazy(
        "There is no rate by which this amount of %(currency)s can be converted."
    ),
    "date_out_of_range": gettext_lazy("The date is before 1970 or after 2100: %(date)s."),
    "deleted_in_source": gettext_lazy("It was deleted there."),
    "does_not_add_up": gettext_lazy("The parts do not add up to the amount."),
    "half_a_conversion": gettext_lazy(
        "This is half of a currency exchange, whose other half is missing here."
    ),
    "entangled_items": gettext_lazy("The items are divided in too many ways."),
    "item_of_nobody": gettext_lazy("Nobody takes part in the item %(name)s."),
    "named_twice": gettext_lazy("Somebody is named twice."),
    "negative_part": gettext_lazy("Somebody has a negative part."),
    "no_amount": gettext_lazy("The amount is zero."),
    "no_rate": gettext_lazy("There is no rate from %(currency)s. Please send `exchangeRates`."),
    "nobody_takes_part": gettext_lazy("Nobody takes part."),
    "other_columns": gettext_lazy("It has %(columns)s columns of people instead of %(expected)s."),
    "payer_unknown": gettext_lazy("The file does not say who paid."),
    "repeated": gettext_lazy("A newer state of it is in the file, too."),
    "several_receivers": gettext_lazy("Only one person can receive a refund."),
    "to_oneself": gettext_lazy("Somebody would pay themselves."),
    "too_many_payers": gettext_lazy("There are more than %(limit)s payers."),
    "unequal_lists": gettext_lazy("There are not as many amounts as people."),
    "unknown_currency": gettext_lazy("This is not the code of a currency: %(currency)s."),
    "unknown_kind": gettext_lazy("The type %(text)s is not known."),
    "unknown_person": gettext_lazy("It names somebody who is not in the group."),
    # What is worth knowing of a row that is taken, or of the whole file.
    "balances_only": gettext_lazy(
        "The file has balances and no expenses, so each is one payment here."
    ),
    "better_as_json": gettext_lazy(
        "The CSV file does not say who sent a payment. The JSON file does."
    ),
    "comments_cut": gettext_lazy("Only the first %(limit)s comments are imported."),
    "converted": gettext_lazy("%(amount)s was converted, as this currency has ended."),
    "cut": gettext_lazy("A text was cut to %(limit)s characters."),
    "deleted_come_back": gettext_lazy(
        "The file does not say what was deleted, so that comes back."
    ),
    "deleted_elsewhere": gettext_lazy(
        "%(count)s expenses were deleted there, and are not in the file: %(titles)s."
    ),
    "differs": gettext_lazy("It has changed there since it was imported: %(fields)s."),
    "files_left_out": gettext_lazy("Its files are not imported."),
    "guarded_names": gettext_lazy(
        "The apostrophe before a formula was taken off these names: %(names)s."
    ),
    "items_exceed": gettext_lazy("The items cost more than the whole."),
    "keeps_title": gettext_lazy(
        "The trip keeps its own title, destination and currency; only a new trip takes others."
    ),
    "known_trip": gettext_lazy(
        "The file is a newer one of a group that was imported into this trip."
    ),
    "marks_cut": gettext_lazy("Only %(limit)s accents of a letter were kept."),
    "more_people": gettext_lazy(
        "The file does not name all who took part, so the payer bears the rest."
    ),
    "more_pages": gettext_lazy("The file is one page of several, so older entries are missing."),
    "names_changed": gettext_lazy(
        "Guests have names of %(shortest)s to %(longest)s characters, so these names were changed: "
        "%(names)s."
    ),
    "names_with_commas": gettext_lazy(
        "Names have commas, so the list of people may be read wrongly."
    ),
    "no_balances_claimed": gettext_lazy(
        "The file does not say the balances, so nothing can be compared."
    ),
    "no_description": gettext_lazy("It has no description."),
    "original_amount": gettext_lazy("It was entered as %(amount)s."),
    "payers_unknown": gettext_lazy(
        "Several people paid, and the file does not say how much each. The balances are right."
    ),
    "payment_of_several": gettext_lazy(
        "It is a payment of several people, so it is an expense here."
    ),
    "perhaps_one_expense": gettext_lazy(
        "Several bills for one person each have this title and date, so they may be one expense."
    ),
    "perhaps_one_page": gettext_lazy(
        "The file has %(count)s expenses, as one page has, so others may be missing."
    ),
    "rate_not_applied": gettext_lazy("The rate was applied, which the balances there do not do."),
    "rates_of_today": gettext_lazy("The file has rates of today, which are not applied."),
    "repeats": gettext_lazy("It is repeated there; that is not imported."),
    "rest_in_copy": gettext_lazy(
        "It has more than people, expenses, comments and payments. Only a new trip in the currency "
        "of the file gets the rest."
    ),
    "rounded": gettext_lazy("%(amount)s was rounded."),
    "rounded_shares": gettext_lazy(
        "The parts were rounded there; the difference went to one of them."
    ),
    "same_names": gettext_lazy("Two people have the same name."),
    "shares_do_not_add_up": gettext_lazy(
        "The parts did not add up, so they are proportions, as there."
    ),
    "small_share": gettext_lazy(
        "%(cell)s is read as %(minor)s of the smallest unit, as a known error there."
    ),
    "turned_around": gettext_lazy("It is an income, so payers and participants changed places."),
    "unknown_names": gettext_lazy(
        "The file has names that this service does not know, which are not imported: %(names)s."
    ),
    "unused_rates": gettext_lazy("No amount needs the exchange rates of: %(currencies)s."),
    "weight_unknown": gettext_lazy(
        "The file does not say the weight of %(names)s, which is taken as 1."
    ),
    "weight_zero": gettext_lazy("The weight of %(names)s is 0, which counts as 1 there."),
    "windows_1252": gettext_lazy("The file is not UTF-8, and was read as Windows-1252."),
    # Why the balance of a person is another one than the file says.
    "contradicts_rows": gettext_lazy("The file does not add up to its own balances."),
    "noted_rows": gettext_lazy("These rows were read with a note: %(lines)s."),
    "rounding": gettext_lazy("It is at most the smallest unit for each row, as by rounding."),
    "skipped_rows": gettext_lazy("The file counts these rows, which are skipped: %(lines)s."),
}


def text_of(code: str, values: Mapping[str, Any]) -> str:
    """The text of a note in the active language."""
    return str(_TEXTS[code]) % values


class FileUnreadable(ParseError):
    """400 `unreadable`: the file cannot be read, or contradicts itself.

    `reason` says why, for programs, and `line` where; null is the whole file.
    """

    default_code = "unreadable"
    default_detail = gettext_lazy("The file cannot be imported.")
    extensions: Mapping[str, Any] = {"reason": "malformed_csv", "line": 12}

    @classmethod
    def of(cls, error: UnreadableFile) -> "FileUnreadable":
        """The refusal of a file, by why it cannot be read."""
        text = text_of(error.code, error.values)
        if error.line is not None:
            text = str(gettext_lazy("Line %(line)s: %(text)s")) % {"line": error.line, "text": text}
        refusal = (UnknownFormat if error.code == "unknown_format" else cls)(text)
        refusal.extensions = {"reason": error.code, "line": error.line}
        return refusal


class UnknownFormat(FileUnreadable):
    """400 `unknown_format`: no format is recognised from the content of the file."""

    default_code = "unknown_format"
    default_detail = _TEXTS["unknown_format"]
    extensions: Mapping[str, Any] = {"reason": "unknown_format", "line": None}
