"""The concurrent soak in short: real threads on the real server."""

import secrets

import pytest

from tests.server import running_server
from tests.soak.chapter import play_chapters

#: Long enough for trips to be started, used and deleted.
SECONDS = 15


@pytest.mark.slow
@pytest.mark.soak
def test_concurrent_histories_leave_no_change_without_a_right_to_it():
    seed = secrets.token_hex(4)
    with running_server(LOG_LEVEL="ERROR") as server:
        chapters = list(play_chapters(server, SECONDS, seed))
    findings = [finding for chapter in chapters for finding in chapter.findings]
    assert not findings, f"seed {seed}, {len(findings)} findings, the first:\n{findings[0]}"
    assert sum(chapter.rows for chapter in chapters) > 50
    assert {200, 201, 204, 404} <= {status for chapter in chapters for status in chapter.statuses}
