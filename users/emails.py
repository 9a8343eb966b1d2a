"""E-mail addresses as log-in names: how one is checked, and when two are the same."""

import re

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.utils.translation import gettext_lazy as _

MAX_EMAIL_CHARS = 254
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE)


class _AddressForm(EmailValidator):
    """Django's, which also takes a host without a dot: inside a company there are such."""

    def validate_domain_part(self, domain_part: str) -> bool:
        return bool(_HOST.fullmatch(domain_part)) or super().validate_domain_part(domain_part)


_has_email_form = _AddressForm(allowlist=[])


def email_key(email: str) -> str:
    """What `email` is compared by: lower case, the domain in its ASCII form (IDNA).

    Raises Django's `ValidationError` for what is no address. The local part must be ASCII:
    Unicode has letters that fold into one another (KELVIN SIGN and k), and two accounts that
    look alike to a database are one door with two keys.
    """
    local, _at, domain = email.rpartition("@")
    if not local.isascii():
        raise ValidationError(_("Only ASCII letters may stand before the @."), "ascii")
    if len(email) > MAX_EMAIL_CHARS:
        raise ValidationError(_("An e-mail address is at most 254 characters long."), "length")
    _has_email_form(email)
    try:
        return f"{local.lower()}@{domain.encode('idna').decode().lower()}"
    except UnicodeError as error:
        raise ValidationError(_("Enter a valid email address."), "invalid") from error
