"""A trip whose only member deleted their account: nobody gets in without an owner."""

import pytest
from django.core.management import call_command

from tests.document import problem_of
from tests.factories import PASSWORD, TripFactory, UserFactory, add_guest, join
from trips.roles import TripRole


@pytest.fixture
def abandoned(api, sam):
    """A trip with a guest, whose owner has deleted their account."""
    trip, owner = TripFactory(join_role="EDITOR"), UserFactory()
    join(trip, owner, TripRole.OWNER)
    add_guest(trip)
    response = api(owner).delete("/api/users/me", {"password": PASSWORD})
    assert response.status_code == 204, response.content
    return trip


def test_an_administrator_adds_an_owner_first(api, abandoned, ada, ed, olga):
    def add(user, role):
        body = {"userId": user.pk, "role": role}
        return api(ada).post(f"/api/trips/{abandoned.pk}/members", body)

    refused = add(ed, "EDITOR")
    problem_of(refused, 409, "no_owner")
    assert add(olga, "OWNER").status_code == 201
    assert add(ed, "EDITOR").status_code == 201
    assert abandoned.members.present().count() == 3
    call_command("audit_ledger")
