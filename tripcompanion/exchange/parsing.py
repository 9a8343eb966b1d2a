"""Parses a body that is the file to import itself."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from django.core.files import File

from tripcompanion.api.forms import FileFormParser, SentFile
from tripcompanion.api.parsing import StrictJSONParser, require_json


class FileParser(StrictJSONParser):
    """A JSON file of any shape; the query has what the caller chooses."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        require_json(media_type or "")
        return {"file": SentFile(File(BytesIO(stream.read()), name=""))}


FILE_PARSERS = (FileParser, FileFormParser)
