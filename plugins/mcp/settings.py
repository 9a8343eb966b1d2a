"""Settings of the tools: the headers that programs of MCP send and read in browsers, too."""

CORS_ALLOW_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"]
