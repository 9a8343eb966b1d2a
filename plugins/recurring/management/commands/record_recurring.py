"""Records the recurring expenses that are due, once or continuously."""

from plugins.due import DueCommand
from plugins.recurring.models import Recurrence


class Command(DueCommand):
    """Each date is recorded under the lock of its trip."""

    help = "Record the recurring expenses whose dates have come, also those of a time offline."
    summary = "%d expenses recorded."
    model = Recurrence
