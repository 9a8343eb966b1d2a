"""Guards of the API for Splitwise's clients."""

from tests.mutations.mutant import Guards

_ACCESS, _OAUTH = "tests/splitwise/test_access.py", "tests/splitwise/test_oauth.py"
_RECEIPTS = "tests/splitwise/test_receipts.py"

SPLITWISE: Guards = {
    "tripcompanion/splitwise/viewset.py": [
        ("groups of strangers for these clients",
         "get_visible_or_404(Trip.objects.all, self.caller, pk=trip_id)",
         "Trip.objects.get(pk=trip_id)", f"{_ACCESS} -k learns_nothing"),
    ],
    "tripcompanion/splitwise/entries.py": [
        ("deleted expenses of strangers for these clients",
         "kept.visible_to(user).filter(object_id=pk)", "kept.filter(object_id=pk)",
         f"{_ACCESS} -k learns_nothing"),
    ],
    "tripcompanion/splitwise/views/users.py": [
        ("accounts of strangers for these clients",
         "if not (found.is_companion or found.pk == self.caller.pk or self.caller.is_admin):",
         "if False:", f"{_ACCESS} -k changes_nothing_of_it"),
        ("what is fixed in an account looks changed",
         'raise refused(_("This cannot be changed here."), name)', "pass",
         f"{_ACCESS} -k changes_nothing_of_it"),
    ],
    "tripcompanion/splitwise/views/expenses.py": [
        ("a refused receipt leaves its file", "            discard(self.draft.file)\n",
         "            pass\n", f"{_RECEIPTS} -k leaves_nothing"),
        ("long bodies without a file",
         "elif int(request.META.get(\"CONTENT_LENGTH\") or 0) > "
         "settings.DATA_UPLOAD_MAX_MEMORY_SIZE:", "elif False:", f"{_RECEIPTS} -k limited"),
        ("receipts that no throttle counts", "self.count(UploadThrottle())", "pass",
         f"{_RECEIPTS} -k limited"),
    ],
    "tripcompanion/splitwise/adding.py": [
        ("friendships by keys that may make none", "if not caller.covers(Scope.TRIPS_WRITE):",
         "if False:", f"{_ACCESS} -k makes_no_friendship"),
        ("strangers are added by their ids",
         "if found is None or not (found.is_companion or found.pk == self.caller.pk):",
         "if found is None:", "tests/splitwise/test_groups.py"),
        ("lookups by address that no throttle counts", "self.view.count(LookupThrottle())", "pass",
         f"{_ACCESS} -k throttled"),
    ],
    "tripcompanion/splitwise/parsing.py": [
        ("a field of a list that has two names", "if name in row:", "if False:",
         f"{_ACCESS} -k spelt"),
        ("lists of any length", "if len(rows) > MAX_ROWS:", "if False:", f"{_ACCESS} -k spelt"),
        ("a field of a form that is given twice", "if len(values) < len(pairs):", "if False:",
         f"{_ACCESS} -k hostile"),
    ],
    "tripcompanion/splitwise/oauth.py": [
        ("programs that guess secrets", "if not throttle.allow_request(request, None):",
         "if False:", f"{_OAUTH} -k slowed_down"),
        ("codes that work twice",
         "elif not Grant.objects.filter(code=request.code, application=request.client)"
         ".delete()[0]:",
         "elif False:", f"{_OAUTH} -k works_once"),
        ("programs without a secret and without PKCE",
         "return bool(request.client.client_type == Application.CLIENT_PUBLIC)", "return False",
         f"{_OAUTH} -k keeps_no_secret"),
        ("tokens of a program pile up", "filter(pk__in=[one.pk for one in older]).delete()",
         "filter(pk__in=[]).delete()", f"{_OAUTH} -k for_its_owner"),
        ("a form of consent that was tampered with",
         'if not Application.objects.filter(client_id=form.cleaned_data["client_id"]).exists():',
         "if False:", f"{_OAUTH} -k tampered"),
    ],
    "tripcompanion/splitwise/oauth1.py": [
        ("signed requests that work twice",
         "if ThrottleCounter.add(key, time.time() + 2 * CLOCK_SECONDS) > 1:", "if False:",
         f"{_OAUTH} -k signed_request_works_once"),
        ("signatures that nobody verifies", "if not is_good:", "if False:",
         f"{_OAUTH} -k wrong_signature"),
        ("verifiers that work twice", "or not rows.delete()[0]", "",
         f"{_OAUTH} -k verifier_works_once"),
        ("verifiers of any age", "expires__gt=timezone.now(),", "",
         f"{_OAUTH} -k valid_for_a_minute"),
        ("verifiers of another request token", "code_challenge=_challenge(asked),", "",
         f"{_OAUTH} -k verifier_works_once"),
        ("programs that return to anywhere",
         "if not found.application.redirect_uri_allowed(back):", "if False:",
         f"{_OAUTH} -k only_where_it_was_registered"),
        ("programs that keep no secret and sign",
         "client_type=Application.CLIENT_CONFIDENTIAL,", "", f"{_OAUTH} -k wrong_signature"),
        ("programs of another kind that sign",
         "authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,", "",
         f"{_OAUTH} -k wrong_signature"),
        ("signatures of any age", "timestamp_lifetime = CLOCK_SECONDS",
         "timestamp_lifetime = 10**6", f"{_OAUTH} -k wrong_signature"),
        ("request tokens of any age", ", max_age=REQUEST_SECONDS", "",
         f"{_OAUTH} -k only_where_it_was_registered"),
        ("the inner address is signed", "address = request.build_absolute_uri()",
         'address = f"http://localhost:{request.META[\'SERVER_PORT\']}{request.get_full_path()}"',
         f"{_OAUTH} -k proxy"),
        ("one secret for the tokens of all programs",
         "names = json.dumps([client_id, token])", 'names = json.dumps([token and "", token])',
         f"{_OAUTH} -k wrong_signature"),
    ],
}  # fmt: skip
