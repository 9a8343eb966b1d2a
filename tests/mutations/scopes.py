"""Guards of one's own log-ins and of scoped tokens."""

from tests.mutations.mutant import Guards

_SESSIONS = "tests/users/test_sessions.py"
_TOKENS = "tests/users/test_scoped_tokens.py"
_UNDER_LOCK = "tests/security/test_accounts.py"
_ACCESS = "tests/trips/test_scoped_access.py"

SCOPES: Guards = {
    "tripcompanion/kit/viewsets.py": [
        ("scope not asked for", "require_scope(self.scope_for(request.method or \"\"))", "pass",
         _ACCESS),
    ],
    "tripcompanion/kit/idempotency.py": [
        ("answers replayed to any token", 'getattr(request.auth, "keys_apart", "")', '""', _ACCESS),
    ],
    "trips/models/visibility.py": [
        ("confined token sees other trips", "return self.filter(**{trip_path: user.confined_to})",
         "return self", _ACCESS),
    ],
    "trips/models/trip.py": [
        ("confined token makes trips", "if owner.confined_to is not None:", "if False:", _ACCESS),
    ],
    "trips/views/trip.py": [
        ("confined token previews other trips",
         "trips = Trip.objects.within(self.caller).with_code(code)",
         "trips = Trip.objects.with_code(code)", _ACCESS),
        ("confined token joins other trips",
         "get_object_or_404(Trip.objects.within(self.caller).with_code(code))",
         "get_object_or_404(Trip.objects.with_code(code))", _ACCESS),
    ],
    "trips/views/account.py": [
        ("token confined to a foreign trip",
         '        require_membership(self.caller, body.get("trip_id"))\n', "", _TOKENS),
        ("tokens of others can be ended", "return self.caller.scoped_tokens.live()",
         "return ScopedToken.objects.live()", _TOKENS),
        ("a token is kept under an idempotency key", "    safe_retries = False\n", "", _TOKENS),
    ],
    "splits/models/split.py": [
        ("confined token lists debts of other trips", "return self.within(user).filter(",
         "return self.filter(", _ACCESS),
    ],
    "splits/models/balances.py": [
        ("confined token sums debts of other trips", "Member.objects.within(debtor).filter(",
         "Member.objects.filter(", _ACCESS),
    ],
    "users/models/token.py": [
        ("token of a barred account is good", "return self.user.is_active and ", "return ",
         _TOKENS),
        ("a log-in that ended makes tokens",
         "so that the limit holds.\n        with user.locked(by=user) as owner:",
         "so that the limit holds.\n        with user.locked(by=None) as owner:", _TOKENS),
        ("a log-in that ended ends tokens",
         "        with user.locked(by=user) as owner:\n            deleted",
         "        for owner in (user,):\n            deleted", f"{_UNDER_LOCK} -k scoped"),
        ("no limit of tokens", ">= MAX_LIVE_TOKENS", "> MAX_LIVE_TOKENS", _TOKENS),
        ("limit of tokens without a lock",
         "with user.locked(by=user) as owner:\n            owner.scoped_tokens.filter",
         "for owner in (user,):\n            owner.scoped_tokens.filter", f"PG {_TOKENS}"),
        ("a token for longer than a year", "if not now < expires_at <= now + MAX_LIFETIME:",
         "if not now < expires_at:", _TOKENS),
        ("deleted trip sets its tokens free", "on_delete=models.CASCADE, null=True, blank=True",
         "on_delete=models.SET_NULL, null=True, blank=True", _TOKENS),
    ],
    "users/tokens.py": [
        ("expired scoped token opens", "if token.has_expired:", "if False:", _TOKENS),
        ("use of a log-in not noted", "        session.note_use()\n", "", _SESSIONS),
    ],
    "users/models/user.py": [
        ("a scoped token of an ADMIN is one", " and self.by_token is None", "", _ACCESS),
        ("barring leaves scoped tokens",
         "            account.scoped_tokens.all().delete()\n            account.log_out",
         "            account.log_out", _TOKENS),
        ("browsers stay when all log-ins are ended", "account.log_in_era += 1",
         "account.log_in_era += 0", _SESSIONS),
    ],
    "users/models/session.py": [
        ("log-ins of others can be ended", "return self.live().filter(user=user, ",
         "return self.live().filter(", _SESSIONS),
        ("an ended log-in ends again",
         "return self.filter(ended_at=None).update(ended_at=timezone.now())",
         "return self.update(ended_at=timezone.now())", _SESSIONS),
        ("device shown as it was sent", "if letter.isprintable()", "if True", _SESSIONS),
        ("every request writes its use", "if self.used_at <= now - NOTED_EVERY:", "if True:",
         _SESSIONS),
    ],
}  # fmt: skip
