"""What another plugin adds to the journal is in the history, in the document, and sent."""

import json

import pytest

from tests.checkout import SECRET, run, with_event

pytestmark = pytest.mark.once

#: What a row of the journal with the event of a plugin becomes.
KNOWS_EVENTS = """
import django; django.setup()
import json, yaml
from django.core.management import call_command
from plugins.webhooks.models import Webhook, WebhookDelivery
from plugins.webhooks.serializers import WebhookRequest
from plugins.history.sentences import Names, sentence
from plugins.history.serializers import HistoryQuery
from tripcompanion.openapi.document import document
from trips.models import JournalEntry
from trips.models.journal import Entry

entry = Entry("storm.seen", 2, {})
row = JournalEntry(event=entry.event, by_id=1, object_id=2, stored_changes="{}")
for model in (row, WebhookDelivery(event=entry.event)):
    model._meta.get_field("event").clean(entry.event, model)
query = HistoryQuery(data={"event": row.event})
query.is_valid(raise_exception=True)
webhook = WebhookRequest(data={"url": "https://example.com/", "events": ["storm.*"]})
webhook.is_valid(raise_exception=True)
schemas = yaml.safe_load(document("en", "yaml")[0])["components"]["schemas"]
call_command("makemigrations", check=True, verbosity=0)
print(json.dumps({
    "sentence": sentence(row, Names({1: "Olga"}, None), "EUR"),
    "wants": Webhook(events=webhook.validated_data["events"]).wants(row.event),
    "schemas": [name for name, one in schemas.items() if row.event in one.get("enum", ())],
}))
"""


def test_an_event_of_a_plugin_is_known_without_a_migration(project):
    names = f"plugins.history,plugins.webhooks,{with_event(project, 'storm.seen')}"
    done = run(project, "-c", KNOWS_EVENTS, SECRET_KEY=SECRET, PLUGINS=names)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown == {
        "sentence": "Olga saw a storm.",
        "wants": True,
        "schemas": ["EventEnum", "EventPatternEnum", "WebhookEventEnum"],
    }
