"""Ids that clients give to what they create, so that nothing is created twice."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Self

from django.db import models
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Conflict
from trips.models.journal import as_text
from users.models import User


class ClientIdTaken(Conflict):
    """409 `client_id_taken`: it came with another body or account, or what it made is gone."""

    default_code = "client_id_taken"
    default_detail = gettext_lazy("This clientId was used for something else in the trip.")


class ClientNamed(models.Model):
    """A row to which a client may give an id. The model has a trip, and both are unique."""

    client_id = models.UUIDField(gettext_lazy("client id"), null=True, editable=False)
    #: A hash of who created it and of what they sent, if it has such an id.
    sent_hash = models.CharField(max_length=64, default="", db_default="", editable=False)

    #: Whether it was only found, by `created_before`.
    was_created_before = False
    trip_id: int

    class Meta:
        abstract = True

    def created_before(self, by: User, sent: Mapping[str, Any]) -> Self | None:
        """What `by` created before with what they `sent` for this unsaved row, or None.

        Call it under the trip's lock. Raises `ClientIdTaken`.
        """
        if self.client_id is None:
            return None
        # What is null is as if absent.
        body = {name: sent[name] for name in sorted(sent) if sent[name] is not None}
        self.sent_hash = sha256(as_text({"by": by.pk, "body": body}).encode()).hexdigest()
        rows = type(self)._default_manager.filter(trip=self.trip_id, client_id=self.client_id)
        if (known := rows.first()) is None:
            return None
        if known.sent_hash != self.sent_hash or getattr(known, "deleted_at", None) is not None:
            raise ClientIdTaken
        known.was_created_before = True
        return known
