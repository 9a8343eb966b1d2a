"""Guards of the tools for assistants."""

from tests.mutations.mutant import Guards

_PROTOCOL, _TOOLS = "plugins/mcp/tests/test_protocol.py", "plugins/mcp/tests/test_tools.py"

ASSISTANTS: Guards = {
    "plugins/mcp/views.py": [
        ("tools without a token", "permission_classes = (IsAuthenticated,)",
         "permission_classes = ()", f"{_PROTOCOL} -k token"),
        ("tools for pages of any origin", "if not is_known and", "if False and",
         f"{_PROTOCOL} -k origins"),
        ("tools beyond the scopes are listed", "if tool.is_open_to(self.request.auth)",
         "if tool", f"{_TOOLS} -k reads"),
        ("texts are not marked as data", "was_replayed else []), _DATA)", "was_replayed else []))",
         f"{_TOOLS} -k marked"),
        ("a refusal ends the connections of clients with a handshake",
         "200 if has_handshake else refused.status", "refused.status",
         f"{_PROTOCOL} -k does_not_end"),
    ],
    "plugins/mcp/protocol.py": [
        ("headers that contradict the body", "if _decoded(headers.get(name)) != value:",
         "if False:", f"{_PROTOCOL} -k contradict"),
        ("unknown revisions are served", "if version not in STATELESS:", "if False:",
         f"{_PROTOCOL} -k revisions"),
        ("ids that no answer can repeat", " and abs(found) < 2**63", "", f"{_TOOLS} -k 64_bits"),
    ],
    "plugins/mcp/tools.py": [
        ("an equal call records again", 'key=key if self.takes_key else ""', 'key=""',
         f"{_TOOLS} -k equal_call"),
        ("a second deletion cannot be undone", "if not self.takes:", "if False:",
         f"{_TOOLS} -k each_deletion"),
        ("unknown arguments are ignored", "if unknown := sorted(arguments.keys() - known.keys()):",
         "if unknown := []:", f"{_TOOLS} -k bad_arguments"),
    ],
    "plugins/mcp/names.py": [
        ("the first of several names is taken", "if len(found) == 1:", "if found:",
         f"{_TOOLS} -k ambiguous"),
        ("the first page of expenses is taken", 'if number >= page["totalPages"]:', "if True:",
         f"{_TOOLS} -k neither_is_taken"),
        ("the amounts of one person replace each other", "if len({*ids.values()}) < len(ids):",
         "if False:", f"{_TOOLS} -k of_one_person"),
        ("names of people without an end", "if len(self._named) > MAX_NAMES:", "if False:",
         f"{_TOOLS} -k so_many_names"),
    ],
}  # fmt: skip
