"""What the soak has of invitations is as the API has it."""

import pytest

from plugins.invitations.views import InvitationViewSet
from tests.soak.journal import Act


@pytest.mark.once
def test_the_judge_asks_for_the_capability_that_the_api_asks_for() -> None:
    assert Act.INVITE.can == InvitationViewSet.needs["create"]
    assert Act.REVOKE_INVITATION.can == InvitationViewSet.needs["destroy"]
