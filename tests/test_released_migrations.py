"""Migrations of what was released keep their names, because databases have recorded them.

One that was squashed is in the `replaces` of another.
"""

import pytest
from django.db.migrations.loader import MigrationLoader

pytestmark = pytest.mark.once

#: By app. A release adds those that it brings.
RELEASED = {
    "kit": """
        0001_initial 0002_initial 0003_schema_floor 0004_indexes
    """,
    "users": """
        0001_initial 0002_second_factor 0003_guests 0004_invitations 0005_notices
        0006_mail_expense 0007_mail_trip 0008_webhooks 0009_wal_position
    """,
    "trips": """
        0001_initial 0002_initial 0003_invitations 0004_claims 0005_journal 0006_indexes
        0007_deleted_trips 0008_index_of_deleted_trips
    """,
    "splits": """
        0001_initial 0002_initial 0003_initial 0004_merged 0005_restore 0006_comments
        0007_webhooks 0008_audit_snapshot 0009_indexes 0010_payer_trip 0011_split_trip
        0012_allocation_trip 0013_closedsum_trip 0014_comment_trip 0015_fill_trips
    """,
}


@pytest.mark.parametrize("app", RELEASED)
def test_what_was_released_is_neither_renamed_nor_forgotten(app):
    known = MigrationLoader(None).disk_migrations
    replaced = {key for migration in known.values() for key in migration.replaces}
    assert {(app, name) for name in RELEASED[app].split()} <= {*known, *replaced}
