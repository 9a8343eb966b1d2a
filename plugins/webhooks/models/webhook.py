"""Webhooks: addresses to which the service sends what changes in trips."""

import secrets
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import Max, Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, ValidationError

from plugins.outgoing import MAX_URL_CHARS, BadAddress, require_reachable
from plugins.webhooks.mails import WEBHOOK_NEW, WEBHOOKS_OFF
from tripcompanion.api.problems import LimitReached
from tripcompanion.database.lending import without_connection
from trips.models import Member, Trip, locked_trip, trip_key
from trips.models.journal import JournalEntry
from trips.roles import OWNER_ROLES, Can
from users.models import Mail, Role, User, user_key
from users.models.outbox import current_language
from users.signals import sessions_ended

#: The prefix of every secret (Standard Webhooks).
SECRET_PREFIX = "whsec_"  # noqa: S105 -- not a secret
#: How long deliveries are also signed with the secret before the last one.
ROTATION = timedelta(hours=24)
#: How long looking up a host may take while a request waits.
LOOK_UP_SECONDS = 3
#: The pattern of all events.
EVERYTHING = "*"

_SALT_BYTES = 16


class WebhookState(models.TextChoices):
    """Whether messages are sent."""

    ON = "on", gettext_lazy("on")
    OFF = "off", gettext_lazy("off")


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def remove(self) -> None:
        """Delete these with their deliveries. Call it inside a transaction.

        The rows are locked first, as by the workers, who then write the deliveries. Deletion alone
        would lock the deliveries first, so both would wait for each other.
        """
        list(self.order_by("pk").select_for_update().values_list("pk", flat=True))
        self.delete()

    def permitted_for(self, trip: Trip) -> "WebhookQuerySet":
        """The webhooks for this trip that are permitted; see `permitted`."""
        owners = Member.objects.present_or_restorable().filter(trip=trip, role__in=OWNER_ROLES)
        may = Q(user__in=owners.values("user")) | Q(user__role=Role.ADMIN)
        return self.filter(may, trip=trip, user__in=User.objects.active())


class Webhook(models.Model):
    """An address that an account registered for one trip that it owns, or for all its trips.

    Its secret is derived from a stored salt and from the SECRET_KEY, so the table contains no
    secrets.
    """

    user = user_key("webhooks")
    #: Null for all trips of the account.
    trip: Any = trip_key("webhooks", null=True)
    url = models.CharField(gettext_lazy("URL"), max_length=MAX_URL_CHARS)
    #: Patterns of events: `expense.changed`, `expense.*` or `*`.
    events = models.JSONField(gettext_lazy("events"), default=list)
    state = models.CharField(
        gettext_lazy("state"), max_length=3, choices=WebhookState, default=WebhookState.ON
    )
    salt = models.CharField(max_length=32)
    #: The salt before the last rotation, which is used until `former_until`.
    former_salt = models.CharField(max_length=32, blank=True, default="")
    former_until = models.DateTimeField(null=True)
    #: The language of mails about it.
    language = models.CharField(max_length=7, default=current_language)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    #: When the next attempt is due.
    due_at = models.DateTimeField(gettext_lazy("next attempt at"), default=timezone.now)
    #: Failed attempts since the last success, and when the first was.
    failures = models.PositiveIntegerField(gettext_lazy("failures"), default=0)
    failing_since = models.DateTimeField(gettext_lazy("failing since"), null=True)
    #: The last attempt, and the status of its response; null if there was none.
    last_at = models.DateTimeField(gettext_lazy("last delivery"), null=True)
    last_status = models.PositiveSmallIntegerField(gettext_lazy("last status"), null=True)
    #: The worker that sends its messages, and until when, unless it renews the lease.
    claimed_by = models.UUIDField(null=True)
    claimed_until = models.DateTimeField(null=True)

    objects = WebhookQuerySet.as_manager()

    #: The secret itself; set by `register` and `rotate_secret` only.
    secret: str

    class Meta:
        # As all tables of webhooks, it is named after the app that they belonged to at first.
        db_table = "splits_webhook"
        verbose_name = gettext_lazy("webhook")
        verbose_name_plural = gettext_lazy("webhooks")
        indexes: ClassVar = [models.Index(fields=["state", "due_at"], name="webhook_due")]

    def __str__(self) -> str:
        return f"#{self.pk}"

    @classmethod
    def register(
        cls, user: User, *, url: str, events: list[str], trip_id: int | None = None
    ) -> "Webhook":
        """Create a webhook of `user` with `.secret` set; without `trip_id`, for all their trips.

        It gets the changes from now on. Call `require_url` before. Raises `LimitReached`, and for
        a trip what `locked_trip` raises.
        """
        webhook = cls(user=user, url=url, events=events, salt=secrets.token_hex(_SALT_BYTES))
        with user.locked(by=user) as owner:
            owned = (
                nullcontext() if trip_id is None else locked_trip(trip_id, user, Can.MANAGE_TRIP)
            )
            with owned as trip:
                webhook.user, webhook.trip = owner, trip
                rivals = (
                    owner.webhooks.filter(trip=None)
                    if trip is None
                    else Webhook.objects.permitted_for(trip)
                )
                LimitReached.require_at_most(settings.QUOTA_WEBHOOKS, rivals.count() + 1)
                webhook.save()
                if trip is not None:
                    WebhookPosition.start(webhook, trip.pk)
            webhook._announce()
        webhook.secret = webhook.secrets()[0]
        return webhook

    def _announce(self) -> None:
        """Tell the account by mail that messages go to this address from now on."""
        if self.user.email:
            Mail.objects.tell(self.user, WEBHOOK_NEW, self.user.email)

    @classmethod
    @contextmanager
    def locked(cls, user: User, webhook_id: int) -> Iterator["Webhook"]:
        """Open a transaction, lock the account, and yield its webhook; raises `NotFound`."""
        with user.locked(by=user) as owner:
            found = owner.webhooks.filter(pk=webhook_id).first()
            if found is None:
                raise NotFound
            yield found

    @classmethod
    def change(cls, user: User, webhook_id: int, **fields: Any) -> "Webhook":
        """Change `url`, `events` or `state`. A webhook that is turned on again starts at once.

        The account is told of another `url` by mail, as of a new webhook.

        Raises `NotFound`, and `ValidationError` if messages cannot be sent to another URL.
        """
        url = fields.get("url")
        # A host that is away is no reason to refuse what was read and is sent back.
        if url is not None and not user.webhooks.filter(pk=webhook_id, url=url).exists():
            require_url(url)
        with cls.locked(user, webhook_id) as webhook:
            is_elsewhere = url not in {None, webhook.url}
            is_turned_on = fields.get("state", webhook.state) == WebhookState.ON != webhook.state
            if is_elsewhere or is_turned_on:
                fields |= {"due_at": timezone.now(), "failures": 0, "failing_since": None}
            for name, value in fields.items():
                setattr(webhook, name, value)
            if fields:
                webhook.save(update_fields=list(fields))
            if is_elsewhere:
                webhook._announce()
        return webhook

    @classmethod
    def remove(cls, user: User, webhook_id: int) -> None:
        """Delete a webhook and the log of its deliveries; raises `NotFound`."""
        with cls.locked(user, webhook_id) as webhook:
            cls.objects.filter(pk=webhook.pk).remove()

    @classmethod
    def rotate_secret(cls, user: User, webhook_id: int) -> "Webhook":
        """Give the webhook a new secret; messages are signed with both for `ROTATION`.

        Raises `NotFound`.
        """
        with cls.locked(user, webhook_id) as webhook:
            webhook.former_salt, webhook.salt = webhook.salt, secrets.token_hex(_SALT_BYTES)
            webhook.former_until = timezone.now() + ROTATION
            webhook.save(update_fields=["salt", "former_salt", "former_until"])
        webhook.secret = webhook.secrets()[0]
        return webhook

    @property
    def host(self) -> str:
        """The host of the URL. The rest of the URL may be a secret of the receiver."""
        return urlsplit(self.url).hostname or ""

    @property
    def last_delivery(self) -> "Webhook | None":
        """Its last attempt, whose columns are in this row; None if there was none."""
        return None if self.last_at is None else self

    def secrets(self) -> list[str]:
        """The secrets with which messages are currently signed, the newest first."""
        salts = [self.salt]
        if self.former_until is not None and self.former_until > timezone.now():
            salts.append(self.former_salt)
        keys = (salted_hmac("splits.Webhook", salt, algorithm="sha256").digest() for salt in salts)
        return [SECRET_PREFIX + b64encode(key).decode() for key in keys]

    def wants(self, event: str) -> bool:
        """Whether one of the patterns covers `event`."""
        kind = event.partition(".")[0]
        return not {EVERYTHING, f"{kind}.*", event}.isdisjoint(self.events)


class WebhookPosition(models.Model):
    """How far a webhook has read the journal of a trip."""

    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, db_index=False, related_name="positions"
    )
    trip = models.ForeignKey(Trip, on_delete=models.CASCADE, related_name="+")
    #: The number of the last row of the journal that was sent or did not match.
    number = models.BigIntegerField(default=0)

    class Meta:
        db_table = "splits_webhookposition"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["webhook", "trip"], name="webhook_position_unique")
        ]

    def __str__(self) -> str:
        return f"{self.trip_id}: {self.number}"

    @classmethod
    def start(cls, webhook: Webhook, trip_id: int, since: datetime | None = None) -> None:
        """Start with the rows of the journal from `since`, by default with the next one."""
        rows = JournalEntry.objects.filter(trip=trip_id)
        before = rows if since is None else rows.filter(at__lt=since)
        number = before.aggregate(last=Max("number"))["last"] or 0
        cls.objects.create(webhook=webhook, trip_id=trip_id, number=number)


@receiver(sessions_ended)
def turn_off_webhooks_of(account: User, *, is_reclaimed: bool, **_about: object) -> None:
    """Turn off the webhooks of `account` and tell it by mail.

    Delete them if somebody else may have made them.
    """
    rows = Webhook.objects.filter(user=account)
    if is_reclaimed:
        rows.remove()
    elif rows.filter(state=WebhookState.ON).update(state=WebhookState.OFF) and account.email:
        Mail.objects.tell(account, WEBHOOKS_OFF, account.email)


def permitted(webhooks: Iterable[Webhook]) -> list[Webhook]:
    """Webhooks whose account is active and, if they are for a trip, still owns that trip.

    Webhooks of a deleted trip are included, because they get a message about the deletion.
    """
    active = [webhook for webhook in webhooks if webhook.user.is_active]
    of_trips = [one for one in active if one.trip_id is not None and not one.user.is_admin]
    # Not joined with the webhooks: on Citus, members are on the workers and webhooks are not.
    owners = Member.objects.present_or_restorable().filter(
        trip__in={webhook.trip_id for webhook in of_trips},
        user__in={webhook.user_id for webhook in of_trips},
        role__in=OWNER_ROLES,
    )
    owned = set(owners.values_list("trip", "user"))
    refused = {one.pk for one in of_trips if (one.trip_id, one.user_id) not in owned}
    return [webhook for webhook in active if webhook.pk not in refused]


def require_url(url: str) -> None:
    """Raise `ValidationError` unless messages can be sent to `url` now.

    Call it outside transactions: it looks up the host.
    """
    try:
        with without_connection():
            require_reachable(
                url, allow_private=settings.WEBHOOKS_ALLOW_PRIVATE, seconds=LOOK_UP_SECONDS
            )
    except BadAddress as error:
        raise ValidationError({"url": [error.args[0]]}) from error
