"""Which money covers which split: oldest first, in part, as credit, and back again."""

from collections.abc import Callable

from tests.splits.book import Book
from users.models import User


def test_a_settlement_covers_the_oldest_splits_first(book: Book, olga: User, ed: User) -> None:
    oldest, middle, latest = (book.spend(olga, amount, ed) for amount in (10, 20, 30))
    book.settle(ed, olga, 25)
    assert book.paid(oldest, ed) == (True, 10)
    assert book.paid(middle, ed) == (False, 15)
    assert book.paid(latest, ed) == (False, 0)
    assert book.debt(ed) == 35
    assert book.pending(ed) == [split["splits"][0]["id"] for split in (middle, latest)]


def test_oldest_is_by_the_split_and_not_by_the_date_of_the_expense(
    book: Book, olga: User, ed: User
) -> None:
    first = book.spend(olga, 10, ed, expenseDate="2026-05-18")
    second = book.spend(olga, 10, ed, expenseDate="2026-05-14")
    book.settle(ed, olga, 10)
    assert book.paid(first, ed) == (True, 10)
    assert book.paid(second, ed) == (False, 0)


def test_several_settlements_add_up_to_a_split(book: Book, olga: User, ed: User) -> None:
    expense = book.spend(olga, 10, ed)
    book.settle(ed, olga, 3.33)
    book.settle(ed, olga, 3.33)
    assert book.paid(expense, ed) == (False, 6.66)
    book.settle(ed, olga, 3.34)
    assert book.paid(expense, ed) == (True, 10)


def test_it_covers_debts_to_its_receiver_only(book: Book, olga: User, ed: User, vera: User) -> None:
    to_vera = book.spend(olga, 10, ed, paidByUserId=vera.pk)
    to_olga = book.spend(olga, 10, ed)
    book.settle(ed, olga, 15)
    assert book.paid(to_vera, ed) == (False, 0)
    assert book.paid(to_olga, ed) == (True, 10)


def test_it_covers_debts_of_its_sender_only(book: Book, olga: User, ed: User, vera: User) -> None:
    expense = book.spend(olga, 20, ed, vera)
    book.settle(vera, olga, 20)
    assert book.paid(expense, vera) == (True, 10)
    assert book.paid(expense, ed) == (False, 0)


def test_it_covers_nothing_in_another_trip(
    book: Book, book_in: Callable[[str], Book], olga: User, ed: User
) -> None:
    other = book_in("EUR")
    expense = other.spend(olga, 10, ed)
    book.settle(ed, olga, 10)
    assert other.paid(expense, ed) == (False, 0)


def test_money_in_the_other_direction_covers_nothing(book: Book, olga: User, ed: User) -> None:
    expense = book.spend(olga, 10, ed)
    book.settle(olga, ed, 10)
    assert book.paid(expense, ed) == (False, 0)
    assert book.balance(ed) == -20


def test_what_is_left_over_covers_the_next_split_between_the_two(
    book: Book, olga: User, ed: User
) -> None:
    book.spend(olga, 10, ed)
    book.settle(ed, olga, 25)
    second, third = book.spend(olga, 8, ed), book.spend(olga, 8, ed)
    assert book.paid(second, ed) == (True, 8)
    assert book.paid(third, ed) == (False, 7)
    assert book.balance(ed) == -1


def test_credit_covers_a_split_that_is_added_by_itself(book: Book, olga: User, ed: User) -> None:
    book.settle(ed, olga, 10)
    expense = book.spend(olga, 20, olga)
    book.delete_split(expense["splits"][0], olga)
    assert book.add_split(expense, olga, ed, amount=10)["paid"]


def test_credit_is_used_oldest_first(book: Book, olga: User, ed: User) -> None:
    first, second = book.settle(ed, olga, 10), book.settle(ed, olga, 10)
    expense = book.spend(olga, 10, ed)
    book.delete_settlement(second, olga)
    assert book.paid(expense, ed) == (True, 10)
    book.delete_settlement(first, olga)
    assert book.paid(expense, ed) == (False, 0)


def test_credit_that_comes_free_does_not_cover_an_earlier_split(
    book: Book, olga: User, ed: User
) -> None:
    first, second = book.spend(olga, 10, ed), book.spend(olga, 10, ed)
    book.settle(ed, olga, 10)
    book.delete(first, olga)
    assert book.paid(second, ed) == (False, 0)
    assert book.balance(ed) == 0
    third = book.spend(olga, 10, ed)
    assert book.paid(second, ed) == (False, 0)
    assert book.paid(third, ed) == (True, 10)


def test_a_later_settlement_does_not_draw_on_earlier_credit(
    book: Book, olga: User, ed: User
) -> None:
    first, second = book.spend(olga, 10, ed), book.spend(olga, 10, ed)
    book.settle(ed, olga, 10)
    book.delete(first, olga)
    book.settle(ed, olga, 4)
    assert book.paid(second, ed) == (False, 4)


def test_pay_uses_credit_first_and_records_only_the_rest(book: Book, olga: User, ed: User) -> None:
    first, second = book.spend(olga, 10, ed), book.spend(olga, 25, ed)
    credit = book.settle(ed, olga, 10)
    book.delete(first, olga)
    assert book.pay(book.split(second, ed), ed)["paid"]
    kept, recorded = book.settlements()
    assert kept == credit
    assert recorded["amount"] == 15
    assert book.balance(ed) == 0
    third = book.spend(olga, 1, ed)
    assert book.paid(third, ed) == (False, 0)


def test_pay_records_nothing_where_credit_is_enough(book: Book, olga: User, ed: User) -> None:
    first, second = book.spend(olga, 10, ed), book.spend(olga, 8, ed)
    credit = book.settle(ed, olga, 10)
    book.delete(first, olga)
    assert book.pay(book.split(second, ed), ed)["paid"]
    assert book.settlements() == [credit]
    assert book.paid(book.spend(olga, 2, ed), ed) == (True, 2)


def test_pay_records_only_what_a_settlement_left_open(book: Book, olga: User, ed: User) -> None:
    expense = book.spend(olga, 10, ed)
    book.settle(ed, olga, 4)
    book.pay(book.split(expense, ed), ed)
    assert [settlement["amount"] for settlement in book.settlements()] == [4, 6]


def test_unpay_gives_back_as_credit_what_pay_did_not_record(
    book: Book, olga: User, ed: User
) -> None:
    expense = book.spend(olga, 10, ed)
    entered = book.settle(ed, olga, 4)
    book.pay(book.split(expense, ed), ed)
    book.unpay(book.split(expense, ed), ed)
    assert book.paid(expense, ed) == (False, 0)
    assert book.settlements() == [entered]
    assert book.balance(ed) == -6
    assert book.paid(book.spend(olga, 5, ed), ed) == (False, 4)


def test_pay_after_unpay_uses_the_credit_again(book: Book, olga: User, ed: User) -> None:
    expense = book.spend(olga, 10, ed)
    entered = book.settle(ed, olga, 10)
    split = book.unpay(book.split(expense, ed), ed)
    assert not split["paid"]
    assert book.pay(split, ed)["paid"]
    assert book.settlements() == [entered]


def test_deleting_a_settlement_opens_what_it_covered(book: Book, olga: User, ed: User) -> None:
    first, second = book.spend(olga, 10, ed), book.spend(olga, 20, ed)
    settlement = book.settle(ed, olga, 25)
    book.delete_settlement(settlement, olga)
    assert book.paid(first, ed) == (False, 0)
    assert book.paid(second, ed) == (False, 0)
    assert book.balance(ed) == -30
    assert book.answer(olga, "delete", f"settlements/{settlement['id']}").status_code == 404


def test_deleting_what_pay_recorded_opens_the_split(book: Book, olga: User, ed: User) -> None:
    expense = book.spend(olga, 10, ed)
    split = book.pay(book.split(expense, ed), ed)
    book.delete_settlement(book.settlements()[0], olga)
    assert book.paid(expense, ed) == (False, 0)
    assert not book.unpay(split, ed)["paid"]


def test_deleting_a_split_leaves_money_that_was_entered_as_credit(
    book: Book, olga: User, ed: User
) -> None:
    expense = book.spend(olga, 10, ed)
    entered = book.settle(ed, olga, 4)
    book.delete_split(book.pay(book.split(expense, ed), ed), olga)
    assert book.settlements() == [entered]
    assert book.balance(ed) == 4
    assert book.paid(book.spend(olga, 5, ed), ed) == (False, 4)


def test_deleting_an_expense_leaves_money_that_was_entered_as_credit(
    book: Book, olga: User, ed: User
) -> None:
    expense = book.spend(olga, 10, ed)
    entered = book.settle(ed, olga, 10)
    book.delete(expense, olga)
    assert book.settlements() == [entered]
    assert book.balance(ed) == 10
    assert book.paid(book.spend(olga, 10, ed), ed) == (True, 10)


def test_a_split_that_is_covered_in_the_end_is_paid_since_then(
    book: Book, olga: User, ed: User
) -> None:
    expense = book.spend(olga, 10, ed)
    book.settle(ed, olga, 4)
    assert book.split(expense, ed)["paidAt"] is None
    book.settle(ed, olga, 6)
    paid_at = book.split(expense, ed)["paidAt"]
    book.settle(ed, olga, 6)
    assert book.split(expense, ed)["paidAt"] == paid_at
