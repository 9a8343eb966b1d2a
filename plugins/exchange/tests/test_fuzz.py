"""Files that were damaged at random cause no internal error; a refusal writes nothing."""

import io
import json
import random
from copy import deepcopy
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.exchange.models import Import, ImportedRow
from plugins.exchange.tests.conftest import send_form
from plugins.exchange.tests.copies import file_of
from plugins.exchange.tests.samples import IHATEMONEY_CSV, SAMPLES
from plugins.recurring.models import Recurrence
from splits.reports.audit import differences
from tests.cast import client_of
from tests.stored import rolled_back
from trips.models import Trip

pytestmark = pytest.mark.either

REFUSALS = {"unreadable", "unknown_format"}
CONTENTS = [IHATEMONEY_CSV, *(content for content, _balances in SAMPLES.values())]
JSON = [content for content in CONTENTS if content[0] in "{["]
CSV = [content for content in CONTENTS if content not in JSON]
#: What stands where something else is expected; one is the code that ISO 4217 has for no currency.
CELLS = (
    "", " ", "-", "0", "-1", "1e9", "1e99", "1e-9", "NaN", "1,5", "1.234", "1.234,5", "'=1",
    "2026-02-30", "0001-01-01", "9999-12-31", "EUR", "XYZ", "XXX", ";;", ",,", "１２", "−5", "Ana",
    "\n", "\t", '"', "[]", "{}", "null", "<b>", "Ana;Ana", "\u202e", "\ud83c", "9" * 30, "x" * 300,
)  # fmt: skip
VALUES = (
    *(None, True, False, 0, -1, 1, 10**20, -(10**12), 1.5, -0.001, 1e-9, 1e15),
    *("", "x", "NaN", "1e99", "2026-13-01", "0001-01-01T00:00:00Z", "EUR", "JPY", "KWD", "\x01"),
    *([], {}, [[]], [None], {"": 1}, {"id": 1}, "x" * 300, "p1", "1"),
)


def damaged_csv(text, chance):
    """A file of which lines, cells, marks and bytes were changed."""
    lines = text.splitlines(keepends=True)
    for _turn in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        cells = lines[at].rstrip("\n").split(",")
        change = chance.randrange(7)
        if change == 0:
            lines.insert(at, chance.choice(lines))
        elif change == 1 and len(lines) > 1:
            del lines[at]
        elif change == 2:
            lines[at] = lines[at].replace(",", ";")
        elif change == 3:
            lines[at] = lines[at].replace('"', chance.choice(["", '""', "'"]))
        else:
            cells[chance.randrange(len(cells))] = chance.choice(CELLS)
            lines[at] = ",".join(cells) + "\n"
    return damaged_bytes("".join(lines), chance)


def damaged_json(text, chance):
    """A file of which values and names were changed."""
    value = json.loads(text)
    for _turn in range(chance.randint(1, 4)):
        within = value
        while isinstance(within, dict | list) and within:
            keys = list(within) if isinstance(within, dict) else range(len(within))
            key = chance.choice(keys)
            if not isinstance(within[key], dict | list) or chance.random() < 0.3:
                _damage(within, key, chance)
                break
            within = within[key]
    return damaged_bytes(json.dumps(value, ensure_ascii=chance.random() < 0.5), chance)


def _damage(within, key, chance):
    change = chance.randrange(4)
    if change == 0:
        del within[key]
    elif change == 1 and isinstance(within, list):
        within.append(deepcopy(within[key]))
    elif change == 2 and isinstance(within, dict):
        within[chance.choice(list(within))] = deepcopy(within[key])
    else:
        within[key] = deepcopy(chance.choice(VALUES))


def damaged_bytes(text, chance):
    encoding = chance.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"])
    data = bytearray(text.encode(encoding, "replace"))
    if data and chance.random() < 0.1:
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data[: chance.randrange(len(data) + 1)] if chance.random() < 0.05 else data)


def refused_or_planned(user, content):
    """Send a file; confirm it if it can be planned."""
    client = client_of(user)
    before = Import.objects.count(), ImportedRow.objects.count(), Trip.objects.count()
    answer = send_form(client, content, currency="EUR", asNewTrip=True)
    if answer.status_code == 201:
        done = client.post(f"{answer['Location']}/confirm")
        assert done.status_code == 200, (content, done.json())
        assert client.get(f"{answer['Location']}/rows?pageSize=100").status_code == 200
        assert client.post(f"{answer['Location']}/undo").status_code == 200
        return
    assert answer.status_code == 400, (content, answer.content)
    assert answer.json()["code"] in REFUSALS, (content, answer.content)
    assert (Import.objects.count(), ImportedRow.objects.count(), Trip.objects.count()) == before


FUZZ = settings(
    # `make fuzz-imports` takes the profile, and many more.
    max_examples=500 if settings.get_current_profile_name() == "soak" else 50
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "damage"), [(CSV, damaged_csv), (JSON, damaged_json)], ids=["csv", "json"]
)
@given(st.integers(0, 2**32))
@FUZZ
def test_a_damaged_file_is_refused_or_planned(olga, files, damage, seed):
    chance = random.Random(seed)
    refused_or_planned(olga, damage(chance.choice(files), chance))


@pytest.fixture
def exported(api, lived, olga, ed):
    """The file of a trip with everything that a file can have."""
    people = {"splitType": "SHARES", "splitAmounts": {str(olga.pk): 1, str(ed.pk): 2}}
    body = {"description": "Rent", "amount": 9, "participantUserIds": [olga.pk, ed.pk], **people}
    rule = {"rule": "FREQ=MONTHLY;BYMONTHDAY=-1", "startsOn": timezone.now().date().isoformat()}
    rent = api(olga).post(f"/api/trips/{lived.pk}/recurring", {**rule, "expense": body}).json()
    api(olga).post(f"/api/trips/{lived.pk}/recurring/{rent['id']}/skip", {"date": rent["next"][3]})
    return file_of(api, lived, olga).decode()


@pytest.mark.slow
@given(st.integers(0, 2**32), st.booleans())
@FUZZ
def test_a_damaged_file_of_ours_becomes_a_sound_trip_or_none(olga, exported, other, seed, is_new):
    client, before = client_of(olga), Trip.objects.count()
    options: dict[str, Any] = {"asNewTrip": True} if is_new else {"tripId": other.pk}
    answer = send_form(client, damaged_json(exported, random.Random(seed)), **options)
    if answer.status_code == 201:
        answer = client.post(f"{answer['Location']}/confirm")
        assert is_new or answer.status_code == 200, answer.content
    if answer.status_code == 200:
        assert not list(differences(answer.json()["tripId"]))
        assert client.get(f"/api/trips/{answer.json()['tripId']}/recurring").status_code == 200
        with rolled_back():
            Recurrence.objects.exclude(due_at=None).update(due_at=timezone.now())
            call_command("record_recurring", stdout=io.StringIO())
            assert not list(differences(answer.json()["tripId"]))
        assert client.post(f"/api/imports/{answer.json()['id']}/undo").status_code == 200
    else:
        assert answer.status_code == 400, answer.content
        assert answer.json()["code"] in REFUSALS, answer.content
        assert Trip.objects.count() == before
