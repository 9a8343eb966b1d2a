"""Money that one member handed to another: who records it, what is refused, what it covers."""

from django.utils import timezone

from tests.document import fields_in


def body(sender, receiver, amount=20, **fields):
    return {"fromUserId": sender.pk, "toUserId": receiver.pk, "amount": amount, **fields}


def test_a_settlement_is_recorded_as_it_was_sent(ledger, olga, ed, vera):
    sent = body(ed, olga, "12.345", settledOn="2026-05-20", note=" By card. ")
    response = ledger.answer(ed, "post", "settlements", sent)
    assert response.status_code == 201
    settlement = response.json()
    assert settlement.pop("credit") == 12.35
    assert response["Location"] == f"{ledger.url}/settlements/{settlement['id']}"
    assert ledger.answer(vera, "get", response["Location"]).json() == settlement
    assert settlement["tripId"] == ledger.trip.pk
    assert (settlement["from"]["id"], settlement["to"]["id"]) == (ed.pk, olga.pk)
    assert settlement["amount"] == 12.35
    assert (settlement["settledOn"], settlement["note"]) == ("2026-05-20", "By card.")
    assert settlement["createdAt"].endswith("Z")


def test_a_settlement_is_of_today_and_without_a_note_by_default(ledger, olga, ed):
    settlement = ledger.settle(ed, olga, 1)
    assert settlement["settledOn"] == f"{timezone.now():%Y-%m-%d}"
    assert settlement["note"] == ""


def test_nobody_settles_with_themselves(ledger, ed):
    assert fields_in(ledger.answer(ed, "post", "settlements", body(ed, ed))) == ["toUserId"]


def test_both_sides_are_members(ledger, olga, vera, sam):
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    for other in (sam, vera):
        for sent, field in ((body(other, olga), "fromUserId"), (body(olga, other), "toUserId")):
            assert fields_in(ledger.answer(olga, "post", "settlements", sent)) == [field]


def test_it_may_be_dated_ahead(ledger, olga, ed):
    response = ledger.answer(ed, "post", "settlements", body(ed, olga, settledOn="9999-01-01"))
    assert (response.status_code, response.json()["settledOn"]) == (201, "9999-01-01")
    assert ledger.balance(ed) == 20
