"""Reads bodies as these clients send them: JSON, forms, or nothing; lists as flat keys.

`users__0__owed_share` is the property `owed_share` of the first of `users`. Indexes may have gaps.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import IO, Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

from plugins.dates import require_no_week
from plugins.forms import SentFile, SentFiles
from tripcompanion.api.parsing import StrictJSONParser
from tripcompanion.api.problems import Unavailable
from tripcompanion.api.serializers import parse_id

MAX_KEYS = 10_000
#: The field of a form that is a file.
RECEIPT = "receipt"
_LISTS = ("users__", "friends__")
_INDEXED = re.compile(r"(users|friends)__(0|[1-9][0-9]{0,5})__([a-z_]{1,40})")
_SPELLINGS = {
    "id": "user_id",
    "user_first_name": "first_name",
    "user_last_name": "last_name",
    "user_email": "email",
}
_FLAGS = {"true": True, "false": False, "1": True, "0": False}


class JsonBody(StrictJSONParser):
    """A JSON object, as strict as everywhere."""

    def parse(self, *arguments: Any, **context: Any) -> dict[str, Any]:
        values = super().parse(*arguments, **context)
        if len(values) > MAX_KEYS:
            raise ParseError(_("The body has too many fields."))
        return values


class FormBody(BaseParser):
    """`application/x-www-form-urlencoded`."""

    media_type = "application/x-www-form-urlencoded"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        try:
            text = stream.read().decode()
            pairs = parse_qsl(text, True, errors="strict", max_num_fields=MAX_KEYS)
        except ValueError as error:
            raise ParseError(_("The form is not UTF-8, or has too many fields.")) from error
        return once(pairs)


class MultipartBody(MultiPartParser):
    """A form, with a file in `receipt`; other files are left out."""

    def parse(self, *arguments: Any, **context: Any) -> Any:
        try:
            form = super().parse(*arguments, **context)
        except SuspiciousOperation as error:
            raise ParseError(_("The form is not UTF-8, or has too many fields.")) from error
        except OSError as error:
            # The disk for temporary files is full.
            raise Unavailable from error
        pairs = [(key, value) for key, values in form.data.lists() for value in values]
        # Django puts this character in the place of bytes that are not UTF-8.
        if any("\ufffd" in text for pair in pairs for text in pair):
            raise ParseError(_("The form is not UTF-8, or has too many fields."))
        files = {name: SentFile(file) for name, file in form.files.items() if name == RECEIPT}
        return DataAndFiles(once(pairs), SentFiles(files))


def once(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """The texts by their names. Raises `ParseError` if a name is there twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ParseError(_("The same field is sent twice."))
    return values


class Fields:
    """The fields of a body or a query. An absent one, null and an empty one are None.

    Every method raises `ValidationError` on the field.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def get(self, name: str) -> Any:
        value = self.values.get(name)
        return None if value == "" else value

    def text(self, name: str) -> str | None:
        """A text; numbers of a JSON body count as one."""
        value = self.values.get(name)
        if isinstance(value, dict | list | bool):
            raise ValidationError({name: [_("Not a valid string.")]})
        return None if value is None else str(value)

    def flag(self, name: str) -> bool | None:
        value = self.get(name)
        if value is None:
            return None
        flag = _FLAGS.get(str(value).lower())
        if flag is None:
            raise ValidationError({name: [_("Must be true or false.")]})
        return flag

    def count(self, name: str) -> int | None:
        """A whole number from 0."""
        text = self.text(name) or None
        if text is not None and not (text.isascii() and text.isdigit() and len(text) < 16):
            raise ValidationError({name: [_("Must be a whole number from 0.")]})
        return None if text is None else int(text)

    def id(self, name: str) -> int | None:
        """An id; None also for 0, which is no group."""
        value = self.get(name)
        if value is None or str(value) == "0":
            return None
        try:
            return parse_id(value)
        except ValueError as error:
            raise ValidationError({name: [_("Must be an identifier.")]}) from error

    def required_id(self, name: str) -> int:
        found = self.id(name)
        if found is None:
            raise ValidationError({name: [_("This field is required.")]})
        return found

    def instant(self, name: str) -> datetime | None:
        """A day or an instant; a day, and an instant without a zone, are in UTC."""
        written = self._written(name)
        try:
            return written and written.astimezone(UTC)
        except OverflowError as error:
            raise self._no_date(name) from error

    def day(self, name: str) -> date | None:
        """The day of a date, or of a date and time, as it is written: no zone moves it."""
        written = self._written(name)
        return written and written.date()

    def _written(self, name: str) -> datetime | None:
        text = self.text(name)
        if not text:
            return None
        with suppress(ValueError):
            if found := parse_datetime(require_no_week(text)):
                return found.replace(tzinfo=found.tzinfo or UTC)
        raise self._no_date(name)

    def _no_date(self, name: str) -> ValidationError:
        return ValidationError({name: [_("Must be a date, or a date and time.")]})

    def rows(self) -> list["Fields"]:
        """The rows of the list that the body has, in the order of their indexes."""
        rows: dict[int, dict[str, Any]] = {}
        for key, value in self.values.items():
            if not key.startswith(_LISTS):
                continue
            match = _INDEXED.fullmatch(key)
            if match is None:
                raise ValidationError({key[:80]: [_("Not the name of a field in a list.")]})
            row = rows.setdefault(int(match[2]), {})
            name = _SPELLINGS.get(match[3], match[3])
            if name in row:
                raise ValidationError({key: [_("It is given twice, with different names.")]})
            row[name] = value
        if len(rows) > settings.QUOTA_MEMBERS:
            raise ValidationError({"users": [_("These are too many.")]})
        return [Fields(row) for _index, row in sorted(rows.items())]
