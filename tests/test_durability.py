"""What is acknowledged is on the disk: neither database may answer before it is."""

import pytest
from django.conf import settings

from tests.server import running_server

SHOW = """
import json, sys
from django.db import connection
found = []
with connection.cursor() as cursor:
    for question in {questions!r}:
        cursor.execute(question)
        found.append(str(cursor.fetchone()[0]))
sys.stdout.write(json.dumps(found))
"""


def shown(server, *questions):
    program = SHOW.format(questions=questions)
    return server.manage("shell", "--no-imports", "-c", program).stdout


@pytest.mark.slow
def test_a_commit_waits_for_the_disk():
    with running_server(durable=True) as server:
        if settings.DATABASE_URL.startswith("sqlite"):
            # 2 is FULL; a log that is only written back now and then loses the last commits.
            questions = ("PRAGMA journal_mode", "PRAGMA synchronous")
            assert shown(server, *questions) == '["wal", "2"]'
        else:
            assert shown(server, "SHOW synchronous_commit") == '["on"]'
