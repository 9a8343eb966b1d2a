"""What the admin site does to a trip is in its journal."""

from django.contrib import admin

from tests.factories import UserFactory, join
from tests.test_journal import new_events
from trips.models import JournalEntry, Member, Trip


def in_the_admin_site(trip, site, olga):
    """Everything that can be done to a trip there, with the rows that it makes."""
    ed, vera = (trip.members.get(user__name=name) for name in ("Ed Editor", "Vera Viewer"))
    new, gone, other = UserFactory.create_batch(3)
    for user in (gone, other):
        join(trip, user)
    return {
        "change": (lambda: site.change(trip, title="Porto"), ["trip.changed"]),
        "save": (lambda: site.change(trip), []),
        "renew_codes": (lambda: site.act("renew_codes", trip), ["trip.code_renewed"]),
        "add": (lambda: site.add(Member, trip=trip.pk, user=new.pk, role="VIEWER"),
                ["member.added"]),
        "role": (lambda: site.change(ed, role="VIEWER"), ["member.role_changed"]),
        "end": (lambda: site.act("end", vera), ["member.removed"]),
        "account": (lambda: site.delete(gone), ["member.left"]),
        "accounts": (lambda: site.act("delete_selected", other, post="yes"), ["member.left"]),
        "delete": (
            lambda: site.client.post(
                site.url(Trip, "delete", trip.pk), {"post": "yes", "title": "Porto"}
            ),
            ["trip.deleted"],
        ),
        "restore": (lambda: site.act("restore", trip), ["trip.restored"]),
    }  # fmt: skip


def test_the_admin_site_writes_what_it_did_as_the_admin_site(trip, olga, ada, admin_client):
    for name, (act, expected) in in_the_admin_site(trip, admin_client, olga).items():
        assert new_events(act) == expected, name
    rows = JournalEntry.objects.filter(by=ada)
    assert {row.via for row in rows} == {"admin"}
    assert rows.count() == 9


def test_the_admin_site_can_do_nothing_else_to_a_trip():
    acting = {
        model.__name__: set(site.actions)
        for model, site in admin.site._registry.items()
        if model._meta.app_label in {"trips", "splits", "webhooks"} and site.actions
    }
    assert acting == {
        "Trip": {"renew_codes", "restore"},
        "Member": {"end"},
        "DeletedEntry": {"restore"},
    }
