"""Moves with files of expenses, and whether they are served as they were sent."""

from collections.abc import Callable, Iterable, Iterator

import httpx

from plugins.attachments.tests.pictures import PDF
from tests.soak.journal import Act, Journal, Request
from tests.soak.log import Entry
from tests.soak.moves import Moves
from tests.soak.world import Form, PlayedTrip


class FileMoves(Moves):
    """Attaches files to expenses, and deletes them."""

    def _attach(self, trip: PlayedTrip) -> None:
        expense = self._one(trip.expenses)
        if expense is not None:
            path = f"/expenses/{expense}/attachments"
            shown = self._send(
                Act.ATTACH, self._anybody(trip), expense, "POST", path,
                lambda marker: Form(file=(f"{marker}.pdf", _content(marker))),
            )  # fmt: skip
            if shown:
                trip.attachments.append(shown["id"])

    def _delete_attachment(self, trip: PlayedTrip) -> None:
        found = self._one(trip.attachments)
        if found is not None:
            caller, path = self._anybody(trip), f"/attachments/{found}"
            self._send(Act.DELETE_ATTACHMENT, caller, found, "DELETE", path)


def _content(marker: str) -> bytes:
    return PDF + marker.encode()


def wrong_files(
    read: Callable[[str], httpx.Response], journal: Journal, entries: Iterable[Entry]
) -> Iterator[tuple[str, Request]]:
    """What is wrong with the files of expenses that are left; `read` asks as an administrator."""
    last = {(entry.table, entry.row): entry.new for entry in entries}
    for request in journal.requests:
        if request.act is not Act.ATTACH or not request.succeeded:
            continue
        [file] = request.created
        kept = last.get(("attachments_attachment", file))
        if not kept or not last["splits_expense", kept["expense_id"]]:
            continue
        if last["trips_trip", kept["trip_id"]]["deleted_at"]:
            continue
        listed = read(f"/expenses/{kept['expense_id']}/attachments?pageSize=100").json()["items"]
        if file not in [shown["id"] for shown in listed]:
            yield "A file is not listed.", request
        if read(f"/attachments/{file}/content").content != _content(request.marker):
            yield "A file is not what was sent.", request
