"""Tags of expenses."""

import pytest


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (["  Beach ", "fish"], ["Beach", "fish"]),
        (["by \n the\tsea"], ["by the sea"]),
        (["Fish", "beach", "FISH", "fish "], ["Fish", "beach"]),
        (["STRASSE", "straße"], ["STRASSE"]),
        (["x" * 40], ["x" * 40]),
    ],
)
def test_tags_are_trimmed_and_unique_in_the_order_in_which_they_were_entered(
    ledger, olga, sent, stored
):
    expense = ledger.spend(olga, 60, olga, tags=sent)
    assert expense["tags"] == ledger.expense(expense)["tags"] == stored


def test_journal_and_restore_know_tags(ledger, api, trip, olga):
    expense = ledger.spend(olga, 60, olga, tags=["fish"])
    ledger.change(expense, olga, tags=["fish", "beach"])
    path = f"{ledger.url}/expenses/{expense['id']}"
    client = api(olga)
    [changed] = ledger.journal(event="expense.changed")
    assert changed.changes == {"tags": {"old": ["fish"], "new": ["fish", "beach"]}}
    assert client.delete(path).status_code == 204
    assert client.post(f"{path}/restore").json()["tags"] == ["fish", "beach"]
