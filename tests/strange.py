"""Strange query strings, headers and cookies, for the property tests and for `make fuzz`."""

from urllib.parse import quote

from hypothesis import strategies as st

#: Pages and documents that browsers ask for; `{admin}` is a list of the admin site.
PAGES = ("/admin/", "/admin/login/", "/api/session/login", "/api/docs", "/api/schema", "/api/trips")
LISTS = ("users/user", "trips/trip", "splits/expense", "splits/settlement")
COOKIES = ("sessionid", "csrftoken", "django_language", "messages")
HEADERS = (
    *("Accept", "Accept-Language", "Accept-Encoding", "Authorization", "Content-Type", "Cookie"),
    *("Idempotency-Key", "Prefer", "X-App-Client", "Last-Event-ID", "traceparent"),
    *("If-Match", "If-None-Match", "Origin", "Referer", "Range", "User-Agent", "X-Request-ID"),
    *("X-Forwarded-For", "X-Forwarded-Proto", "X-HTTP-Method-Override", "X-CSRFToken"),
)
#: What some library reads from a query string somewhere: DRF, drf-spectacular, the admin site.
PARAMETERS = (
    *("format", "lang", "version", "ordering", "page", "pageSize", "search", "category", "next"),
    *("q", "o", "p", "e", "all", "_popup", "_to_field", "_changelist_filters", "_facets"),
    *("id__exact", "id", "pk__in", "is_active__exact", "role__exact", "email", "state", "trip"),
    *("trip__id__exact", "created_at__gte", "created_at__year", "user__password__startswith"),
    *("_method", "dateFrom", "paidBy", "currency", "unknown"),
)
#: What databases and headers break at.
BREAKING = (b"\x00", b"\n", b"\r\n", b"\x1b", b"\x7f", b"\xc2\x85", b"\xed\xa0\x80", b"\xff")
#: Bytes on their way through a query string: what parsers take for something of their own.
PIECES = (
    *BREAKING,
    *(b"", b",", b"-", b"amount", b"1", b"0", b"9" * 30, b"9223372036854775807", b"-1", b"1e999"),
    *("é".encode(), "１".encode(), "\U0001f9f3".encode(), "\u202e".encode(), "\u2028".encode()),
    *(b"%", b"%00", b"'", b'"', b"\\", b";", b"&", b"=", b"[]", b"{}", b"<b>", b"es", b"yaml"),
    *(b"text/html", b"application/json", b"*/*", b"2026-02-30", b"true", b"null", b"..", b"/"),
)

_bytes = st.sampled_from(BREAKING) | st.lists(
    st.sampled_from(PIECES) | st.binary(max_size=3), max_size=4
).map(b"".join)
_parameter = st.tuples(
    st.sampled_from(PARAMETERS).map(str.encode) | _bytes, st.sampled_from([b"=", b""]), _bytes
).map(lambda parts: quote(parts[0]) + parts[1].decode() + quote(parts[2]))

queries = st.lists(_parameter, min_size=1, max_size=3).map("&".join)


def _quoted(value: bytes) -> str:
    """`value` in the notation of quoted cookies, where every byte may stand in octal."""
    return '"' + "".join(f"\\{byte:03o}" for byte in value) + '"'


#: A header may carry any byte but those that end it.
_header_text = _bytes.map(
    lambda value: bytes(byte for byte in value if byte >= 0x20 and byte != 0x7F).decode("latin-1")
).map(str.strip)
#: Shorter than eight characters is no key of a session, and is looked up nowhere.
_long = _bytes.map((b"k" * 32).__add__)
_cookie = st.tuples(
    st.sampled_from(COOKIES) | st.just("other"),
    _long.map(_quoted) | _bytes.map(_quoted) | _header_text,
).map("=".join)
cookies = st.lists(_cookie, max_size=3).map("; ".join)
headers = st.dictionaries(st.sampled_from(HEADERS), _header_text, max_size=3)
paths = st.sampled_from(PAGES) | st.sampled_from(LISTS).map("/admin/{}/".format)
