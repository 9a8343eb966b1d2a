"""Path converters of the URL map."""

from tripcompanion.api.serializers import ID_PATTERN


class IdConverter:
    """An identifier; anything else does not match the path (404)."""

    # It matches all digits, even where another route continues after the identifier.
    regex = f"(?:{ID_PATTERN})(?![0-9])"

    to_python = int
    to_url = str
