"""What the OpenAPI document says apart from views and serializers: introduction, tags, names."""

from typing import Any

DESCRIPTION = """\
Shared trips: who travels, what was spent, how it is divided, and who still owes whom.

**Bodies** are JSON objects. Fields that an operation does not define are ignored. In a request,
`null` clears a field that can be empty; in any other optional field it counts as omitted.

**Amounts** are JSON numbers in major units, such as `12.34` EUR or `1200` JPY. Requests may send
them as strings, too. What has more decimals than the currency is rounded half up: 10.005 EUR is
stored as 10.01. Responses are exact.

**Identifiers** are whole numbers from 1 to 2^63 - 1. **Dates** are `YYYY-MM-DD`, **instants** are
ISO 8601 in UTC. No path ends with a slash.

**Authentication**: register or log in, and send the token as `Authorization: Bearer <token>`.

**Errors** are problem documents (RFC 9457) with a stable `code`, and a `detail` for people in the
language of `Accept-Language`, English or Spanish. What the caller may not see is a 404, just like
what does not exist.

**Retries**: a POST that is sent again with the same `Idempotency-Key` acts only once.

**Consistency**: callers always see their own changes. What others changed may be missing for some
seconds if the service reads from replicas. Responses to changes then have the header
`X-Consistency`; a request that sends it back, whoever sends it, sees at least that change.
"""

#: The tags of the operations, in reading order.
TAGS: list[dict[str, str]] = [
    {
        "name": "accounts",
        "description": (
            "Register, read and change an account, confirm its e-mail address, replace a forgotten "
            "password, and find other users. How much one user sees of another depends on whether "
            "they share a trip."
        ),
    },
    {
        "name": "sessions",
        "description": (
            "Log in and out. A login issues an access token and a refresh token; the refresh token "
            "is exchanged for a new pair before it expires. Each login is a session, which can be "
            "listed and ended on its own."
        ),
    },
    {
        "name": "tokens",
        "description": (
            "Scoped tokens for scripts: they are valid for months, cover only the scopes that were "
            "chosen, and may be confined to one trip."
        ),
    },
    {
        "name": "trips",
        "description": (
            "A trip has members, expenses and one currency in which all balances are kept. Who "
            "creates a trip becomes its OWNER; others join with its code or are added as members."
        ),
    },
    {
        "name": "members",
        "description": (
            "The people of a trip. An OWNER may do everything; an EDITOR adds members and expenses "
            "and changes their own; a VIEWER reads, and pays their own debts."
        ),
    },
    {
        "name": "invitations",
        "description": (
            "Links by which others join a trip: for one address, or for everybody who has the "
            "link. An invitation expires, may be revoked, and may limit how many accept it."
        ),
    },
    {
        "name": "expenses",
        "description": (
            "What was spent, who paid it, and how it is divided: in equal parts, by exact amounts, "
            "by percentages or by shares. The splits always add up to the amount, to the cent."
        ),
    },
    {
        "name": "comments",
        "description": (
            "What members write about an expense. Every member may write; authors change and "
            "delete their own comments, and an OWNER deletes any."
        ),
    },
    {
        "name": "splits",
        "description": (
            "One person's part of an expense. What exceeds their own payment is a debt to those "
            "who paid more than their part. Paying a split records the settlement."
        ),
    },
    {
        "name": "settlements",
        "description": (
            "Money that one member handed to another. It covers the sender's open splits to that "
            "receiver, oldest first; what is left over is credit for later splits."
        ),
    },
    {
        "name": "balances",
        "description": (
            "What each member has paid, owes and is owed in a trip, entry by entry if asked, and "
            "the fewest payments that settle everything. The balances of a trip add up to zero."
        ),
    },
    {
        "name": "history",
        "description": (
            "Who changed what in a trip, and when: each change once, with the fields as they were "
            "and as they are, and a sentence for people."
        ),
    },
    {
        "name": "debts",
        "description": "What a user still owes, in all trips together.",
    },
    {
        "name": "changes",
        "description": (
            "What changed in all trips of the caller while a client was offline, each object as "
            "it is now."
        ),
    },
    {
        "name": "webhooks",
        "description": (
            "Addresses to which the service sends what changes in a trip, or in all trips of an "
            "account, signed as Standard Webhooks."
        ),
    },
    {
        "name": "imports",
        "description": (
            "Files of other systems, such as Splitwise, Spliit or Tricount. A plan shows first "
            "what would become of every row; it can be confirmed, and undone."
        ),
    },
    {
        "name": "reference",
        "description": "Fixed lists for forms: currencies and categories. Open to everybody.",
    },
    {
        "name": "health",
        "description": "Probes for load balancers and monitoring. Open to everybody.",
    },
]

#: The choices behind each enum schema.
ENUM_NAMES: dict[str, str] = {
    "AccountRoleEnum": "users.models.Role",
    "TripRoleEnum": "trips.roles.TripRole",
    "JoinRoleEnum": "trips.roles.JOIN_ROLE_CHOICES",
    "CategoryEnum": "splits.models.Category.values",
    "SplitTypeEnum": "splits.models.SplitType.values",
    "CurrencyEnum": "tripcompanion.currency.amounts.CODES",
    "ScopeEnum": "users.scopes.CHOICES",
    "EntryKindEnum": "splits.serializers.settlement.KINDS",
    "InvitationStateEnum": "trips.models.InvitationState",
    "WebhookStateEnum": "tripcompanion.webhooks.models.webhook.WebhookState",
    "DeliveryStateEnum": "tripcompanion.webhooks.models.delivery.DeliveryState",
    "WebhookEventEnum": "tripcompanion.webhooks.models.delivery.EVENT_CHOICES",
    "EventPatternEnum": "tripcompanion.webhooks.serializers.PATTERNS",
    "EventEnum": "trips.models.journal.Event",
    "ViaEnum": "users.models.Via",
    "ObjectTypeEnum": "splits.serializers.history.OBJECT_TYPES",
    "NoticeModeEnum": "users.models.NoticeMode",
    "NoticeEventEnum": "users.serializers.NOTICE_EVENTS",
}

#: Descriptions of schemas that are not serializers.
SCHEMAS: dict[str, str] = {
    "AccountRoleEnum": "`USER`, or `ADMIN`, who may do what the OWNER of any trip may.",
    "TripRoleEnum": (
        "What a member may do. `OWNER`: everything. `EDITOR`: add members and expenses, change "
        "own expenses. `VIEWER`: read, and settle own debts."
    ),
    "JoinRoleEnum": "The role of those who join with the trip's code.",
    "CategoryEnum": "What an expense was for.",
    "SplitTypeEnum": (
        "How an expense is divided. `EQUAL`: in equal parts. `MANUAL`: by exact amounts. "
        "`PERCENTAGE`: by percentages of 100. `SHARES`: in proportion to weights."
    ),
    "CurrencyEnum": "An ISO 4217 code.",
    "ScopeEnum": "What a scoped token may do. Write scope does not imply read.",
    "EntryKindEnum": "What changed a balance.",
    "InvitationStateEnum": "Whether an invitation can be accepted, or why not.",
    "WebhookStateEnum": "Whether messages are sent to a webhook.",
    "DeliveryStateEnum": "What became of a message.",
    "WebhookEventEnum": "What happened in a trip; `webhook.test` is sent on request.",
    "EventPatternEnum": "An event, all events of a kind, or all.",
    "EventEnum": "What happened: the type of the object, and what was done to it.",
    "ViaEnum": "How the one who did it was authenticated.",
    "ObjectTypeEnum": "The type of an object.",
    "NoticeModeEnum": "When an account gets mails about its trips.",
    "NoticeEventEnum": (
        "What an account may be notified of. `member.added`: it was added to a trip. "
        "`split.paid`: somebody else marked its split as paid. `expense.created`, "
        "`expense.changed`, `comment.created`: an expense that it paid for or takes part in."
    ),
    "SplitAmounts": "Amounts, percentages or weights by user id, as numbers or as strings.",
    "ChangedObject": "An object of a trip, as its own endpoint shows it.",
    "Id": "An identifier, as a number or as a string of its digits.",
}

#: Descriptions of parameters by name.
PARAMETERS: dict[str, str] = {
    "userId": "The id of a user.",
    "tripId": "The id of a trip of the caller; an ADMIN may name any trip.",
    "expenseId": "The id of an expense.",
    "commentId": "The id of a comment on this expense.",
    "splitId": "The id of a split of this expense.",
    "settlementId": "The id of a settlement of this trip.",
    "tokenId": "The id of a scoped token of the caller.",
    "webhookId": "The id of a webhook of the caller.",
    "deliveryId": "The id of a message to this webhook.",
    "invitationId": "The id of an invitation to this trip.",
    "token": "The token of an invitation.",
    "sessionUuid": "The id of a session of the caller.",
    "email": "The whole address, in any case.",
    "code": "The 8 characters of a trip code, in any case.",
    "paidBy": "Only expenses that this user paid, alone or with others.",
    "participant": "Only expenses in which this user has a split.",
}


def describe(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Postprocessing hook: describe what has no declaration of its own."""
    for name, schema in result["components"]["schemas"].items():
        if name in SCHEMAS:
            schema["description"] = SCHEMAS[name]
    for item in result["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in PARAMETERS:
                    parameter.setdefault("description", PARAMETERS[parameter["name"]])
    return result
