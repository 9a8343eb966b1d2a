"""The mail with an invitation."""

from django.utils.translation import gettext_lazy

#: Its name.
LETTER = "INVITATION"
#: Its label, its subject, and its text.
TEXTS = (
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
)
