"""Path converters of the URL map."""

from tripcompanion.kit.ids import ID_PATTERN


class IdConverter:
    """An identifier; anything else does not match the path (404)."""

    regex = ID_PATTERN

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)
