"""A preview answers what would be recorded, to the cent, and records nothing."""

import pytest

from splits.models import Expense, Split
from tests.document import fields_in

pytestmark = pytest.mark.either


def test_a_preview_is_what_is_recorded_next(ledger, olga, ed, vera):
    for amount in (100, 100, "0.02", 1000.01):
        body = ledger.expense_body(amount, olga, ed, vera)
        preview = ledger.answer(olga, "post", "expenses/preview", body).json()
        expense = ledger.answer(olga, "post", "expenses", body).json()
        assert [(split["participant"], split["amount"]) for split in preview["splits"]] == [
            (split["participant"], split["amount"]) for split in expense["splits"]
        ]
        for name in ("amount", "currency", "tripAmount", "tripCurrency", "exchangeRate"):
            assert preview[name] == expense[name]


def test_a_preview_records_nothing(ledger, olga, ed):
    body = ledger.expense_body(100, olga, ed)
    assert ledger.answer(olga, "post", "expenses/preview", body).status_code == 200
    assert not Expense.objects.exists()
    assert not Split.objects.exists()
    assert set(ledger.balances().values()) == {0}


def test_a_preview_says_who_would_owe_whom(ledger, olga, ed, vera):
    payers = [{"userId": olga.pk, "amount": 60}, {"userId": ed.pk, "amount": 30}]
    body = ledger.expense_body(90, olga, ed, vera, payers=payers)
    preview = ledger.answer(olga, "post", "expenses/preview", body).json()
    owed = [(d["from"]["id"], d["to"]["id"], d["amount"]) for d in preview["debts"]]
    assert owed == [(vera.pk, olga.pk, 30)]


def test_a_preview_refuses_what_recording_refuses(ledger, olga, ed, sam):
    for fields, field in (
        ({"participantUserIds": [sam.pk]}, "participantUserIds"),
        ({"amount": 0}, "amount"),
        ({"splitType": "PERCENTAGE", "splitAmounts": {str(ed.pk): 99}}, "splitAmounts"),
    ):
        refused = ledger.answer(
            olga, "post", "expenses/preview", ledger.expense_body(90, ed) | fields
        )
        assert fields_in(refused) == [field]
