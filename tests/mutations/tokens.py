"""Guards of tokens: signing keys, JWT, and the links in mails."""

from tests.mutations.mutant import Guards

_FORGED = "tests/users/test_forged_tokens.py"
_KEYS = "tests/users/test_signing_keys.py -k"
_LINKS = "tests/users/test_password_reset.py tests/users/test_verification.py"
_SCOPED = "tests/users/test_scoped_tokens.py"
_MAKING = "tests/users/test_making_scoped_tokens.py"
_UNDER_LOCK = "tests/security/test_accounts.py"

TOKENS: Guards = {
    "users/signing_keys.py": [
        ("weak keys verify", "env.strong(name, text)", "text", f"{_KEYS} weak"),
        ("small RSA keys sign", "key.key_size < _MIN_RSA_BITS", "False", f"{_KEYS} safely"),
        ("public keys accepted to sign", "    if key.signing is None:\n", "    if False:\n",
         f"{_KEYS} safely"),
    ],
    "users/tokens.py": [
        ("only the key that signs verifies", "for key in keys]", "for key in keys[:1]]",
         f"{_KEYS} old_key"),
        ("tokens do not name their key", "            headers={\"kid\": self.key.kid},\n", "",
         f"{_KEYS} name_their_key"),
        ("published keys include secrets",
         "one.key.kid: one.key.public_jwk for one in self._backends if one.key.public_jwk}",
         'one.key.kid: one.key.public_jwk or {"k": one.key.kid} for one in self._backends}',
         f"{_KEYS} published"),
        ("tokens of other issuers accepted", 'issuer=settings.SIMPLE_JWT["ISSUER"]', "issuer=None",
         "tests/users/test_forged_tokens.py"),
        ("tokens for other audiences accepted", 'audience=settings.SIMPLE_JWT["AUDIENCE"]',
         "audience=None", "tests/users/test_forged_tokens.py"),
        (
            "signature not verified",
            "return kind(raw_token).payload",
            "return kind(raw_token, verify=False).payload",
            _FORGED,
        ),
        (
            "leeway added to exp",
            'if datetime_from_epoch(token["exp"]) <= aware_utcnow():',
            "if False:",
            _FORGED,
        ),
        ("sub not compared with the session's user",
         'if session is None or token.get("sub") != str(session.user_id):', "if session is None:",
         _FORGED),
        ("session not checked", "if not session.is_good():", "if False:",
         "tests/users/test_logout.py"),
        ("revoked scoped token is accepted", "if token is None or not token.is_good():",
         "if token is None:", _SCOPED),
        ("expired scoped token not rejected",
         "    if token.has_expired:\n", "    if False:\n",
         _SCOPED),
        (
            "any authorization scheme is accepted",
            "if scheme.lower() != _SCHEME or not raw_token:",
            "if False:",
            "tests/users/test_bearer_header.py",
        ),
        (
            "CSRF not enforced",
            "super().enforce_csrf(request)",
            "pass",
            "tests/test_docs_pages.py tests/test_problems.py",
        ),
    ],
    "users/models/email_token.py": [
        ("e-mail token never expires", "links.filter(expires_at__gt=timezone.now()).select_related",
         "links.select_related", _LINKS),
        ("e-mail token is valid after the account changed",
         "is_good = user.is_active and constant_time_compare(self.bound_to, state)",
         "is_good = user.is_active", _LINKS),
        ("e-mail token is valid for a deactivated account",
         "is_good = user.is_active and", "is_good =",
         f"{_UNDER_LOCK} -k link"),
        ("e-mail token can be used twice",
         "if not is_good or not EmailToken.objects.filter(pk=self.pk).delete()[0]:",
         "if not is_good:", _LINKS),
    ],
    "users/random_tokens.py": [
        ("tokens stored in plain text", "return sha256(token.encode()).hexdigest()",
         "return token[:64]", f"{_MAKING} {_LINKS}"),
        ("expiry in the past accepted", "if not now < expires_at <=", "if not expires_at <=",
         _MAKING),
    ],
}  # fmt: skip
