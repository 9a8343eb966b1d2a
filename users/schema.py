"""The security schemes of the OpenAPI document."""

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from users.permissions import scopes_for


class BearerSchemes(OpenApiAuthenticationExtension):
    """The schemes of access tokens, and of scoped tokens with the scope of each operation."""

    target_class = "users.tokens.BearerAuthentication"
    name: Any = ("bearer", "scopedToken")

    def get_security_requirement(self, auto_schema: AutoSchema) -> Any:
        scopes = scopes_for(auto_schema.view, auto_schema.method)
        scoped = [{"scopedToken": [*scopes]}] if scopes else []
        return [{"bearer": []}, *scoped]

    def get_security_definition(self, auto_schema: AutoSchema) -> Any:
        http = {"type": "http", "scheme": "bearer"}
        session = http | {
            "bearerFormat": "JWT",
            "description": "The `token` of a registration, login or refresh.",
        }
        scoped = http | {
            "bearerFormat": "tc_…",
            "description": (
                "A token for scripts, created at `/api/users/me/tokens`. It needs the scopes that "
                "the operation lists, and never exceeds its owner's current role; an ADMIN's "
                "token has no ADMIN rights. Write scope does not imply read. A token that is "
                "confined to a trip gives access to no other trip. Operations that do not list "
                "this scheme, or need other scopes, return 403 `insufficient_scope`."
            ),
        }
        return session, scoped


class BrowserSessionScheme(SessionScheme):
    """The scheme of browser sessions."""

    target_class = "users.tokens.BrowserSession"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        text = "A login to the admin site or the browsable API; writes need a CSRF token."
        return super().get_security_definition(auto_schema) | {"description": text}
