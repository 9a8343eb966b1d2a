"""What plugins add to the words of a token or of an account has room in the database."""

import pytest

from tests.factories import overwrite
from tests.scoped import script_of
from users.models import ScopedToken, User

pytestmark = pytest.mark.postgresql  # SQLite enforces no length

WORDS = " ".join(f"area{number}:write" for number in range(1000))


def test_a_token_may_have_the_scopes_of_many_plugins(olga):
    rows = ScopedToken.objects.filter(pk=script_of(olga, "trips:read").pk)
    rows.update(scope_words=WORDS)
    assert rows.get().scopes == WORDS.split()


def test_an_account_may_want_the_notices_of_many_plugins(olga):
    overwrite(olga, notice_events=WORDS)
    assert User.objects.get(pk=olga.pk).notice_events == WORDS
