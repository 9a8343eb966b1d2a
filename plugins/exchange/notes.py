"""What a plan says about a file and its rows, by code. The texts are for people."""

from collections.abc import Mapping
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError

from plugins.exchange.description import UnreadableFile
from plugins.exchange.formats import PROGRAMS

_TEXTS: Mapping[str, Any] = {
    # Why a file cannot be read. Some are also why a row is skipped.
    "bad_number": _("A number cannot be read: %(text)s."),
    "bad_history": _("This change in the history cannot be shown."),
    "bad_value": _("The value of %(name)s is not possible."),
    "circular_events": _("The event %(name)s passes on to itself."),
    "contradiction": _("The file contradicts itself."),
    "currency_ended": _(
        "%(currency)s has ended, and no other took its place at a fixed rate. Please send "
        "`currency`, and `exchangeRates` with the worth of %(currency)s in it."
    ),
    "currency_needed": _("The file does not say its currency. Please send `currency`."),
    "empty_file": _("The file is empty."),
    "entangled_events": _("The event %(name)s passes on too many parts to others."),
    "is_archive": _("This is an archive or a spreadsheet. Please send the CSV or JSON file."),
    "is_settlement_plan": _("This is a settlement plan, which has no entries. Send the bills."),
    "malformed_csv": _("This is not valid CSV."),
    "malformed_json": _("This is not valid JSON."),
    "missing_field": _("The field %(name)s is missing, or is not what it should be."),
    "not_an_object": _("This should be an object."),
    "not_text": _("The file contains NUL characters, so it is not text."),
    "lone_surrogate": _("The file contains half a character (a lone surrogate)."),
    "repeated_id": _("Two rows of %(table)s have the id %(id)s."),
    "repeated_key": _("The file has the key %(name)s twice in one object."),
    "several_groups": _("The file has several groups. Please send `group`, one of: %(groups)s."),
    "too_deep": _("It is nested deeper than %(limit)s levels."),
    "too_long": _("A text is longer than %(limit)s characters."),
    "too_many_columns": _("There are more than %(limit)s columns."),
    "too_many_events": _("There are more than %(limit)s events."),
    "too_many_lines": _("There are more than %(limit)s lines."),
    "two_date_orders": _("Some dates have the day first, and some the month."),
    "two_decimal_marks": _("Some numbers have a decimal point, and some a decimal comma."),
    "two_weights": _("%(name)s has two different weights, so this is not one export."),
    "unclear_date_order": _(
        "It is unclear whether the day or the month comes first. Please write dates as 2026-05-31."
    ),
    "unclear_decimal_mark": _("It is unclear whether 1.234 is one thousand or one and a bit."),
    "unknown_format": format_lazy(
        _(
            "This format is not known. Send an export of {programs} or Trip Companion, "
            "as CSV or JSON."
        ),
        programs=", ".join(PROGRAMS),
    ),
    "unknown_split": _("The way of dividing %(text)s is not known."),
    "unknown_version": _("The file has a version that this service does not know."),
    "wrong_encoding": _("The encoding of the file is not known. Please save it as UTF-8."),
    # Why a row is skipped.
    "weight_too_large": _("The weight of a person is above 1,000,000."),
    "amount_out_of_range": _("The amount is too small or too large."),
    "amount_too_large": _("The amount is too large."),
    "bad_date": _("This is not a date: %(text)s."),
    "bad_rate": _("There is no rate by which this amount of %(currency)s can be converted."),
    "date_out_of_range": _("The date is before 1970 or after 2100: %(date)s."),
    "deleted_in_source": _("It was deleted there."),
    "does_not_add_up": _("The parts do not add up to the amount."),
    "half_a_conversion": _(
        "This is half of a currency exchange, whose other half is missing here."
    ),
    "item_of_nobody": _("Nobody takes part in the item %(name)s."),
    "named_twice": _("Somebody is named twice."),
    "negative_part": _("Somebody has a negative part."),
    "no_amount": _("The amount is zero."),
    "no_rate": _("There is no rate from %(currency)s. Please send `exchangeRates`."),
    "nobody_takes_part": _("Nobody takes part."),
    "other_columns": _("It has %(columns)s columns of people instead of %(expected)s."),
    "payer_unknown": _("The file does not say who paid."),
    "repeated": _("A newer state of it is in the file, too."),
    "several_receivers": _("Only one person can receive a refund."),
    "to_oneself": _("Somebody would pay themselves."),
    "too_many_payers": _("There are more than %(limit)s payers."),
    "unequal_lists": _("There are not as many amounts as people."),
    "unknown_currency": _("This is not the code of a currency: %(currency)s."),
    "unknown_kind": _("The type %(text)s is not known."),
    "unknown_person": _("It names somebody who is not in the group."),
    # What is worth knowing of a row that is taken, or of the whole file.
    "balances_only": _("The file has balances and no expenses, so each is one payment here."),
    "better_as_json": _("The CSV file does not say who sent a payment. The JSON file does."),
    "comments_cut": _("Only the first %(limit)s comments are imported."),
    "converted": _("%(amount)s was converted, as this currency has ended."),
    "cut": _("A text was cut to %(limit)s characters."),
    "deleted_come_back": _("The file does not say what was deleted, so that comes back."),
    "deleted_elsewhere": _(
        "%(count)s expenses were deleted there, and are not in the file: %(titles)s."
    ),
    "differs": _("It has changed there since it was imported: %(fields)s."),
    "files_left_out": _("Its files are not imported."),
    "guarded_names": _("The apostrophe before a formula was taken off these names: %(names)s."),
    "items_exceed": _("The items cost more than the whole."),
    "known_trip": _("The file is a newer one of a group that was imported into this trip."),
    "more_people": _("The file does not name all who took part, so the payer bears the rest."),
    "more_pages": _("The file is one page of several, so older entries are missing."),
    "names_changed": _(
        "Guests have names of %(shortest)s to %(longest)s characters, so these names were changed: "
        "%(names)s."
    ),
    "names_with_commas": _("Names have commas, so the list of people may be read wrongly."),
    "no_balances_claimed": _("The file does not say the balances, so nothing can be compared."),
    "no_description": _("It has no description."),
    "original_amount": _("It was entered as %(amount)s."),
    "payers_unknown": _(
        "Several people paid, and the file does not say how much each. The balances are right."
    ),
    "payment_of_several": _("It is a payment of several people, so it is an expense here."),
    "perhaps_one_expense": _(
        "Several bills for one person each have this title and date, so they may be one expense."
    ),
    "perhaps_one_page": _(
        "The file has %(count)s expenses, as one page has, so others may be missing."
    ),
    "rate_not_applied": _("The rate was applied, which the balances there do not do."),
    "rates_of_today": _("The file has rates of today, which are not applied."),
    "recurring_in_new_trip": _("Recurring expenses are imported into a new trip only."),
    "repeats": _("It is repeated there; that is not imported."),
    "rounded": _("%(amount)s was rounded."),
    "rounded_shares": _("The parts were rounded there; the difference went to one of them."),
    "same_names": _("Two people have the same name."),
    "shares_do_not_add_up": _("The parts did not add up, so they are proportions, as there."),
    "small_share": _("%(cell)s is read as %(minor)s of the smallest unit, as a known error there."),
    "turned_around": _("It is an income, so payers and participants changed places."),
    "weight_unknown": _("The file does not say the weight of %(names)s, which is taken as 1."),
    "weight_zero": _("The weight of %(names)s is 0, which counts as 1 there."),
    "windows_1252": _("The file is not UTF-8, and was read as Windows-1252."),
    # Why the balance of a person is another one than the file says.
    "contradicts_rows": _("The file does not add up to its own balances."),
    "noted_rows": _("These rows were read with a note: %(lines)s."),
    "rounding": _("It is at most the smallest unit for each row, as by rounding."),
    "skipped_rows": _("The file counts these rows, which are skipped: %(lines)s."),
}


def text_of(code: str, values: Mapping[str, Any]) -> str:
    """The text of a note in the active language."""
    return str(_TEXTS[code]) % values


class FileUnreadable(ParseError):
    """400 `unreadable`: the file cannot be read, or contradicts itself.

    `reason` says why, for programs, and `line` where; null is the whole file.
    """

    default_code = "unreadable"
    default_detail = _("The file cannot be imported.")
    extensions: Mapping[str, Any] = {"reason": "malformed_csv", "line": 12}

    @classmethod
    def of(cls, error: UnreadableFile) -> "FileUnreadable":
        """The refusal of a file, by why it cannot be read."""
        text = text_of(error.code, error.values)
        if error.line is not None:
            text = str(_("Line %(line)s: %(text)s")) % {"line": error.line, "text": text}
        refusal = (UnknownFormat if error.code == "unknown_format" else cls)(text)
        refusal.extensions = {"reason": error.code, "line": error.line}
        return refusal


class UnknownFormat(FileUnreadable):
    """400 `unknown_format`: no format is recognised from the content of the file."""

    default_code = "unknown_format"
    default_detail = _TEXTS["unknown_format"]
    extensions: Mapping[str, Any] = {"reason": "unknown_format", "line": None}
