"""What webhooks say of a trip that is deleted and restored."""

from django.utils import timezone

from plugins.webhooks.models import Webhook
from plugins.webhooks.models.queue import Lease
from plugins.webhooks.sending import message_of
from plugins.webhooks.tests.hooks import URL
from tests.factories import PASSWORD


def sent():
    """The events of the next message of each webhook."""
    Webhook.objects.update(due_at=timezone.now())
    events = []
    while lease := Lease.claim():
        lease.align()
        if delivery := lease.next():
            events.append(delivery.event)
            assert message_of(lease.webhook, delivery) is not None
            delivery.delete()
        Webhook.objects.filter(pk=lease.webhook.pk).update(due_at="2200-01-01T00:00Z")
        lease.release()
    return events


def test_webhooks_say_that_a_trip_was_deleted_and_restored(api, trip, olga, ed):
    for user, trip_id in ((olga, trip.pk), (ed, None)):
        Webhook.register(user, url=URL, events=["trip.*"], trip_id=trip_id)
    assert sent() == []
    assert api(olga).delete(f"/api/trips/{trip.pk}").status_code == 204
    assert sent() == ["trip.deleted"] * 2
    assert api(olga).post(f"/api/trips/{trip.pk}/restore").status_code == 200
    assert sent() == ["trip.restored"] * 2


def test_webhooks_learn_what_happened_in_a_deleted_trip_once_it_is_restored(
    api, trip, olga, ed, vera
):
    for user, trip_id in ((olga, trip.pk), (ed, None)):
        Webhook.register(user, url=URL, events=["*"], trip_id=trip_id)
    assert sent() == []
    assert api(olga).delete(f"/api/trips/{trip.pk}").status_code == 204
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert sent() == ["trip.deleted"] * 2
    assert sent() == []
    assert api(olga).post(f"/api/trips/{trip.pk}/restore").status_code == 200
    assert sorted(sent()) == ["member.left"] * 2
    assert sent() == ["trip.restored"] * 2
