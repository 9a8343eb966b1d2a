"""The mail with an invitation."""

from django.apps import apps
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import MailText

LETTER = "INVITATION"

MAILS = {
    LETTER: MailText(
        gettext_lazy("invitation to a trip"),
        gettext_lazy("You are invited to a trip"),
        gettext_lazy(
            "Hello,\n\n"
            "You are invited to share the expenses of a trip with Trip Companion. Open this link "
            "to see the trip and to join it:\n\n"
            "{url}\n\n"
            "You need an account with this e-mail address, which you confirm first. If you do not "
            "know who invited you, ignore this e-mail.\n"
        ),
        # The model imports this module.
        lambda mail: apps.get_model("invitations", "Invitation").link_of(mail),
    )
}
