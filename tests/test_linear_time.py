"""Expressions over what strangers send take time in proportion to its length."""

import re
import time

import pytest

from tests.sources import shipped
from tripcompanion.observability.logs import without_secrets

pytestmark = pytest.mark.once

#: What makes expressions start again and again: runs that almost match.
WORST = (
    "a", "a.", "a@", "@", "%", "%4", "%40", "eyJ", "eyJ-", "eyJa.", "eyJa-b.", "tc_", "tci", "\n",
    " ", "; ", "\n ", "=", "bearer", "bearer ", "key", "key=", "token=&",
)  # fmt: skip
SHORT, LONG = 8 * 1024, 64 * 1024


def least_seconds(act, text):
    """The processor time of the fastest of several runs, which other load disturbs least."""
    times = []
    for _run in range(5):
        start = time.thread_time()
        act(text)
        times.append(time.thread_time() - start)
    return min(times)


def require_linear(act, piece):
    """Eight times the length takes a few times as long as that; a quadratic expression 64 times."""
    short, long = ((piece * size)[:size] for size in (SHORT, LONG))
    assert least_seconds(act, long) < 30 * max(least_seconds(act, short), 1e-4)


@pytest.mark.parametrize("piece", WORST)
def test_secrets_are_masked_in_linear_time(piece):
    """T189: What a stranger sends is masked in time proportional to its length."""
    require_linear(without_secrets, piece)


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("GET /x?mail=olga%40example.com", "GET /x?mail=[e-mail]"),
        ("to olga+trip@mail.example.com, ed@x", "to [e-mail], [e-mail]"),
        ("a@@b@example.com", "a@@[e-mail]"),
        ("%%20olga@example.com", "[e-mail]"),
        ('"eyJhbGc.eyJzdWIi.c2lnbmF0dXJl"', '"[token]"'),
        ("Bearer abc.def", "Bearer [token]"),
        ("password=abc&token=def", "password=[hidden]&token=[hidden]"),
    ],
)
def test_addresses_tokens_and_passwords_are_masked(line, masked):
    assert without_secrets(line) == masked


def test_no_expression_repeats_a_group_possessively():
    """Python 3.11.2, which Debian 12 has, does not find what such expressions match."""
    wrong = re.compile(r"\(\?.*\)[*+?]\+")
    found = [path for path in shipped() if wrong.search(path.read_text(encoding="utf-8"))]
    assert found == []
