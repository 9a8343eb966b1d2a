"""The database stores all texts of Unicode."""

import os
import secrets
import subprocess
import sys
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.conf import settings

from tests.migrated import administrator
from tests.server import ROOT


@pytest.mark.postgresql
def test_a_database_of_another_encoding_is_refused():
    name = f"tripcompanion_ascii_{secrets.token_hex(4)}"
    url = urlunsplit(urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}"))
    with administrator(settings.DATABASE_URL) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING SQL_ASCII LOCALE 'C'")
        try:
            refused = subprocess.run(
                [sys.executable, "manage.py", "migrate_safely"],
                cwd=ROOT,
                env=os.environ | {"DATABASE_URL": url},
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    said = "CommandError: Create the database with ENCODING 'UTF8': it has SQL_ASCII."
    assert (refused.returncode, refused.stderr.strip()) == (1, said)
