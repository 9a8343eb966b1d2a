"""The lists of the admin site fit a window of 1280 pixels, whatever people have typed."""

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry

from plugins.support.tests.rows import one_of_each
from splits.models import Debt, Expense, Settlement
from tests.admin_client import AdminClient
from tests.chromium import chromium
from tests.walked import answers
from trips.models import Member, Trip
from users.models import Mail, ScopedToken, User

pytestmark = [pytest.mark.once, pytest.mark.needs("chromium")]

#: The bar beside a long page has 15 pixels.
WINDOW = {"width": 1265, "height": 960, "deviceScaleFactor": 1, "mobile": False}
#: What is cut off, if it is hidden behind a bar to scroll with.
HIDDEN = """
[document.documentElement, document.querySelector(".results")]
    .map((part) => part.scrollWidth - part.clientWidth)
"""
WORDS = "Wandering through Donaudampfschifffahrtsgesellschaftskapitänsmützen " * 30
WORD = "Donaudampfschifffahrtsgesellschaftskapitänsmütze" * 40


def lengthen(text):
    """Give the rows the longest texts and amounts that people can enter."""
    User.objects.update(name=text[:50])
    for user in User.objects.filter(is_guest=False):
        email = f"{user.pk}{WORD[:60]}@{WORD[:50]}.example.com"
        User.objects.filter(pk=user.pk).update(email=email)
    Trip.objects.update(title=text[:100], destination=text[:100])
    Expense.objects.update(description=text[:255], amount_minor=10**14, entered_minor=10**14)
    ScopedToken.objects.update(name=text[:50])
    Mail.objects.update(address=f"{WORD[:60]}@{WORD[:50]}.example.com", error=text[:200])
    LogEntry.objects.update(object_repr=text[:200])
    Settlement.objects.update(amount_minor=10**14, credit_minor=10**14)
    Debt.objects.filter(open_minor__gt=0).update(amount_minor=10**14, open_minor=10**14)
    Member.objects.update(paid_minor=10**14, share_minor=0)
    for lengthen_rows in answers("lengthen"):
        lengthen_rows(text)


@pytest.fixture
def tab(tmp_path):
    with chromium(tmp_path / "profile", "--accept-lang=en", "--hide-scrollbars") as page:
        page.call("Emulation.setDeviceMetricsOverride", **WINDOW)
        yield page


@pytest.mark.slow
@pytest.mark.parametrize(("language", "text"), [("en", WORDS), ("es", WORD)])
def test_every_list_fits_its_window(  # noqa: PLR0913 -- the cast
    ada, trip, olga, ed, vera, server, tab, tmp_path, text, language
):
    admin_client = AdminClient(ada)
    for _number in range(2):
        one_of_each(trip, olga, ed, vera)
    admin_client.act("confirm_addresses", *User.objects.filter(email_verified_at=None))
    lengthen(text)
    admin_client.client.cookies["django_language"] = language
    too_wide = {}
    for model in admin.site._registry:
        shown = admin_client.list(model)
        assert shown.context["cl"].result_count, model
        page = tmp_path / f"{model.__name__}.html"
        head = f'<head><base href="{server.url}/">'
        page.write_text(shown.content.decode().replace("<head>", head, 1))
        tab.open(page.as_uri())
        if any(hidden := tab.run(HIDDEN)):
            too_wide[model.__name__] = hidden
    assert too_wide == {}
