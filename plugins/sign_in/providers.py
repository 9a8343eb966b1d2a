"""The OpenID providers of the setting `OIDC_PROVIDERS`."""

import json
import re
from typing import Any, NamedTuple

from tripcompanion import environment as env

MAX_ISSUER_CHARS = 255
_FORMS = {
    "provider": r"[a-z0-9_-]{1,32}",
    "name": r"\S.{0,49}",
    "issuer": rf"(?=.{{1,{MAX_ISSUER_CHARS}}}$)https?://[^\s?#@]+",
    "clientId": r"[!-~]{1,255}",
}
_ON_THIS_MACHINE = r"http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/.*)?"


class Provider(NamedTuple):
    """A provider: its key in the API, what people call it, and what its tokens must name."""

    provider: str
    name: str
    issuer: str
    client_id: str


def read_providers(raw: str) -> list[Provider]:
    """The providers in the setting; stops the process if one is not valid."""
    debug = env.boolean("DEBUG", False)
    if raw:
        env.require_installed("OIDC_PROVIDERS", package="cryptography", extra="asymmetric")
    try:
        rows = json.loads(raw or "[]")
        if not isinstance(rows, list):
            raise TypeError(f"not {rows!r}")
        found = [_provider(row, debug=debug) for row in rows]
        for field in ("provider", "issuer"):
            if len({getattr(each, field) for each in found}) < len(found):
                raise ValueError(f"two have the same {field}")
    except (ValueError, TypeError) as error:
        fields = ", ".join(_FORMS)
        env.refuse(f"OIDC_PROVIDERS must be a JSON list of objects with {fields}: {error}.")
    return found


def _provider(row: Any, *, debug: bool) -> Provider:
    if not isinstance(row, dict) or row.keys() != _FORMS.keys():
        raise ValueError(f"not {row!r}")
    for field, form in _FORMS.items():
        if not isinstance(row[field], str) or not re.fullmatch(form, row[field]):
            raise ValueError(f"the {field} cannot be {row[field]!r}")
    issuer = row["issuer"]
    if issuer.startswith("http:") and not (debug and re.fullmatch(_ON_THIS_MACHINE, issuer)):
        raise ValueError(f"the issuer {issuer} must be https, unless it is local and DEBUG=true")
    return Provider(*(row[field] for field in _FORMS))
