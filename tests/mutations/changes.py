"""Mutants of the changes that clients read after a time offline."""

from tests.mutations.mutant import Guards

_CHANGES = "plugins/sync/tests/test_changes.py"
_CURSORS = "plugins/sync/tests/test_cursors.py"

CHANGES: Guards = {
    "plugins/sync/cursor.py": [
        ("cursors never expire", "salt=_SALT, max_age=_LIFETIME)", "salt=_SALT)",
         f"{_CURSORS} -k expires"),
        ("cursors of others are accepted", "if reader != cursor.reader:", "if False:",
         f"{_CURSORS} -k one_account"),
        ("cursors of another form are accepted", "if version != _VERSION:", "if False:",
         f"{_CURSORS} -k another_form"),
        ("any signed text is a cursor", 'signing.loads(text, salt=_SALT',
         'signing.loads(text', f"{_CURSORS} -k not_made_here"),
        ("cursors are not compressed", ", compress=True)", ")", f"{_CURSORS} -k thousand_trips"),
        ("a lost trip is still sent", "            self.delivery = None\n", "            pass\n",
         f"{_CHANGES} -k lost_while"),
    ],
    "plugins/sync/changes.py": [
        ("token without the scope of expenses gets money",
         "return sees(self._reader, row.object_type)", "return True",
         f"{_CHANGES} -k no_money"),
        ("changes for those who are no member", "Trip.objects.of_member(reader)",
         'Trip.objects.visible_to(reader)', f"{_CHANGES} -k only_members"),
        ("former members learn what happened later", "found.setdefault(trip_id, event)",
         "found[trip_id] = event", f"{_CHANGES} -k learns_nothing"),
        ("cursor ahead of the journal is accepted", "            self._require_past()\n", "",
         f"{_CURSORS} -k ahead"),
        ("a row that does not fit is cut off",
         "cursor.partial = Partial(row.trip_id, key)", "self._pass(row, touched)",
         f"{_CHANGES} -k do_not_fit"),
        ("own role is not sent", 'if own == Subject("member", self._reader.pk):', "if False:",
         f"{_CHANGES} -k ones_own_role"),
        ("what is to be sent again is not",
         "if self._sees(row) and (is_whole := touched.resends(row)) is not None:",
         "if (is_whole := None) is not None:", f"{_CHANGES} -k closing"),
    ],
    "plugins/sync/touched.py": [
        ("any number of touched objects is read", "if at == MAX_TOUCHED:", "if False:",
         f"{_CHANGES} -k too_many"),
        ("closing is not noticed", "row.object_id in self._closed_by", "False",
         f"{_CHANGES} -k closes"),
        ("reopening is not noticed", '"closed" in row.changes', "False", f"{_CHANGES} -k closes"),
        ("paid expenses do not come with their settlement",
         'return _subjects("expense", self._paid, row.object_id)', "return []",
         f"{_CHANGES} -k that_it_pays"),
        ("opened expenses do not come with their settlement",
         'return _subjects("expense", self._opened, _pair(row))', "return []",
         f"{_CHANGES} -k that_it_pays"),
        ("comments are not restored with their expense",
         'return _subjects("comment", self._comments, row.object_id)', "return []",
         f"{_CHANGES} -k comments_come"),
    ],
    "plugins/sync/delivery.py": [
        ("what was there before stays", "Stage.NOTHING if is_whole", "Stage.TRIP if is_whole",
         f"{_CHANGES} -k merged"),
        ("money is sent with a new trip", "(money or other not in _OF_MONEY)", "True",
         f"{_CHANGES} -k no_money"),
        ("comments after a gap are left out",
         "if stage is Stage.COMMENTS and delivery.after + _SEARCHED < expenses:", "if False:",
         f"{_CHANGES} -k sent_whole"),
    ],
    "splits/serializers/states.py": [
        ("states of everybody are shown", "source.rows().visible_to(reader).filter(**lookup)",
         "source.rows().annotate(caller_role=F('pk')).filter(**lookup)",
         f"{_CHANGES} -k not_shown"),
    ],
    "splits/models/comment.py": [
        ("emptied comments are not in the journal", "in emptied:", "in ():",
         f"{_CHANGES} -k emptied"),
        ("comments on deleted expenses are not emptied",
         "    emptied += _forget_in_deleted(account, written)\n", "",
         "tests/splits/test_restoring.py -k comments_come"),
    ],
}  # fmt: skip
