"""Guards of notices by mail: who gets them, and how to get no more of them."""

from tests.mutations.mutant import Guards

_NOTICES = "tests/notices/test_notices.py"
_NOTICE_MAILS = "tests/notices/test_mails.py"
_UNSUBSCRIBE = "tests/notices/test_unsubscribe.py"

NOTICES: Guards = {
    "users/models/user.py": [
        ("notices sent to unconfirmed addresses",
         "self.is_active and self.email_verified_at is not None", "self.is_active", _NOTICE_MAILS),
        ("link to unsubscribe outlives the address",
         "if account is None or not constant_time_compare(fingerprint, _fingerprint(account)):",
         "if account is None:", _UNSUBSCRIBE),
        ("waiting notices are sent after unsubscribing",
         "            account.mails.filter(letter__in=notice_letters().values()).delete()\n", "",
         _UNSUBSCRIBE),
    ],
    "tripcompanion/notices/queueing.py": [
        ("notices to unconfirmed addresses queued", ", email_verified_at__isnull=False)", ")",
         _NOTICES),
        ("notices of unwanted events queued", "notice_events__contains=event",
         'notice_events__contains=""', _NOTICES),
        ("notices queued without limit", '.exclude(pk__in=full.values("pk"))', "", _NOTICES),
        ("notices to former members", ", memberships__left_at=None", "", _NOTICES),
        ("notices to who did it", ".exclude(pk=by.pk)", "", _NOTICES),
    ],
    "tripcompanion/notices/sending.py": [
        ("an unexpected error with a mail ends the worker", "except Exception as error:",
         "except LookupError as error:", "tests/notices/test_outbox.py -k unexpected"),
        ("unwanted notices sent", "rows.exclude(letter__in=wanted, ", "rows.exclude(",
         _NOTICE_MAILS),
        ("waiting notices are sent to former members",
         "account.memberships.filter(left_at=None)", "account.memberships.all()", _NOTICE_MAILS),
        ("no pause between mails with notices",
         "if account.noticed_at is not None and now < account.noticed_at + PAUSE:", "if False:",
         _NOTICE_MAILS),
    ],
    "tripcompanion/notices/unsubscribe.py": [
        ("opening the link unsubscribes", "            if is_done:\n", "            if True:\n",
         _UNSUBSCRIBE),
        ("one click needs a CSRF token", '@method_decorator(csrf_exempt, name="dispatch")\n', "",
         _UNSUBSCRIBE),
    ],
}  # fmt: skip
