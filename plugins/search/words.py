"""The words of texts, and what a found text shows of itself. Plain Python."""

import string
import unicodedata
from collections.abc import Sequence

from plugins.words import folded

#: Of a found text, and how many of them stand before the word that was found.
MAX_SNIPPET_CHARS, _CHARS_BEFORE = 160, 40
#: What PostgreSQL would take for a part of a word, such as of an address or a path.
PUNCTUATION = string.punctuation.replace("%", "")
#: Code points from here on are looked up each time, so that the memory for others stays small.
KEPT_CODES = 0x3000


class _Separators(dict[int, str]):
    """For `str.translate`: all but letters, marks and digits become spaces.

    So do superscripts and fractions, which PostgreSQL takes for no part of a word.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        kept = char if category[0] in "LMN" and category != "No" else " "
        if code < KEPT_CODES:
            self[code] = kept
        return kept


separators = _Separators()


def words_of(text: str) -> list[str]:
    """The words in a text, without accents and in lower case."""
    return folded(text.translate(separators)).split()


def has_words(words: Sequence[str], text: str) -> bool:
    """Whether each of `words` is the beginning of a word in the text."""
    known = words_of(text)
    return all(any(other.startswith(word) for other in known) for word in words)


def snippet(text: str, words: Sequence[str]) -> str:
    """At most `MAX_SNIPPET_CHARS` of a text, in one line, from about the first of the words on."""
    spaced, beginnings = text.translate(separators), tuple(words)
    # Folding neither adds a space nor takes one away.
    known = enumerate(folded(spaced).split(" "))
    first = next((at for at, word in known if word.startswith(beginnings)), 0)
    start = sum(len(word) + 1 for word in spaced.split(" ")[:first])
    start = max(0, start - _CHARS_BEFORE)
    # Whole words, unless there is none.
    start = text.rfind(" ", 0, start) + 1 if start else 0
    found = " ".join(text[start:].split())
    lead = "… " if start else ""
    if len(lead + found) <= MAX_SNIPPET_CHARS:
        return lead + found
    return lead + found[: MAX_SNIPPET_CHARS - len(lead) - 1] + "…"
