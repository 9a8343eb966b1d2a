"""What the tests that walk all apps need to know of the pages of support; see `tests/walked.py`."""

import csv
import io
from typing import Any

from splits.models import Allocation, Debt, Expense, Settlement


def read_history(history: Any) -> dict[str, Any]:
    """The files of the lists of the admin site."""
    found = {}
    for model in (Expense, Debt, Settlement, Allocation):
        page = history.pages.client.get(history.pages.url(model, "export"))
        text = b"".join(page.streaming_content).decode()
        found[f"{model.__name__}.csv"] = list(csv.DictReader(io.StringIO(text)))
    return found
