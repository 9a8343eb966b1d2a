"""What the tests that walk all apps need to know of tools for assistants; see `tests/walked.py`."""

from plugins.mcp.views import AssistantView
from tests.trips.access import OPEN, Row, everybody, just

ROWS = [
    Row("POST", "/api/mcp", body=just(jsonrpc="2.0", id=1, method="tools/list"),
        statuses=everybody(200, anonymous=401)),
]  # fmt: skip
#: It asks for any token; each tool asks for its scope.
PATHS = ["/api/mcp"]
REQUEST_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"]
AREAS = {AssistantView: OPEN}
