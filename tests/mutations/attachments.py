"""Guards of attached files."""

from tests.mutations.mutant import Guards

_ATTACHMENTS = "plugins/attachments/tests/test_attachments.py"
_HOSTILE = "plugins/attachments/tests/test_hostile_files.py"
_MOVING = "plugins/attachments/tests/test_moving.py"
_WORKERS = "plugins/attachments/tests/test_workers.py"
_TURNS = "plugins/attachments/tests/test_turns.py"

ATTACHMENTS: Guards = {
    "plugins/attachments/views.py": [
        ("a picture is served before it is cleaned",
         "        if row.state == State.PROCESSING:\n            raise StillProcessing\n", "",
         f"{_ATTACHMENTS} -k cleaned"),
        ("a refused upload leaves its file", "            discard(self.draft.file)\n",
         "            pass\n", f"{_ATTACHMENTS} -k leaves_no_file"),
        ("a browser may run what it displays", 'response["Content-Security-Policy"] = _SANDBOX',
         "pass", f"{_ATTACHMENTS} -k browser"),
    ],
    "plugins/attachments/models.py": [
        ("files of deleted expenses are shown", "self.filter(shown())", "self.all()",
         f"{_ATTACHMENTS} -k fate"),
        ("files of restorable expenses are deleted", "~Exists(kept), ~Exists(restorable)",
         "~Exists(kept)", f"{_ATTACHMENTS} -k fate"),
        ("files are not counted", 'used["count"] + len(sizes) > count', "False",
         f"{_ATTACHMENTS} -k quotas"),
        ("bytes are not counted", 'used["size"] + sum(sizes) > megabytes * MEBIBYTE', "False",
         f"{_ATTACHMENTS} -k quotas"),
        ("the files of an account are counted in one trip", "filter(created_by=by).require_room",
         "filter(created_by=by, trip=self.trip_id).require_room", f"{_ATTACHMENTS} -k whole_trip"),
        ("files stay when their row is deleted",
         "transaction.on_commit(partial(discard, stored.file, stored.thumbnail))", "pass",
         f"{_ATTACHMENTS} -k deleted_one"),
        ("a worker whose lease has ended stores its result",
         "return rows.filter(state=State.PROCESSING, attempts=self.attempts)", "return rows",
         f"{_WORKERS} -k lease_has_ended"),
        ("moved files are not counted",
         "    _require_room_in(trip.pk, *(row.size_bytes for row in rows))\n", "",
         f"{_MOVING} -k without_room"),
        ("a moved picture waits for the worker that had it",
         "row.claimed_until = trip, moved_id, None",
         "row.claimed_until = trip, moved_id, row.claimed_until", f"{_MOVING} -k new_trip"),
    ],
    "plugins/attachments/recognition.py": [
        ("a PDF may begin with anything", 'start.startswith(b"%PDF-")', 'b"%PDF-" in start',
         f"{_HOSTILE} -k header"),
    ],
    "plugins/attachments/cleaning.py": [
        ("bombs are decoded", "if width * height > MAX_PIXELS[kind]:", "if False:",
         f"{_HOSTILE} -k bomb"),
        ("scans are not counted", "MAX_SCANS = 32", "MAX_SCANS = 10**9",
         f"{_TURNS} -k before_a_picture"),
        ("small files become large ones", "min(limit, MAX_BYTES)", "MAX_BYTES",
         f"{_HOSTILE} -k not_much_larger"),
        ("metadata stays", "    found.info.clear()\n", "", f"{_ATTACHMENTS} -k every_type"),
        ("pictures lie on their side", "found = ImageOps.exif_transpose(found)", "pass",
         f"{_ATTACHMENTS} -k cleaned"),
    ],
    "plugins/attachments/processing.py": [
        ("what takes too long is tried again", "status in _KILLED", "status < 0",
         f"{_TURNS} -k too_long"),
        ("the pictures of one account come first", "        last = row.created_by_id\n", "",
         f"{_TURNS} -k take_turns"),
        ("workers die of a picture forever", "if row.attempts > MAX_ATTEMPTS:", "if False:",
         f"{_WORKERS} -k every_worker"),
        ("an unexpected error with a picture ends the worker", "except Exception:",
         "except LookupError:", f"{_WORKERS} -k unexpected"),
        ("a picture is refused because the storage is away",
         "            row.postpone()\n", "            row.refuse(Refusal.UNREADABLE)\n",
         f"{_WORKERS} -k without_a_storage"),
    ],
    "plugins/attachments/storage.py": [
        ("half a file stays on a full disk", "            discard(name)\n            raise\n",
         "            raise\n", f"{_WORKERS} -k full_disk"),
        ("files of uploads in progress are swept",
         "if files.get_modified_time(name) < timezone.now() - KEPT_WITHOUT_ROW:", "if True:",
         f"{_ATTACHMENTS} -k fate"),
        ("files with a row are swept", "names - known(names)", "names",
         f"{_ATTACHMENTS} -k never_swept"),
    ],
}  # fmt: skip
