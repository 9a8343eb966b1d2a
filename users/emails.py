"""E-mail addresses as log-in names: how one is checked, and when two are the same."""

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.utils.translation import gettext_lazy as _

MAX_EMAIL_CHARS = 254
_has_email_form = EmailValidator(allowlist=[])


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
