"""Words in texts, without regard to case and accents."""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from django.db import models

#: A character class of what accents become in the normal form NFD.
_MARKS = "[\u0300-\u036f]"
#: At the end of a word, it is written differently. PostgreSQL's `lower` does not know.
_SIGMA = ("\u03c2", "\u03c3")
_WILD = re.compile(r"[%_\\]")


class Lines(models.Func):
    """The texts of a JSON array, each in a line of its own."""

    template = "array_to_string(ARRAY(SELECT jsonb_array_elements_text(%(expressions)s)), chr(10))"
    output_field = models.TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "(SELECT group_concat(value, char(10)) FROM json_each(%(expressions)s))"
        return self.as_sql(compiler, connection, template=template, **extra)


def folded(text: str) -> str:
    """`text` without accents, in lower case, with one form of the Greek sigma."""
    lower = re.sub(_MARKS, "", unicodedata.normalize("NFD", text)).lower()
    return lower.replace(*_SIGMA)


def folded_sql(text: str) -> str:
    """What `folded` is for PostgreSQL, where `text` is an expression; an index can have it."""
    bare = f"lower(regexp_replace(normalize({text}, NFD), '{_MARKS}', '', 'g'))"
    return f"translate({bare}, '{_SIGMA[0]}', '{_SIGMA[1]}')"


class Folded(models.Func):
    """What `folded` is, to order by: few databases have a collation that knows accents."""

    function = "folded"
    output_field = models.TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **_extra: Any) -> Any:
        sql, values = compiler.compile(self.get_source_expressions()[0])
        return folded_sql(sql), values


class HasWords(models.Func):
    """Whether each of `words` is somewhere in `columns`, without regard to case and accents.

    It reads every row that the other conditions leave.
    """

    output_field = models.BooleanField()

    def __init__(self, words: Sequence[str], *columns: Any) -> None:
        super().__init__(*columns)
        self.words = [folded(word) for word in words]

    def as_postgresql(self, compiler: Any, connection: Any, **_extra: Any) -> Any:
        sql, values = self._columns(compiler)
        text = f"concat_ws(chr(10), {sql})"
        patterns = ["%" + _WILD.sub(r"\\\g<0>", word) + "%" for word in self.words]
        return f"{folded_sql(text)} LIKE ALL(%s)", [*values, patterns]

    def as_sqlite(self, compiler: Any, connection: Any, **_extra: Any) -> Any:
        sql, values = self._columns(compiler)
        return f"has_words(%s, {sql})", [json.dumps(self.words), *values]

    def _columns(self, compiler: Any) -> tuple[str, list[Any]]:
        compiled = [compiler.compile(column) for column in self.get_source_expressions()]
        values = [value for _sql, some in compiled for value in some]
        return ", ".join(sql for sql, _values in compiled), values


def add_functions(connection: Any, **_signal: Any) -> None:
    """Give SQLite the functions of `Folded` and `HasWords`."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("folded", 1, folded, deterministic=True)
        connection.connection.create_function("has_words", -1, _has_words, deterministic=True)


def _has_words(words: str, *texts: str | None) -> bool:
    text = folded("\n".join(filter(None, texts)))
    return all(word in text for word in json.loads(words))
