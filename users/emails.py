"""Validation and comparison of e-mail addresses, which are the usernames of this service."""

import re

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.utils.translation import gettext as _

MAX_EMAIL_CHARS = 254
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE)


class _AddressForm(EmailValidator):
    """Django's validator, but it accepts hosts without a dot, as in company networks."""

    def validate_domain_part(self, domain_part: str) -> bool:
        return bool(_HOST.fullmatch(domain_part)) or super().validate_domain_part(domain_part)


_has_email_form = _AddressForm(allowlist=[])


def email_key(email: str) -> str:
    """The form in which addresses are compared: lower case, the domain in ASCII (IDNA).

    Raises Django's `ValidationError` if `email` is not an address. The local part must be ASCII,
    because some Unicode letters fold to an ASCII letter (KELVIN SIGN to k), so two different
    addresses could compare equal.
    """
    local, _at, domain = email.rpartition("@")
    if not local.isascii():
        raise ValidationError(_("The part before the @ must be ASCII."), "ascii")
    if len(email) > MAX_EMAIL_CHARS:
        raise ValidationError(_("An e-mail address can have at most 254 characters."), "length")
    _has_email_form(email)
    try:
        return f"{local.lower()}@{domain.encode('idna').decode().lower()}"
    except UnicodeError as error:
        raise ValidationError(_("Enter a valid email address."), "invalid") from error
