"""With 100,000 mails a worker finds what is due as with a hundred."""

from datetime import timedelta

import pytest
from django.core.mail import get_connection
from django.db.models import Q
from django.utils import timezone

from plugins.notices.queueing import notify
from tests import citus
from tests.bulk import analyse, insert_many
from tests.factories import TripFactory, UserFactory, join, overwrite
from tests.test_plans import scans_of
from tripcompanion.database.turns import Turns
from tripcompanion.mail.sending import send
from trips.models import Trip
from trips.roles import TripRole
from users.models import Mail, User

pytestmark = citus.hides_plans

ROWS = 100_000
OTHERS = 300
BIG = {"users_mail"}
_MAILS = (
    "INSERT INTO users_mail (user_id, letter, address, language, created_at, due_at, attempts, "
    "error, trip_id) "
    "SELECT %s, 'EXPENSE_CREATED', '', 'en', %s, %s, 0, '', %s FROM numbers"
)


@pytest.fixture
def busy(transactional_db):
    """A trip with a member who wants notices; others have some that are due tomorrow."""
    now = timezone.now()
    people = User.objects.bulk_create(UserFactory.build_batch(OTHERS))
    trips = Trip.objects.bulk_create(TripFactory.build_batch(OTHERS))
    for user, trip in zip(people, trips, strict=True):
        tomorrow = now + timedelta(days=1)
        insert_many(_MAILS, ROWS // OTHERS, user.pk, now, tomorrow, trip.pk)
    trip, owner, reader = TripFactory(), UserFactory(), UserFactory()
    join(trip, owner, TripRole.OWNER)
    join(trip, reader)
    overwrite(reader, email_verified_at=now, notice_mode="each")
    analyse()
    return trip, reader


@pytest.mark.slow
def test_notices_are_queued_and_found_without_reading_the_outbox_from_end_to_end(busy):
    trip, reader = busy
    owner, turns = trip.members.get(role=TripRole.OWNER).user, Turns("address")

    def work():
        notify("expense.changed", Q(pk=reader.pk), by=owner, trip_id=trip.pk)
        mail = turns.next(Mail.objects.due())
        mail.claim()
        send(mail, get_connection("django.core.mail.backends.locmem.EmailBackend"))

    assert scans_of(work, BIG) == {}
    assert not Mail.objects.filter(user=reader).exists()
