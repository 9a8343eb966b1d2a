"""A trip with budgets for categories."""

from typing import Any

from trips.models import Trip

BUDGETS = {"FOOD": 200.5, "TRANSPORT": "33.335"}


def with_budgets(trip: Trip, client: Any) -> Trip:
    """`trip` with `BUDGETS`, which its owner stores and gets back exactly."""
    response = client.patch(f"/api/trips/{trip.pk}", {"categoryBudgets": BUDGETS})
    assert response.status_code == 200, response.content
    assert b'"categoryBudgets":{"FOOD":200.50,"TRANSPORT":33.34}' in response.content
    trip.refresh_from_db()
    return trip
