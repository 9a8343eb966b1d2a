"""What the soak has of invitations is as the API has it."""

import pytest

from plugins.invitations.views import CodeViewSet, InvitationViewSet
from tests.soak.journal import Act


@pytest.mark.once
def test_the_judge_asks_for_the_capability_that_the_api_asks_for() -> None:
    assert Act.INVITE.can == InvitationViewSet.needs["create"]
    assert Act.RENEW_CODE.can == CodeViewSet.needs["renew_code"]
    assert Act.JOIN.can == CodeViewSet.needs["join"]
    assert Act.REVOKE_INVITATION.can == InvitationViewSet.needs["destroy"]
