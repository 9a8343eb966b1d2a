"""What a move of an expense to another trip is for plugins that keep something of it."""

from typing import ClassVar

from django.dispatch import Signal
from django.utils.translation import gettext_lazy

from tripcompanion.api.problems import Conflict

#: `by` moved `expense` to another `trip`, where it is `moved_id`. It is sent under both locks.
expense_moved = Signal()


class QuotaExceeded(Conflict):
    """409 `quota_exceeded`: the trip or the account has too many files, or too large ones."""

    default_code = "quota_exceeded"
    default_detail = gettext_lazy("At most %(count)s files are stored, of %(size)s MB in all.")
    example_values: ClassVar = {"count": 1000, "size": 500}
