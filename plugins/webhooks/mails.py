"""The mails about webhooks."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import MailText

WEBHOOK_NEW = "WEBHOOK_NEW"
WEBHOOKS_OFF = "WEBHOOKS_OFF"
WEBHOOK_OFF = "WEBHOOK_OFF"

MAILS = {
    WEBHOOK_NEW: MailText(
        gettext_lazy("new webhook"),
        gettext_lazy("A new webhook sends news of your trips"),
        gettext_lazy(
            "Hello,\n\n"
            "A webhook was registered with your Trip Companion account. It sends what changes in "
            "your trips to another service. If you did not do this, reset your password at once: "
            "that ends all your sessions and turns your webhooks off.\n"
        ),
    ),
    WEBHOOKS_OFF: MailText(
        gettext_lazy("webhooks turned off with the sessions"),
        gettext_lazy("Your webhooks were turned off"),
        gettext_lazy(
            "Hello,\n\n"
            "The sessions of your Trip Companion account were ended, so your webhooks were turned "
            "off and your open invitations revoked. Look at the list of your webhooks, and turn on "
            "again those that you know.\n"
        ),
    ),
    WEBHOOK_OFF: MailText(
        gettext_lazy("webhook turned off"),
        gettext_lazy("A webhook was turned off"),
        gettext_lazy(
            "Hello,\n\n"
            "One of your webhooks has not accepted a message for three days, so we turned it off. "
            "Its list of deliveries shows what went wrong. When the receiver works again, turn the "
            "webhook on: it goes on with the next message, and those that failed can be sent "
            "again.\n"
        ),
    ),
}
