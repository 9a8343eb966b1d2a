"""The condition of the search in both databases."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import models

from plugins.search.words import PUNCTUATION, has_words
from plugins.words import folded_sql


def document_sql(columns: Iterable[str]) -> str:
    """The words in these columns, for PostgreSQL: what is indexed and what is asked are the same.

    It needs no extension and no dictionary, and finds the beginnings of words.
    """
    text = " || ' ' || ".join(f"coalesce({column}, '')" for column in columns)
    signs, spaces = PUNCTUATION.replace("'", "''"), " " * len(PUNCTUATION)
    return f"to_tsvector('simple', translate({folded_sql(text)}, '{signs}', '{spaces}'))"


class BeginWords(models.Func):
    """Whether each of `words`, as `words_of` has them, begins a word in one of the columns."""

    output_field = models.BooleanField()

    def __init__(self, words: Sequence[str], *columns: str) -> None:
        super().__init__(*columns)
        self.words = words

    def as_postgresql(self, compiler: Any, connection: Any, **_extra: Any) -> Any:
        document = document_sql(self._columns(compiler))
        # Between quotes, nothing is an operator.
        return f"{document} @@ to_tsquery('simple', %s)", [
            " & ".join(f"'{word}':*" for word in self.words)
        ]

    def as_sqlite(self, compiler: Any, connection: Any, **_extra: Any) -> Any:
        columns = ", ".join(self._columns(compiler))
        return f"begin_words(%s, {columns})", [json.dumps(self.words)]

    def _columns(self, compiler: Any) -> list[str]:
        return [compiler.compile(column)[0] for column in self.get_source_expressions()]


def add_functions(connection: Any, **_signal: Any) -> None:
    """Give SQLite the function of `BeginWords`."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("begin_words", -1, _begin_words, deterministic=True)


def _begin_words(words: str, *texts: str | None) -> bool:
    return has_words(json.loads(words), " ".join(filter(None, texts)))
