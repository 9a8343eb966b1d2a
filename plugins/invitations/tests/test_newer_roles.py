"""An invitation whose role a newer release knows, beside which this one runs."""

from contextlib import contextmanager

from django.db import connection

from plugins.invitations.models import Invitation


@contextmanager
def newer_constraints():
    """A newer release has put its roles into the constraint."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
            yield
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
            return
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE trips_invitation DROP CONSTRAINT invitation_role_known")
        yield


def test_an_invitation_to_an_unknown_role_outlives_this_release(api, olga, ed, trip):
    url = f"/api/trips/{trip.pk}"
    made = api(olga).post(f"{url}/invitations", {}).json()
    with newer_constraints():
        Invitation.objects.filter(pk=made["id"]).update(role="GUIDE")
    # A change of roles revokes what their members may no longer invite to.
    assert api(olga).put(f"{url}/members/{ed.pk}/role", {"role": "VIEWER"}).status_code == 200
    [listed] = api(olga).get(f"{url}/invitations").json()["items"]
    assert (listed["role"], listed["state"]) == ("GUIDE", "open")
