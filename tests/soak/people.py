"""Moves with guests and invitations."""

from typing import Any

from tests.soak.journal import Act
from tests.soak.moves import Moves
from tests.soak.world import PlayedTrip

_ROLES = ("OWNER", "EDITOR", "EDITOR", "VIEWER")


class PeopleMoves(Moves):
    """Adds, renames, removes, merges and claims guests; makes and accepts invitations."""

    def _add_guest(self, trip: PlayedTrip) -> None:
        path = f"/trips/{trip.id}/guests"
        shown = self._send(
            Act.ADD_GUEST, self._anybody(trip), trip.id, "POST", path,
            lambda marker: {"name": marker},
        )  # fmt: skip
        if shown:
            trip.guests.append(shown["user"]["id"])

    def _rename_guest(self, trip: PlayedTrip) -> None:
        guest = self._one(trip.guests)
        if guest is not None:
            key, path = (trip.id, guest), f"/trips/{trip.id}/guests/{guest}"
            self._send(
                Act.RENAME_GUEST, self._anybody(trip), key, "PUT", path,
                lambda marker: {"name": marker},
            )  # fmt: skip

    def _remove_guest(self, trip: PlayedTrip) -> None:
        guest = self._one(trip.guests)
        if guest is not None:
            key, path = (trip.id, guest), f"/trips/{trip.id}/members/{guest}"
            self._send(Act.REMOVE_MEMBER, self._manager(trip), key, "DELETE", path)

    def _merge_guest(self, trip: PlayedTrip) -> None:
        guest = self._one(trip.guests)
        if guest is not None:
            key, path = (trip.id, guest), f"/trips/{trip.id}/guests/{guest}/merge"
            body = {"userId": self._random.choice([*trip.named, self._target(trip).id])}
            self._send(Act.MERGE_GUEST, self._manager(trip), key, "POST", path, body)

    def _invite(self, trip: PlayedTrip) -> None:
        body: dict[str, Any] = {"role": self._random.choice(_ROLES)}
        if self._random.random() < 0.5:
            body["maxUses"] = self._random.choice([1, 1, 2])
        guest = self._one(trip.guests)
        if guest is not None and self._random.random() < 0.6:
            body["guestUserId"] = guest
        caller = self._random.choice([self._manager(trip), self._anybody(trip)])
        path = f"/trips/{trip.id}/invitations"
        shown = self._send(Act.INVITE, caller, trip.id, "POST", path, body)
        if shown:
            trip.invitations.append((shown["id"], shown["token"]))

    def _revoke_invitation(self, trip: PlayedTrip) -> None:
        found = self._one(trip.invitations)
        if found is not None:
            path = f"/trips/{trip.id}/invitations/{found[0]}"
            self._send(Act.REVOKE_INVITATION, self._anybody(trip), found[0], "DELETE", path)

    def _accept_invitation(self, trip: PlayedTrip) -> None:
        found = self._one(trip.invitations)
        if found is not None:
            caller = self._random.choice([self._target(trip), *trip.spenders])
            path = f"/invitations/{found[1]}/accept"
            self._send(Act.ACCEPT_INVITATION, caller, found[0], "POST", path)
