"""Path converters of the URL map."""

#: The largest integer that both databases keep exactly.
MAX_INTEGER = 2**63 - 1
MAX_ID = MAX_INTEGER


class IdConverter:
    """A 64-bit identifier in ASCII digits; whatever else stands there is no path of ours (404)."""

    regex = "[1-9][0-9]{0,18}"

    def to_python(self, value: str) -> int:
        number = int(value)
        if number > MAX_ID:
            raise ValueError(value)
        return number

    def to_url(self, value: int) -> str:
        return str(value)
