"""The routes of the landing page and of the root of the API."""

from django.urls import path
from django.utils.translation import gettext as _

from plugins.pages.landing import LandingPage
from plugins.pages.root import RootViewSet

PAGES = [
    path("", LandingPage.as_view()),
    path("api", RootViewSet.as_view({"get": "links"}, name="API")),
]

#: The last words of these paths, which are titles in the browsable API, and what its forms ask for.
#: For the translations; those of other plugins are in their `urls`.
# fmt: off
TITLES = (
    _("Balances"), _("Categories"),
    _("Currencies"), _("Currency"), _("Destination"), _("Exchange rates"), _("Expenses"),
    _("Export"), _("Guests"), _("Health"),
    _("Leave"), _("Login"), _("Logout"), _("Logout everywhere"), _("Me"), _("Members"),
    _("Methods"), _("My trips"), _("Password reset"), _("Pay"), _("Pending debts"),
    _("Preview"), _("Profile"), _("Ready"), _("Refresh"), _("Register"), _("Restore"), _("Role"),
    _("Sessions"), _("Settle up"), _("Settlements"), _("Splits"), _("Time zone"),
    _("Title"), _("Tokens"), _("Total debt"), _("Trip id"), _("Trips"), _("Unpay"),
    _("Verify email"),
)
# fmt: on
