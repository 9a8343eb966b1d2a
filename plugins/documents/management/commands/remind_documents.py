"""Reminds people of documents that are due soon, once or continuously."""

from typing import Any

from plugins.documents.models import Document
from plugins.due import DueCommand


class Command(DueCommand):
    """Each reminder is queued under the lock of its trip."""

    help = "Queue mails to those who have not attached a document that is due in three days."
    summary = "%d documents done."

    def due(self) -> Any:
        return Document.objects.to_remind()

    def work_on(self, row: Document) -> bool:
        return row.remind()
