"""Whatever a form of these clients contains, it breaks nothing, and nothing is half done."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.splitwise.tests.conftest import BASE, FORM, urlencode
from splits.models import Expense, Settlement

pytestmark = pytest.mark.either

PATHS = ("create_expense", "create_group", "create_friend", "create_friends", "create_comment")
NAMES = st.sampled_from(
    [
        *("cost", "description", "group_id", "payment", "split_equally", "date", "currency_code"),
        *("category_id", "name", "group_type", "user_email", "user_first_name", "expense_id"),
        *("content", "details", "repeat_interval", "friends__0__email", "users__-1__user_id"),
        *(f"users__{i}__{name}" for i in (0, 1, 999_999) for name in ("user_id", "paid_share")),
        *(f"users__{i}__{name}" for i in (0, 1) for name in ("id", "owed_share", "email")),
    ]
)
VALUES = st.one_of(
    st.sampled_from(["", "0", "-1", "true", "1e9", "NaN", "0.005", "9" * 30, "2026-02-30", "EUR"]),
    st.integers(-1, 10).map(str),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@settings(max_examples=60)
@given(path=st.sampled_from(PATHS), body=st.dictionaries(NAMES, VALUES, max_size=8))
def test_no_form_breaks_the_service(calling, trip, olga, path, body):
    caller = calling(olga)
    before = Expense.objects.count() + Settlement.objects.count()
    body = {"group_id": str(trip.pk), "cost": "5", "description": "x", **body}
    answer = caller.http.post(f"{BASE}/{path}", urlencode(body), content_type=FORM)
    assert answer.status_code < 500, answer.content
    after = Expense.objects.count() + Settlement.objects.count()
    is_done = answer.status_code == 200 and bool(answer.json().get("expenses"))
    assert after == before + is_done
    olga.scoped_tokens.all().delete()
