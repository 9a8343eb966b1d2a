"""Path converters of the URL map."""

from tripcompanion.api.ids import ID_PATTERN


class IdConverter:
    """An identifier; anything else does not match the path (404)."""

    # All digits, not the first of them, also where other routes follow the identifier.
    regex = f"(?:{ID_PATTERN})(?![0-9])"

    to_python = int
    to_url = str
