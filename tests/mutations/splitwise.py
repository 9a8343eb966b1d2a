"""Guards of the API for Splitwise's clients."""

from tests.mutations.mutant import Guards

_ACCESS, _OAUTH = "plugins/splitwise/tests/test_access.py", "plugins/splitwise/tests/test_oauth.py"
_RECEIPTS = "plugins/splitwise/tests/test_receipts.py"

SPLITWISE: Guards = {
    "plugins/splitwise/viewset.py": [
        ("groups of strangers for these clients",
         "get_visible_or_404(Trip.objects.all, self.caller, pk=trip_id)",
         "Trip.objects.get(pk=trip_id)", f"{_ACCESS} -k learns_nothing"),
    ],
    "plugins/splitwise/entries.py": [
        ("deleted expenses of strangers for these clients",
         "kept.visible_to(user).filter(object_id=pk)", "kept.filter(object_id=pk)",
         f"{_ACCESS} -k learns_nothing"),
    ],
    "plugins/splitwise/views/users.py": [
        ("accounts of strangers for these clients",
         "if is_admin else friends_of(self.caller)", "",
         f"{_ACCESS} -k changes_nothing_of_it"),
        ("what is fixed in an account looks changed",
         'raise refused(_("This cannot be changed here."), name)', "pass",
         f"{_ACCESS} -k changes_nothing_of_it"),
    ],
    "plugins/splitwise/views/expenses.py": [
        ("a refused receipt leaves its file", "            discard(self.draft.file)\n",
         "            pass\n", f"{_RECEIPTS} -k leaves_nothing"),
        ("long bodies without a file",
         "elif int(request.META.get(\"CONTENT_LENGTH\") or 0) > "
         "settings.DATA_UPLOAD_MAX_MEMORY_SIZE:", "elif False:", f"{_RECEIPTS} -k limited"),
        ("a refused expense leaves a friendship", "        with transaction.atomic():\n",
         "        if True:\n", "plugins/splitwise/tests/test_groups.py -k leaves_no_friendship"),
        ("receipts that no throttle counts", "self.count(UploadThrottle())", "pass",
         f"{_RECEIPTS} -k limited"),
    ],
    "plugins/splitwise/views/groups.py": [
        ("friends are locked in the order of the list",
         "with accounts_locked(self.caller, people):\n            require_friend",
         "with transaction.atomic():\n            require_friend",
         "PG plugins/splitwise/tests/test_races.py"),
    ],
    "plugins/splitwise/adding.py": [
        ("friendships by keys that may make none", "if not caller.covers(Scope.TRIPS_WRITE):",
         "if False:", f"{_ACCESS} -k makes_no_friendship"),
        ("strangers are added by their ids",
         "found = friends_of(self.caller).filter", "found = User.objects.filter",
         "plugins/splitwise/tests/test_groups.py"),
        ("an address is another guest every time",
         "if self.user is None and self.email is not None:", "if False:",
         "plugins/splitwise/tests/test_groups.py -k one_friend"),
        ("guests with a name that is too short", "if len(name) >= MIN_NAME_CHARS", "if name",
         "plugins/splitwise/tests/test_groups.py -k short_name"),
        ("lookups by address that no throttle counts", "self.view.count(LookupThrottle())", "pass",
         f"{_ACCESS} -k throttled"),
    ],
    "plugins/splitwise/parsing.py": [
        ("a field of a list that has two names", "if name in row:", "if False:",
         f"{_ACCESS} -k spelt"),
        ("lists of any length", "if len(rows) > settings.QUOTA_MEMBERS:", "if False:",
         f"{_ACCESS} -k spelt"),
        ("a field of a form that is given twice", "if len(values) < len(pairs):", "if False:",
         f"{_ACCESS} -k hostile"),
    ],
    "plugins/splitwise/models.py": [
        ("codes survive a new password", "Grant.objects.filter(user=account).delete()", "pass",
         f"{_OAUTH} -k outlives"),
    ],
    "plugins/splitwise/oauth.py": [
        ("programs that guess secrets", "if not throttle.allow_request(request, None):",
         "if False:", f"{_OAUTH} -k slowed_down"),
        ("codes that work twice",
         "if has_code and not code.delete()[0]:", "if False:", f"{_OAUTH} -k works_once"),
        ("what is not used here is stored", "_leave_out(request, _UNUSED)", "pass",
         f"{_OAUTH} -k left_out"),
        ("the query of a form is read", "_leave_out(request, {*request.GET})", "pass",
         f"{_OAUTH} -k as_the_form"),
        ("codes that no column can store", "if not _fits(request.GET):", "if False:",
         f"PG {_OAUTH} -k as_the_form"),
        ("tokens in ways that have no tables here",
         'if request.POST.get("grant_type") not in _GRANT_TYPES:', "if False:",
         f"{_OAUTH} -k wrong_exchange"),
        ("NUL in a code", "return code.isprintable() and super()", "return super()",
         f"PG {_OAUTH} -k wrong_exchange"),
        ("NUL in the name of a program", 'is_text = (client_id or "").isprintable()',
         "is_text = True", f"PG {_OAUTH} -k basic_authentication"),
        ("programs without a secret and without PKCE",
         "return bool(request.client.client_type == Application.CLIENT_PUBLIC)", "return False",
         f"{_OAUTH} -k keeps_no_secret"),
        ("tokens of a program pile up", "filter(pk__in=[one.pk for one in older]).delete()",
         "filter(pk__in=[]).delete()", f"{_OAUTH} -k for_its_owner"),
        ("a form of consent that was tampered with",
         'if not Application.objects.filter(client_id=form.cleaned_data["client_id"]).exists():',
         "if False:", f"{_OAUTH} -k tampered"),
    ],
}  # fmt: skip
