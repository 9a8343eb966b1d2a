"""The mails about passkeys."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import MailText

PASSKEY_NEW, PASSKEY_BLOCKED = "PASSKEY_NEW", "PASSKEY_BLOCKED"

MAILS = {
    PASSKEY_NEW: MailText(
        gettext_lazy("new passkey"),
        gettext_lazy("A passkey can log in to your account"),
        gettext_lazy(
            "Hello,\n\nA passkey was added to your Trip Companion account. Whoever has it can log "
            "in without your password. If you did not do this, remove it from the list of your "
            "passkeys at once, and change your password.\n"
        ),
    ),
    PASSKEY_BLOCKED: MailText(
        gettext_lazy("passkey blocked"),
        gettext_lazy("One of your passkeys was blocked"),
        gettext_lazy(
            "Hello,\n\nA passkey of your Trip Companion account was used that seems to have been "
            "copied, so it was blocked. Log in in another way, remove it from the list of your "
            "passkeys, and end the sessions that you do not know.\n"
        ),
    ),
}
