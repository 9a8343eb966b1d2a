"""Parses a form with a file."""

from collections.abc import Mapping
from hashlib import sha256
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import MultiPartParser

from tripcompanion.api.parsing import read_object


class SentFile:
    """A file of a form. As text it is its content's hash, by which a repeated request is known."""

    def __init__(self, file: Any) -> None:
        self.file, self.name = file, str(file.name)

    def __str__(self) -> str:
        self.file.seek(0)
        return sha256(self.file.read()).hexdigest()


class FileFormParser(MultiPartParser):
    """A form with a file in `file`, and everything else as a JSON object in `options`."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            form = super().parse(stream, media_type, parser_context)
        except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent) as error:
            raise ParseError(_("The form has too many fields.")) from error
        names = {*form.data, *form.files} - {"file", "options"}
        if names:
            text = _("The form has the fields `file` and `options` only.")
            raise ValidationError(dict.fromkeys(sorted(names), [text]))
        files = form.files.getlist("file")
        if len(files) != 1 or "file" in form.data:
            raise ValidationError({"file": [_("Send one file.")]})
        text = form.data.get("options") or "{}"
        options = read_object(text.encode("utf-8", "surrogateescape"))
        return {**options, "file": SentFile(files[0])}
