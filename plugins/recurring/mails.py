"""The mail about a recurring expense."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import MailText

RECURRENCE = "RECURRENCE"

MAILS = {
    RECURRENCE: MailText(
        gettext_lazy("recurring expense"),
        gettext_lazy("A recurring expense needs your attention"),
        gettext_lazy(
            "Hello,\n\n"
            "One of your recurring expenses could not be recorded and was paused, or it was "
            "recorded without participants who have left the trip. The list of the recurring "
            "expenses of your trip shows which one, and why.\n"
        ),
    )
}
