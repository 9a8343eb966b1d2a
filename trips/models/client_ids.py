"""Ids that clients give to what they create, so that nothing is created twice."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Conflict


class ClientIdTaken(Conflict):
    """409 `client_id_taken`: it came with another body or account, or what it made is gone."""

    default_code = "client_id_taken"
    default_detail = gettext_lazy("This clientId was used for something else.")


class ClientNamed(models.Model):
    """A row to which a client may give an id when it creates it; see `ClientId`."""

    client_id = models.UUIDField(gettext_lazy("client id"), null=True, default=None, editable=False)

    #: Whether it was only found, by `ClientId.create_once`.
    was_created_before = False

    class Meta:
        abstract = True


class ClientId(models.Model):
    """A `clientId` that was used. It stays when the object is deleted, until the trip is purged.

    It is unique for a kind of object: in a trip, and for a trip among those of its creator.
    """

    trip = models.ForeignKey(
        "trips.Trip", on_delete=models.CASCADE, related_name="client_ids", db_index=False
    )
    #: The name of the model.
    kind = models.CharField(max_length=20)
    client_id = models.UUIDField()
    #: Who created the trip for which it is; null for what is in a trip.
    creator_id = models.BigIntegerField(null=True)
    object_id = models.BigIntegerField()
    #: Of what was sent, by whom and to where.
    sent_hash = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trip", "kind", "client_id"], name="client_id_in_trip"),
            models.UniqueConstraint(fields=["creator_id", "client_id"], name="client_id_of_trip"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.client_id}"

    @classmethod
    def forget(cls, rows: models.QuerySet[Any]) -> None:
        """Empty the hashes of what was sent for these rows: texts can be guessed from them."""
        named = rows.filter(client_id__isnull=False)
        same = cls.objects.filter(kind=rows.model._meta.model_name, trip__in=named.values("trip"))
        same.filter(object_id__in=named.values("pk")).update(sent_hash="")

    @classmethod
    def sent_with(cls, client_id: UUID, *sent: Any) -> Self:
        """The id, unsaved, that came with what was sent: JSON, by whom and to where."""
        text = json.dumps(sent, sort_keys=True, default=str)
        return cls(client_id=client_id, sent_hash=sha256(text.encode()).hexdigest())

    def create_once(self, rows: models.QuerySet[Any], create: Callable[[], Any]) -> Any:
        """What `create` creates, or the one of `rows` that it created before.

        Call it under the lock of the trip, or of the account that creates one. `rows` are all that
        are not deleted. Raises `ClientIdTaken`.
        """
        self.kind = str(rows.model._meta.model_name)
        places = {"trip_id": self.trip_id, "creator_id": self.creator_id}
        place = {name: pk for name, pk in places.items() if pk is not None}
        same = ClientId.objects.filter(kind=self.kind, client_id=self.client_id, **place)
        if (known := same.first()) is None:
            created = create()
            self.object_id, self.trip_id = created.pk, self.trip_id or created.pk
            self.save(force_insert=True)
            return created
        found = rows.filter(pk=known.object_id).first()
        if found is None or known.sent_hash != self.sent_hash:
            raise ClientIdTaken
        found.was_created_before = True
        return found
