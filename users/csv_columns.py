"""The columns of the admin site's CSV files of accounts, sessions, tokens and mails.

Passwords, digests and whatever else authenticates somebody are never exported.
"""

from tripcompanion.adminsite.csv_export import CsvColumns, named

ACCOUNTS = named(
    *("id", "email", "name", "role", "currency", "is_active", "is_guest"),
    *("email_verified_at", "last_login", "created_at", "updated_at", "deleted_at"),
)
_USER: CsvColumns = {"user_id": "user_id", "user_email": "user__email", "user_name": "user__name"}
SESSIONS: CsvColumns = {
    **_USER,
    **named("device", "address", "created_at", "used_at", "expires_at", "ended_at"),
}
TOKENS: CsvColumns = {
    "id": "id",
    **_USER,
    **named("name", "hint"),
    "scopes": "scope_words",
    **named("trip_id", "created_at", "used_at", "expires_at"),
}
MAILS = named(
    *("id", "letter", "address", "language", "created_at", "due_at", "attempts", "error"),
    "given_up_at",
)
LOG: CsvColumns = {
    **named("id", "action_time"),
    **_USER,
    "action_flag": "action_flag",
    "model": "content_type__model",
    **named("object_id", "object_repr", "change_message"),
}
