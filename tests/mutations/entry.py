"""Guards of the ways in: the landing page, reference data, and MapMyJourney's client."""

from tests.mutations.mutant import Guards

_CALLERS = "plugins/mapmyjourney/tests/test_callers.py"
_TRIPS = "plugins/mapmyjourney/tests/test_trips.py"
_LANDING = "tests/test_landing.py"
_REFERENCE = "tests/test_reference.py"

ENTRY: Guards = {
    "plugins/mapmyjourney/middleware.py": [
        ("MapMyJourney's routes for every client", '.startswith("MapMyJourney")',
         '.startswith("")', _CALLERS),
        ("no Vary for MapMyJourney's client",
         '            patch_vary_headers(response, ["X-App-Client"])\n', "            pass\n",
         _CALLERS),
    ],
    "plugins/mapmyjourney/serializers.py": [
        ("the predecessor's front end shows every address", 'source="user.shown_email"',
         'source="user.email"', "tests/trips/test_unanswered.py"),
    ],
    "plugins/mapmyjourney/views.py": [
        ("PUT with a name replaces the trip", "partial=partial or is_part", "partial=partial",
         _TRIPS),
        ("PUT with name and title changes a part", ' and "title" not in sent', "", _TRIPS),
    ],
    "tripcompanion/api/landing.py": [
        ("inline styles allowed on the landing page", "style-src 'self'",
         "style-src 'self' 'unsafe-inline'", _LANDING),
    ],
    "tripcompanion/api/reference.py": [
        ("pages kept by caches", "        if is_json(request):\n", "        if True:\n",
         _REFERENCE),
    ],
    "tripcompanion/api/viewsets.py": [
        ("invalid tokens ignored", "            if not self.is_token_optional:\n",
         "            if False:\n", "tests/users/test_bearer_header.py"),
    ],
    "splits/views/root.py": [
        ("account linked for scoped tokens", "    if not is_scoped:\n", "    if True:\n", _LANDING),
        ("links out of scope", "if not is_scoped or scope in auth.scopes:", "if True:", _LANDING),
    ],
}  # fmt: skip
