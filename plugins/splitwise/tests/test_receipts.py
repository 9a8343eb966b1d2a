"""Receipts that clients of Splitwise's API send in a form become attachments."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from plugins.attachments.models import Attachment
from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.pictures import PDF, picture
from plugins.splitwise.tests.conftest import BASE, FORM, shares
from splits.models import Expense, Settlement
from tests.factories import settle, spend

pytestmark = pytest.mark.either

NONE = {"large": None, "original": None}


def send(caller, path, content, status=200, **body):
    """The answer to a form with a receipt."""
    file = SimpleUploadedFile("taxi.pdf", content) if isinstance(content, bytes) else content
    key = {name: body.pop(name) for name in ("HTTP_IDEMPOTENCY_KEY",) if name in body}
    form = encode_multipart(BOUNDARY, {**body, "receipt": file})
    answer = caller.http.generic(
        "POST", f"{BASE}/{path}", form, content_type=MULTIPART_CONTENT, **key
    )
    assert answer.status_code == status, answer.content
    return answer.json()


@pytest.fixture
def new(trip):
    return {"cost": "5", "description": "x", "group_id": trip.pk, "split_equally": "1"}


def test_a_receipt_is_an_attachment_of_the_expense(calling, api, trip, olga, new):
    caller = calling(olga)
    made = send(caller, "create_expense", PDF, **new)["expenses"][0]
    row = Attachment.objects.get()
    assert (row.expense_id, row.trip_id, row.name) == (made["id"], trip.pk, "taxi.pdf")
    address = f"http://testserver/api/attachments/{row.pk}/content"
    assert made["receipt"] == {"large": address, "original": address}
    content = caller.http.get(address)
    assert (content.status_code, content.getvalue()) == (200, PDF)
    assert caller.get("get_expenses")["expenses"][0]["receipt"] == made["receipt"]
    caller.done(f"delete_expense/{made['id']}")
    assert caller.get(f"get_expense/{made['id']}")["expense"]["receipt"] == NONE
    caller.done(f"undelete_expense/{made['id']}")
    assert caller.get(f"get_expense/{made['id']}")["expense"]["receipt"] == made["receipt"]


def test_another_receipt_is_shown_in_its_place(calling, olga, new):
    caller = calling(olga)
    made = send(caller, "create_expense", PDF, **new)["expenses"][0]
    path = f"update_expense/{made['id']}"
    changed = send(caller, path, picture())["expenses"][0]
    assert changed["receipt"]["large"] not in {None, made["receipt"]["large"]}
    assert changed["updated_by"]["id"] == olga.pk
    # What a client sends back is no file.
    kept = send(caller, path, str(made["receipt"]), description="y")["expenses"][0]
    assert (kept["receipt"], kept["description"]) == (changed["receipt"], "y")
    assert Attachment.objects.count() == 2


def test_a_refused_receipt_or_expense_leaves_nothing(calling, trip, olga, ed, vera, new, folder):
    expense, payment = spend(trip, 100, paid_by=olga, among=[olga]), settle(trip, ed, olga, 5)
    paid = {**new, **shares({ed: "5"}, {olga: "5"}), "payment": "1", "split_equally": ""}
    for caller, path, content, body in (
        (olga, "create_expense", b"MZ\x90\x00\x03 not a picture", new),
        (olga, "create_expense", b"", new),
        (olga, "create_expense", PDF, {**new, "cost": "0"}),
        (olga, "create_expense", PDF, paid),
        (olga, f"update_expense/{2**52 + payment.pk}", PDF, {}),
        (olga, f"update_expense/{expense.pk}", PDF, {"split_equally": "1"}),
        (vera, "create_expense", PDF, new),
        (ed, f"update_expense/{expense.pk}", PDF, {}),
    ):
        assert send(calling(caller), path, content, **body)["errors"], path
    assert Expense.objects.count() == Settlement.objects.count() == 1
    assert not Attachment.objects.exists()
    assert stored(folder) == []


def test_a_full_quota_refuses_the_expense_too(calling, olga, new, settings):
    settings.QUOTA_ATTACHMENTS = 0
    assert "base" in send(calling(olga), "create_expense", PDF, **new)["errors"]
    assert not Expense.objects.exists()


def test_a_repeat_with_its_key_attaches_nothing_again(calling, olga, new, folder):
    caller = calling(olga)
    answers = [send(caller, "create_expense", PDF, **new, HTTP_IDEMPOTENCY_KEY="k") for _ in "ab"]
    assert answers[0] == answers[1]
    assert Expense.objects.count() == Attachment.objects.count() == len(stored(folder)) == 1
    send(caller, "create_expense", PDF + b" ", 422, **new, HTTP_IDEMPOTENCY_KEY="k")
    assert len(stored(folder)) == 1


def test_uploads_and_their_sizes_are_limited(calling, olga, new, limits):
    caller = calling(olga)
    large = PDF + b" " * 2 * 1024 * 1024
    assert send(caller, "create_expense", large, **new)["expenses"]
    send(caller, "create_expense", PDF + b" " * 10 * 1024 * 1024, 413, **new)
    send(caller, "create_group", large, 413, name="x")
    body = b"cost=5&details=" + b"a" * 2 * 1024 * 1024
    path = f"{BASE}/create_expense"
    assert caller.http.generic("POST", path, body, content_type=FORM).status_code == 413
    limits(upload="1/hour")
    send(caller, "create_expense", PDF, **new)
    send(caller, "create_expense", PDF, 429, **new)
    caller.done("create_expense", **new)


def test_lists_of_receipts_take_a_constant_number_of_statements(
    calling, olga, new, django_assert_max_num_queries
):
    caller = calling(olga)
    for _time in range(3):
        send(caller, "create_expense", PDF, **new)
    caller.get("get_expenses")
    with django_assert_max_num_queries(15):
        assert len(caller.get("get_expenses")["expenses"]) == 3
