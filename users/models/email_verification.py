"""Whether the owner of an account has confirmed its e-mail address."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from users.models.conflicts import EmailUnverified

if TYPE_CHECKING:
    from users.models.user import User


class VerifiableEmail:
    """Base of `User`: its address is confirmed with a link that is sent to it."""

    email_verified_at: datetime | None

    def ask_to_verify(self: Any, *, by: "User | None") -> None:
        """Send the link that confirms the address, up to the hourly limit."""
        with self.locked(by=by) as account:
            account.mails.ask_to_verify(account)

    def verify_email(self: Any) -> None:
        """Mark `email` as verified."""
        with self.locked(by=None) as account:
            if account.email_verified_at is None:
                account.email_verified_at = timezone.now()
                account.save(update_fields=["email_verified_at"])

    def require_verified_email(self) -> None:
        """Raise `EmailUnverified` if the settings require a confirmed address and it is not."""
        if settings.REQUIRE_VERIFIED_EMAIL and self.email_verified_at is None:
            raise EmailUnverified
