"""Parses forms with a file. The file is on a disk and not in memory."""

from collections.abc import Iterator, Mapping
from hashlib import file_digest
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import DataAndFiles, MultiPartParser

from tripcompanion.api.problems import Unavailable

#: Forms of the browsable API have it.
_CSRF = "csrfmiddlewaretoken"


class SentFile:
    """An uploaded file. `str()` is its name and the hash of its content, to recognise repeats."""

    def __init__(self, file: Any) -> None:
        self._sent = file
        #: The temporary file itself. Django's `File` around it may move it to another place.
        self.file, self.name, self.size = file.file, str(file.name), int(file.size)

    def close(self) -> None:
        """Delete the temporary file; the request does so at its end."""
        self._sent.close()

    def __str__(self) -> str:
        self.file.seek(0)
        return f"{self.name} {file_digest(self.file, 'sha256').hexdigest()}"

    def start(self, count: int) -> bytes:
        self.file.seek(0)
        return self.file.read(count)


class SentFiles(dict[str, SentFile]):
    """The files of a form, as requests close them."""

    def lists(self) -> Iterator[tuple[str, list[SentFile]]]:
        return ((name, [file]) for name, file in self.items())


class FileFormParser(MultiPartParser):
    """A form with one file in `file`; its other fields are texts."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            form = super().parse(stream, media_type, parser_context)
        except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent) as error:
            raise ValidationError({"file": [_("The form has too many fields.")]}) from error
        except ParseError as error:
            raise ValidationError({"file": [error.detail]}) from error
        except OSError as error:
            # The disk for temporary files is full.
            raise Unavailable from error
        files = form.files.getlist("file")
        if len(files) != 1 or "file" in form.data:
            raise ValidationError({"file": [_("Send one file.")]})
        # Browsers also send the fields that nobody filled in.
        texts = {name: [*filter(None, some)] for name, some in form.data.lists() if name != _CSRF}
        if twice := [name for name, some in texts.items() if len(some) > 1]:
            raise ValidationError({name: [_("Send this parameter once.")] for name in twice})
        filled = {name: some[0] for name, some in texts.items() if some}
        others = dict.fromkeys(form.files.keys() - {"file"}, "") | filled
        return DataAndFiles(self.fields(others), SentFiles(file=SentFile(files[0])))

    def fields(self, sent: dict[str, Any]) -> dict[str, Any]:
        """What the fields besides the file mean; files among them are empty texts."""
        return sent
