"""Guests in the admin site."""

from plugins.support.figures import new_accounts
from tests.admin_client import text
from tests.factories import UserFactory, add_guest
from users.models import User


def test_guests_count_as_no_accounts(trip):
    before = new_accounts()
    add_guest(trip)
    assert new_accounts() == before
    UserFactory()
    assert new_accounts() != before


def test_the_admin_site_shows_guests_and_changes_none(trip, admin_client):
    guest, admin = add_guest(trip), admin_client
    page = admin.page(guest)
    assert "Grandma" in text(page)
    assert "password1" not in text(page)
    listed = admin.list(User, "state=guests").context["cl"].queryset
    assert list(listed) == [guest]
    assert guest not in admin.list(User, "state=deactivated").context["cl"].queryset
    for action in ("activate", "deactivate", "send_reset_links", "delete_selected"):
        admin.act(action, guest, post="yes")
    admin.delete(guest)
    guest.refresh_from_db()
    assert (guest.name, guest.is_active, guest.deleted_at) == ("Grandma", False, None)
    assert admin.page(trip.members.get(user=guest)).status_code == 200
