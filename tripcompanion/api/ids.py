"""Identifiers: one rule for paths, bodies, queries and the OpenAPI document.

An identifier is a whole number from 1 to 2^63 - 1; as a string, ASCII digits without a leading 0.
"""

import re
from typing import Any

#: The largest integer that both databases store.
MAX_INTEGER = 2**63 - 1
MAX_ID = MAX_INTEGER


def _pattern_up_to(maximum: int) -> str:
    """A regular expression that matches the whole numbers from 1 to `maximum`.

    JSON Schema has no other way to bound a number in a string. The branches are: fewer digits,
    then for each position the same digits before it and a smaller one there, then `maximum`.
    """
    digits = str(maximum)
    branches = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"]
    for place, digit in enumerate(digits):
        lowest, rest = (0 if place else 1), len(digits) - place - 1
        if int(digit) > lowest:
            smaller = f"{digits[:place]}[{lowest}-{int(digit) - 1}]"
            branches.append(f"{smaller}[0-9]{{{rest}}}" if rest else smaller)
    return "|".join([*branches, digits])


#: The pattern of an identifier in a string.
ID_PATTERN = _pattern_up_to(MAX_ID)
_ID_TEXT = re.compile(ID_PATTERN)

#: The same rule in the OpenAPI document, for a JSON number and for a string.
NUMBER_SCHEMA = {"type": "integer", "format": "int64", "minimum": 1, "maximum": MAX_ID}
TEXT_SCHEMA = {"type": "string", "pattern": f"^({ID_PATTERN})$"}


def parse_id(value: Any) -> int:
    """Parse an identifier from a string or a number. Raises `ValueError`."""
    if isinstance(value, str) and _ID_TEXT.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_ID:
        return value
    raise ValueError("Not an identifier.")
