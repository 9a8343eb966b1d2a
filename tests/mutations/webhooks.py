"""Mutants of webhooks: where messages go, whose they are, and that none is lost."""

from tests.mutations.mutant import Guards

_OUTGOING = "tests/test_outgoing.py"
_REGISTERING = "tests/splits/test_webhooks.py"
_DELIVERIES = "tests/splits/test_webhook_deliveries.py"
_SIGNATURES = "tests/splits/test_webhook_signatures.py"

WEBHOOKS: Guards = {
    "tripcompanion/kit/outgoing.py": [
        ("webhooks reach private networks", "all(map(is_public, found))", "found", _REGISTERING),
        ("one public address is enough", "all(map(is_public, found))",
         "any(map(is_public, found))", f"{_OUTGOING} -k among_public"),
        ("IPv6 addresses that stand for others are public",
         "        if embeds or address.scope_id or address not in _IPV6_UNICAST:\n"
         "            return False\n", "        pass\n", _OUTGOING),
        ("multicast addresses are public",
         "address.is_global and not (address.is_multicast or address.is_reserved)",
         "address.is_global", _OUTGOING),
        ("the host is looked up again to connect", "(one, address.port), _seconds",
         "(address.host, address.port), _seconds", f"{_OUTGOING} -k after_the_check"),
        ("webhooks use HTTP", '({"http", "https"} if allow_private else {"https"})',
         '{"http", "https"}', _OUTGOING),
        ("webhooks reach every port", "if not allow_private and port != standard",
         "if False and port != standard", _OUTGOING),
        ("certificates are not verified", "ssl.create_default_context()",
         "ssl._create_unverified_context()", f"{_OUTGOING} -k certificate"),
        ("each read has the whole time", "self.settimeout(_seconds_until(self.deadline))",
         "self.settimeout(5)", f"{_OUTGOING} -k exchange"),
        ("the whole response is read", "response.read(MAX_RESPONSE_BYTES)", "response.read()",
         f"{_OUTGOING} -k megabytes"),
        ("a lookup may take forever", "answer.result(seconds)", "answer.result()",
         f"{_OUTGOING} -k resolver"),
    ],
    "splits/models/webhook.py": [
        ("anybody registers a webhook for a trip", "locked_trip(trip_id, user, Can.MANAGE_TRIP)",
         "locked_trip(trip_id, user, Can.READ)", _REGISTERING),
        ("the webhooks of others can be changed", "found = owner.webhooks.filter(pk=webhook_id)",
         "found = cls.objects.filter(pk=webhook_id)", _REGISTERING),
        ("any number of webhooks", "if rivals.count() >= settings.QUOTA_WEBHOOKS:",
         "if False:", _REGISTERING),
        ("a changed address is not checked",
         '        if "url" in fields:\n            require_url',
         "        if False:\n            require_url", _REGISTERING),
        ("secrets stored",
         'return [SECRET_PREFIX + b64encode(_key(salt)).decode() for salt in salts]',
         "return [SECRET_PREFIX + salt for salt in salts]", _REGISTERING),
        ("messages for those who are no owner any more",
         "        role__in=_OWNERS,\n", "",
         f"{_DELIVERIES} -k no_longer"),
        ("messages for deactivated accounts", "for webhook in webhooks if webhook.user.is_active]",
         "for webhook in webhooks]", f"{_DELIVERIES} -k no_longer"),
        ("former secrets are used forever",
         "if self.former_until is not None and self.former_until > timezone.now():",
         "if self.former_salt:", f"{_SIGNATURES} -k rotation"),
    ],
    "splits/models/webhook_queue.py": [
        ("a claimed webhook is claimed again",
         "return Q(claimed_until=None) | Q(claimed_until__lte=timezone.now())", "return Q()",
         f"{_DELIVERIES} -k not_noted"),
        ("webhooks beyond the first batch wait forever",
         "later = Q(due_at__gt=last.due_at) | Q(due_at=last.due_at, id__gt=last.pk)",
         "later = Q(pk=None)", f"{_DELIVERIES} -k batches"),
        ("a worker without its lease goes on",
         "if not self._mine().update(claimed_until=timezone.now() + LEASE):",
         "if self._mine().update(claimed_until=timezone.now() + LEASE) < 0:",
         f"{_DELIVERIES} -k lease_has_passed"),
        ("the right is checked only when claiming",
         " or not permitted([self.webhook])", "",
         f"{_DELIVERIES} -k between_two"),
        ("messages for former members until the lease ends",
         "        if self.webhook.trip_id is not None:\n            return Q()\n",
         "        return Q()\n", f"{_DELIVERIES} -k between_two"),
        ("webhooks are told what happens in a deleted trip",
         'Q(trip__deleted_at=None) | Q((f"{journal}at__lte", F("trip__deleted_at")))', "Q()",
         "tests/trips/test_deleted_trips.py -k webhooks"),
        ("a failed message is overtaken", "return waiting or self._from_journal()",
         "return self._from_journal() or waiting", f"{_DELIVERIES} -k holds_back"),
        ("retries never end", "and since <= timezone.now() - PATIENCE", "and not since",
         f"{_DELIVERIES} -k three_days"),
        ("messages for former members", "            webhook.positions.exclude(trip__in=present"
         '.values("trip")).delete()\n', "", f"{_DELIVERIES} -k of_an_account"),
    ],
    "users/management/commands/prune.py": [
        ("the log of webhooks is never deleted",
         'yield "webhook deliveries", [deliveries.order_by("created_at")]',
         'yield "webhook deliveries", [deliveries.none()]', f"{_DELIVERIES} -k month"),
    ],
    "tripcompanion/accounts/deletion.py": [
        ("webhooks survive their account",
         "        Webhook.objects.filter(user=account).delete()\n", "", _REGISTERING),
    ],
}  # fmt: skip
