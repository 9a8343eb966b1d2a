"""Reminds people of documents that are due soon, once or continuously."""

from plugins.documents.models import Document
from plugins.due import DueCommand


class Command(DueCommand):
    """Each reminder is queued under the lock of its trip."""

    help = "Queue mails to those who have not attached a document that is due in three days."
    summary = "%d documents done."
    model = Document
