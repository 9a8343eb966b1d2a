"""The fields of a trip and of an invitation in the journal, as the API shows them."""

from typing import TYPE_CHECKING, Any

from tripcompanion.currency.amounts import to_major

if TYPE_CHECKING:
    from trips.models.invitation import Invitation
    from trips.models.trip import Trip


def trip_fields(trip: "Trip") -> dict[str, Any]:
    """The fields of a trip that people enter, and its code."""
    budget_minor = trip.budget_minor
    return {
        "title": trip.title,
        "destination": trip.destination,
        "description": trip.description,
        "imageUrl": trip.image_url,
        "startDate": trip.start_date,
        "endDate": trip.end_date,
        "budget": None if budget_minor is None else to_major(budget_minor, trip.currency),
        "currency": trip.currency,
        "joinRole": trip.join_role,
        "tripCode": trip.code,
    }


def invitation_fields(invitation: "Invitation") -> dict[str, Any]:
    """The fields of an invitation, without its address.

    That is of somebody who may have no account, and the journal would keep it for ever.
    """
    return {
        "role": invitation.role,
        "guestUserId": invitation.guest_id,
        "expiresAt": invitation.expires_at,
        "maxUses": invitation.max_uses,
        "note": invitation.note,
    }
