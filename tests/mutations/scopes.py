"""Guards of sessions and scoped tokens."""

from tests.mutations.mutant import Guards

_PASSWORD = "tests/users/test_password_change.py"
_REFRESH = "tests/users/test_refresh.py"
_SECURITY = "tests/security/test_authentication.py"
_UNDER_LOCK = "tests/security/test_accounts.py"
_SESSIONS = "tests/users/test_sessions.py"
_TOKENS = "tests/users/test_scoped_tokens.py"
_MAKING = "tests/users/test_making_scoped_tokens.py"
_ACCESS = "tests/trips/test_scoped_access.py"

SCOPES: Guards = {
    "users/permissions.py": [
        ("scope not checked", "request.auth.require(scope)", "pass", _ACCESS),
    ],
    "tripcompanion/api/idempotency.py": [
        ("responses replayed to any token",
         'getattr(request.auth, "keys_apart", "")', '""', _ACCESS),
    ],
    "trips/models/visibility.py": [
        ("trip-bound token sees other trips", "return self.filter(**{trip_path: user.confined_to})",
         "return self", _ACCESS),
    ],
    "trips/models/member.py": [
        ("trip-bound token knows the people of other trips",
         "if user.by_token and user.by_token.trip_id:", "if False:",
         "plugins/splitwise/tests/test_access.py -k knows_nobody"),
    ],
    "trips/models/trip.py": [
        ("tokens survive their trip",
         "            ScopedToken.objects.filter(trip_id=trip_id).delete()\n", "", _TOKENS),
        ("trip-bound token creates trips",
         "if owner.confined_to is not None:", "if False:", _ACCESS),
    ],
    "trips/views/trip.py": [
        ("trip-bound token previews other trips",
         "Trip.objects.in_token_scope(self.caller).with_code(code).annotate",
         "Trip.objects.with_code(code).annotate", _ACCESS),
        ("trip-bound token joins other trips",
         "get_object_or_404(Trip.objects.in_token_scope(self.caller).with_code(code))",
         "get_object_or_404(Trip.objects.with_code(code))", _ACCESS),
    ],
    "trips/views/token.py": [
        ("token bound to a stranger's trip",
         '        require_membership(self.caller, body.get("trip_id"))\n', "", _MAKING),
        ("tokens of others can be revoked", "return self.caller.scoped_tokens.active()",
         "return ScopedToken.objects.active()", _TOKENS),
        ("token stored under an idempotency key",
         '    shows_secret: ClassVar = frozenset({"create"})\n', "    safe_retries = True\n",
         _MAKING),
    ],
    "splits/models/split.py": [
        ("trip-bound token lists debts of other trips", "return self.in_token_scope(user).filter(",
         "return self.filter(", _ACCESS),
    ],
    "splits/reports/balances.py": [
        ("trip-bound token sums debts of other trips",
         "Member.objects.in_token_scope(user).filter(", "Member.objects.filter(", _ACCESS),
    ],
    "users/models/token.py": [
        ("number of scoped tokens is not limited",
         "if owner.scoped_tokens.count() >= MAX_ACTIVE_TOKENS:",
         "if False:", _MAKING),
        ("scoped token survives a new password",
         "return self.user.is_active and constant_time_compare(\n"
         "            self.password_fingerprint, _password_mark(self.user)\n        )",
         "return self.user.is_active", _TOKENS),
        ("scoped token of a deactivated account is accepted",
         "return self.user.is_active and constant_time_compare(", "return constant_time_compare(",
         _TOKENS),
        ("every token has every scope", "        if scope not in self.scopes:\n",
         "        if False:\n", _ACCESS),
        ("idempotency keys of tokens and sessions are shared",
         'return f" token {self.pk}"', 'return ""',
         _ACCESS),
        ("token of a deactivated account is accepted", "return self.user.is_active and ", "return ",
         _TOKENS),
        ("ended session creates tokens",
         "so that the limit holds.\n        with user.locked(by=user) as owner:",
         "so that the limit holds.\n        with user.locked(by=None) as owner:", _MAKING),
        ("ended session revokes tokens",
         "        with user.locked(by=user) as owner:\n            deleted",
         "        for owner in (user,):\n            deleted", f"{_UNDER_LOCK} -k scoped"),
        ("token limit not checked", ">= MAX_ACTIVE_TOKENS", "> MAX_ACTIVE_TOKENS", _MAKING),
        ("token limit checked without a lock",
         "with user.locked(by=user) as owner:\n            owner.scoped_tokens.filter",
         "for owner in (user,):\n            owner.scoped_tokens.filter", f"PG {_MAKING}"),
        ("token valid for longer than a year", "require_lifetime(until, MAX_LIFETIME)",
         "until", _MAKING),
    ],
    "users/tokens.py": [
        ("expired scoped token is accepted", "if token.has_expired:", "if False:", _TOKENS),
        ("session use not recorded", "        note_use(session)\n", "", _SESSIONS),
        ("every request writes used_at",
         "if row.used_at is None or row.used_at <= now - _NOTED_EVERY:", "if True:",
         _SESSIONS),
    ],
    "users/models/user.py": [
        ("ADMIN's scoped token has ADMIN rights", " and self.by_token is None", "", _ACCESS),
        ("deactivation keeps scoped tokens",
         "            account.scoped_tokens.all().delete()\n            account.log_out",
         "            account.log_out", _TOKENS),
        ("browser sessions survive logging out everywhere", "account.session_epoch += 1",
         "account.session_epoch += 0", _SESSIONS),
    ],
    "users/models/session.py": [
        (
            "ended session is accepted",
            "self.ended_at is None\n            and self.expires_at",
            "self.expires_at",
            "tests/users/test_logout.py",
        ),
        (
            "expired session is accepted",
            "            and self.expires_at > timezone.now()\n            and self.user",
            "            and self.user",
            f"{_REFRESH} {_SECURITY}",
        ),
        (
            "session of a deactivated user is accepted",
            "            and self.user.is_active\n",
            "",
            "tests/users/test_deactivation.py",
        ),
        (
            "login is recorded without the account lock",
            "        with user.locked(by=user):\n",
            "        if True:\n",
            f"{_UNDER_LOCK} -k stays",
        ),
        (
            "session survives a new password",
            "            and constant_time_compare("
            "self.auth_hash, self.user.get_session_auth_hash())\n",
            "",
            _PASSWORD,
        ),
        ("refresh token used twice", "(pk=self.pk, refresh_jti=jti)", "(pk=self.pk)", _REFRESH),
        (
            "reused refresh token does not end the session",
            "            self.end()\n            return False",
            "            return False",
            _REFRESH,
        ),
        ("logging out does not end the session",
         "return self.filter(ended_at=None).update(ended_at=timezone.now())",
         "return self.filter(ended_at=None).count()", "tests/users/test_logout.py"),
        ("sessions of others can be ended", "return self.active().filter(user=user, ",
         "return self.active().filter(", _SESSIONS),
        ("ended session can be ended again",
         "return self.filter(ended_at=None).update(ended_at=timezone.now())",
         "return self.update(ended_at=timezone.now())", _SESSIONS),
        ("device stored with control characters", "if letter.isprintable()", "if True", _SESSIONS),
    ],
}  # fmt: skip
