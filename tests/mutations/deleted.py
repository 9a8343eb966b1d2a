"""Mutants of deleting and restoring trips, and of people in deleted entries."""

from tests.mutations.mutant import Guards

_TRIPS = "tests/trips/test_deleted_trips.py"
_LOCK = "tests/trips/test_behind_the_lock.py"
_PEOPLE = "tests/splits/test_deleted_people.py"

DELETED: Guards = {
    "trips/models/trip.py": [
        ("former OWNER lists a deleted trip", 'filter(members__left_at=F("deleted_at"), **owned)',
         "filter(**owned)", f"{_TRIPS} -k only_those"),
        ("everybody lists a deleted trip", ', "members__role__in": OWNER_ROLES}', "}",
         f"{_TRIPS} -k only_those"),
        ("deleted trip restored when it is over", "filter(deleted_at__gt=_oldest_deletion())",
         "filter(deleted_at__isnull=False)", f"{_TRIPS} -k week"),
        ("deleted trip pruned at once", "filter(deleted_at__lte=_oldest_deletion())",
         "filter(deleted_at__isnull=False)", f"{_TRIPS} -k week"),
        ("trip without OWNER restored",
         "if not then.filter(role__in=OWNER_ROLES, user__is_active=True).exists():", "if False:",
         f"{_TRIPS} -k without_owners"),
        ("members get trips while one is restored",
         'User.objects.lock(then.values_list("user", flat=True))', "pass",
         "PG tests/splits/test_restoring_at_once.py -k while_one_is"),
        ("trips restored above the quota",
         "            require_trip_quotas(then.filter(introduced_by=None))\n", "",
         f"{_TRIPS} -k quota"),
        ("former members come back with a trip", "self.members.filter(left_at=self.deleted_at)",
         "self.members.exclude(left_at=None)", f"{_TRIPS} -k removed"),
        ("notices of a deleted trip are sent",
         "            Mail.objects.filter(trip_id=trip.pk).delete()\n", "", f"{_TRIPS} -k waits"),
        ("mails survive their trip",
         "Mail.objects.filter(Q(trip_id=trip_id) | Q(invitation_id__in=invited)).delete()", "pass",
         f"{_TRIPS} -k mails"),
        ("guests survive their trip", "            if guest_ids:\n", "            if False:\n",
         f"{_TRIPS} -k week"),
        ("deletion of a trip is not in the journal",
         'write(trip.pk, by, Entry(Event.TRIP_DELETED, trip.pk, {"title": (trip.title, None)}))',
         "pass", "tests/test_journal.py"),
        ("restoring a trip is not in the journal",
         'write(trip.pk, by, Entry(Event.TRIP_RESTORED, trip.pk, {"title": (None, trip.title)}))',
         "pass", "tests/test_journal.py"),
        ("commands run in a deleted trip", "filter(pk=pk, deleted_at=None)", "filter(pk=pk)",
         f"{_LOCK} -k is_deleted_nothing"),
        ("former OWNER restores a trip", "filter(trip=trip, left_at=trip.deleted_at)",
         "filter(trip=trip)", f"{_LOCK} -k removed"),
    ],
    "trips/models/visibility.py": [
        ("ADMIN reads deleted trips", "return self.in_kept_trips().annotate(",
         "return self.annotate(", f"{_TRIPS} -k nowhere"),
    ],
    "trips/models/invitation.py": [
        ("invitation of an ADMIN leads into a deleted trip",
         "        may &= Q(trip__deleted_at=None)\n", "", f"{_TRIPS} -k nowhere"),
    ],
    "trips/models/journal.py": [
        ("first deletion of a trip counts for its journal",
         "deletions.filter(~Exists(later), at__lte", "deletions.filter(at__lte",
         f"{_TRIPS} -k twice"),
    ],
    "splits/models/split.py": [
        ("debts of deleted trips are pending", "Debt.objects.in_kept_trips().open()",
         "Debt.objects.open()", f"{_TRIPS} -k nowhere"),
    ],
    "splits/reports/balances.py": [
        ("debts of deleted trips are owed",
         "owed_minor__gt=0).in_kept_trips()", "owed_minor__gt=0)",
         f"{_TRIPS} -k nowhere"),
    ],
    "plugins/webhooks/models/webhook.py": [
        ("webhook of a trip is not told of its deletion",
         "owners = Member.objects.present_or_restorable().filter(\n",
         "owners = Member.objects.present().filter(\n",
         f"{_TRIPS} -k webhooks"),
    ],
    "plugins/webhooks/models/queue.py": [
        ("webhook of all trips is not told of a deletion",
         "return Member.objects.present_or_restorable()", "return Member.objects.present()",
         f"{_TRIPS} -k webhooks"),
    ],
    "trips/deletion.py": [
        ("deleted trip prevents the deletion of an account", "_annotated(members.in_kept_trips())",
         "_annotated(members)", f"{_TRIPS} -k hinders"),
        ("deleted account comes back with a trip", "ending = members.present_or_restorable()",
         "ending = members.present()", f"{_TRIPS} -k hinders"),
    ],
}  # fmt: skip
