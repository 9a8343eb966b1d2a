"""The columns of the admin site's CSV files of accounts, sessions, tokens and mails.

Passwords, digests and whatever else authenticates somebody are never exported.
"""

from tripcompanion.adminsite.csv_export import CsvColumns

ACCOUNTS: CsvColumns = {
    name: name
    for name in (
        *("id", "email", "name", "role", "currency", "is_active", "is_guest"),
        *("email_verified_at", "last_login", "created_at", "updated_at", "deleted_at"),
    )
}
_USER: CsvColumns = {"user_id": "user_id", "user_email": "user__email", "user_name": "user__name"}
SESSIONS: CsvColumns = {
    **_USER,
    "device": "device",
    "address": "address",
    "created_at": "created_at",
    "used_at": "used_at",
    "expires_at": "expires_at",
    "ended_at": "ended_at",
}
TOKENS: CsvColumns = {
    "id": "id",
    **_USER,
    "name": "name",
    "hint": "hint",
    "scopes": "scope_words",
    "trip_id": "trip_id",
    "created_at": "created_at",
    "used_at": "used_at",
    "expires_at": "expires_at",
}
MAILS: CsvColumns = {
    name: name
    for name in (
        *("id", "letter", "address", "language", "created_at", "due_at", "attempts", "error"),
        "given_up_at",
    )
}
LOG: CsvColumns = {
    "id": "id",
    "action_time": "action_time",
    **_USER,
    "action_flag": "action_flag",
    "model": "content_type__model",
    "object_id": "object_id",
    "object_repr": "object_repr",
    "change_message": "change_message",
}
