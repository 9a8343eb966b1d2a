"""`prune` deletes invitations that expired a month ago."""

from datetime import timedelta
from io import StringIO

from django.core.management import call_command
from django.utils import timezone

from plugins.invitations.models import Invitation
from users.models import Mail

MONTH = timedelta(days=30, minutes=1)


def test_an_invitation_is_kept_for_a_month_and_its_mail_goes_with_it(api, trip, olga):
    path = f"/api/trips/{trip.pk}/invitations"
    assert api(olga).post(path, {"email": "nina@example.com"}).status_code == 201
    for ago, left in ((MONTH - timedelta(minutes=2), 1), (MONTH, 0)):
        Invitation.objects.update(expires_at=timezone.now() - ago)
        call_command("prune", stdout=StringIO())
        assert Invitation.objects.count() == Mail.objects.count() == left
