"""Expenses that are recorded on each date of a rule."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from plugins.due import RETRY_AFTER
from plugins.recurring import models
from plugins.recurring.models import Recurrence
from splits.models import DailyRate, Expense
from tests.document import problem_of
from tests.factories import add_guest, overwrite
from tests.pages import page_of, text_of
from tests.splits.journey import Journey, sign_up
from tests.splits.test_audit import audit
from trips.models import Member, Trip
from trips.signals import person_replaced
from users.models import Mail

Json = dict[str, Any]


def day(days):
    """So many days from today, in UTC."""
    return (timezone.now().date() + timedelta(days=days)).isoformat()


@pytest.fixture
def rent(ledger, olga, ed):
    """Olga's rent of the last three days, with Ed."""
    body = ledger.expense_body(850.5, olga, ed)
    del body["expenseDate"]
    return {"rule": "FREQ=DAILY;COUNT=3", "startsOn": day(-2), "expense": body}


@pytest.fixture
def post(ledger):
    """`post(olga, "", body)` to the recurring expenses of the trip."""

    def send(user, path="", body=None, method="post"):
        return ledger.answer(user, method, f"recurring{path}", body)

    return send


def made(post, user, body):
    answer = post(user, "", body)
    assert answer.status_code == 201, answer.content
    return answer.json()


def run():
    out = StringIO()
    call_command("record_recurring", stdout=out)
    return out.getvalue()


def recorded():
    days = Expense.objects.order_by("expense_date").values_list("expense_date", flat=True)
    return [one.isoformat() for one in days]


def test_each_date_that_has_come_is_recorded_once(post, rent, olga, ed):
    """T203: A recurring expense is recorded once for each date."""
    started = made(post, olga, rent)
    assert started["next"] == [day(-2), day(-1), day(0)]
    assert (started["state"], started["timeZone"]) == ("on", "UTC")
    assert started["expense"]["amount"] == 850.5
    assert started["expense"]["paidByUserId"] == olga.pk
    assert run() == "3 expenses recorded.\n"
    assert recorded() == [day(-2), day(-1), day(0)]
    assert run() == "0 expenses recorded.\n"
    ended = post(ed, f"/{started['id']}", method="get").json()
    assert (ended["state"], ended["next"]) == ("ended", [])
    [first, *_others] = Expense.objects.with_details().order_by("expense_date")
    assert (first.created_by, first.paid_by, first.amount_minor) == (olga, olga, 85050)
    assert audit() == ""


def test_the_database_has_each_date_once(post, rent, olga, trip):
    started = Recurrence.objects.get(pk=made(post, olga, rent)["id"])
    run()
    with pytest.raises(IntegrityError, match=r"occurrence_once|UNIQUE"), transaction.atomic():
        started.occurrences.create(trip=trip, day=day(0))


def test_tomorrow_is_not_recorded_today(post, rent, olga):
    made(post, olga, rent | {"startsOn": day(1)})
    assert run() == "0 expenses recorded.\n"


def test_a_day_begins_in_its_time_zone(post, rent, olga):
    zone = {"timeZone": "Pacific/Kiritimati", "startsOn": "2026-11-20", "rule": "FREQ=DAILY"}
    started = made(post, olga, rent | zone | {"startsOn": day(10)})
    due_at = Recurrence.objects.get(pk=started["id"]).due_at
    assert due_at is not None
    assert datetime.fromisoformat(day(10)).replace(tzinfo=UTC) - due_at == timedelta(hours=14)


def test_a_rule_that_ends_in_utc_ends_in_its_time_zone(post, rent, olga):
    first, end = day(10), f"{day(11)}T060000Z".replace("-", "")
    body = rent | {"rule": f"FREQ=DAILY;UNTIL={end}", "startsOn": first}
    for zone, dates in (
        ("UTC", [first, day(11)]),
        ("Pacific/Honolulu", [first]),
        ("Pacific/Kiritimati", [first, day(11)]),
    ):
        assert post(olga, "/preview", body | {"timeZone": zone}).json()["next"] == dates


def test_a_preview_has_the_dates_and_the_division_and_stores_nothing(post, rent, olga):
    body = rent | {"rule": "FREQ=MONTHLY;BYMONTHDAY=-1", "startsOn": day(0)}
    shown = post(olga, "/preview", body)
    assert shown.status_code == 200, shown.content
    assert len(shown.json()["next"]) == 10
    for one in map(date.fromisoformat, shown.json()["next"]):
        assert (one + timedelta(days=1)).day == 1
    assert [row["amount"] for row in shown.json()["preview"]["splits"]] == [425.25, 425.25]
    assert not Recurrence.objects.exists()


WRONG_RULES = (
    "FREQ=HOURLY", "FREQ=SECONDLY", "FREQ=DAILY;BYHOUR=1,2", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;UNTIL=20200101", "FREQ=DAILY;UNTIL=20209901",
    "FREQ=DAILY;COUNT=2;UNTIL=20300101", "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;INTERVAL=0",
    "FREQ=WEEKLY;BYDAY=1MO", "FREQ=WEEKLY;BYMONTHDAY=1", "FREQ=DAILY;COUNT=1000000",
    "FREQ=DAILY;COUNT=0", "FREQ=DAILY;INTERVAL=1000000", "FREQ=DAILY;UNTIL=99999999",
    "FREQ=DAILY;UNTIL=20301301T000000Z", "FREQ=DAILY;UNTIL=20300101T250000Z",
    "FREQ=YEARLY;BYWEEKNO=20", "FREQ=YEARLY;BYYEARDAY=1;BYEASTER=0", "FREQ=MINUTELY;INTERVAL=1",
    "FREQ=DAILY;BYSECOND=0,1,2", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=300",
    "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6,9,11",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29,30;BYSETPOS=3", "FREQ=DAILY;BYSETPOS=1;BYMONTHDAY=1",
    "FREQ=MONTHLY;BYSETPOS=0;BYDAY=MO", "FREQ=YEARLY;BYSETPOS=367;BYDAY=MO",
    "FREQ=MONTHLY;BYSETPOS=1,-999;BYDAY=MO", "FREQ=DAILY;DTSTART=20260101",
    "RRULE:RRULE:FREQ=DAILY", "FREQ=DAILY;;", "FREQ=MONTHLY;BYSETPOS=1", "FREQ=MONTHLY;BYDAY=60MO",
    "FREQ=MONTHLY;BYDAY=MO,1TU", "FREQ=YEARLY;BYDAY=-1FR,FR;BYMONTH=3", "INTERVAL=2",
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field"),
    [
        *(({"rule": rule}, "rule") for rule in WRONG_RULES),
        ({"rule": "FREQ=DAILY;UNTIL=00010101T000000Z", "timeZone": "America/New_York"}, "rule"),
        ({"rule": "FREQ=DAILY;BYMONTHDAY=" + ",".join(["1"] * 200)}, "rule"),
        ({"rule": "FREQ=DAILY\nDTSTART:20260101"}, "rule"),
        ({"timeZone": "Mars/Olympus"}, "timeZone"),
        ({"timeZone": "../etc/passwd"}, "timeZone"),
        ({"startsOn": "1999-01-01"}, "startsOn"),
        ({"startsOn": "9999-01-01"}, "startsOn"),
    ],
)
def test_what_makes_no_sense_is_refused(post, rent, olga, change, field):
    for path in ("", "/preview"):
        refused = post(olga, path, rent | change)
        assert refused.status_code == 400, refused.content
        assert field in refused.json()["errors"]
    assert not Recurrence.objects.exists()


def test_the_expense_is_checked_as_when_it_is_recorded(post, rent, olga, sam):
    for wrong, field in (
        ({"amount": 0}, "amount"),
        ({"participantUserIds": [sam.pk]}, "participantUserIds"),
        ({"paidByUserId": sam.pk}, "paidByUserId"),
        ({"splitType": "MANUAL", "splitAmounts": {str(olga.pk): 1}}, "splitAmounts"),
        ({"catgory": "FOOD"}, "catgory"),
        ({"expenseDate": "2026-05-14"}, "expenseDate"),
    ):
        refused = post(olga, "", rent | {"expense": rent["expense"] | wrong})
        assert refused.status_code == 400, refused.content
        assert [*refused.json()["errors"]] == [f"expense.{field}"]


def test_a_date_is_skipped_and_the_next_ones_move_up(post, rent, olga):
    started = made(post, olga, rent)
    for _again in range(2):
        skipped = post(olga, f"/{started['id']}/skip", {"date": day(-1)}).json()
        assert skipped["next"] == [day(-2), day(0)]
    for other in (day(3), day(-9)):
        assert post(olga, f"/{started['id']}/skip", {"date": other}).status_code == 400
    run()
    assert recorded() == [day(-2), day(0)]


def test_nothing_is_recorded_while_it_is_paused_and_what_passed_is_left_out(post, rent, olga):
    path = f"/{made(post, olga, rent | {'rule': 'FREQ=DAILY'})['id']}"
    assert post(olga, f"{path}/pause").json()["state"] == "paused"
    assert run() == "0 expenses recorded.\n"
    for _again in range(2):
        assert post(olga, f"{path}/resume").json()["next"][0] == day(0)
    run()
    assert recorded() == [day(0)]


def test_a_change_is_for_all_that_follow(post, rent, olga, ed):
    path = f"/{made(post, olga, rent | {'rule': 'FREQ=DAILY;COUNT=2'})['id']}"
    run()
    changed = post(olga, path, {"expense": {"amount": 900}, "rule": "FREQ=DAILY;COUNT=3"}, "patch")
    assert changed.status_code == 200, changed.content
    assert changed.json()["expense"]["description"] == rent["expense"]["description"]
    assert changed.json()["next"] == [day(0)]
    run()
    amounts = Expense.objects.order_by("expense_date").values_list("amount_minor", flat=True)
    assert list(amounts) == [85050, 85050, 90000]
    shares = {"splitType": "SHARES", "splitAmounts": {str(olga.pk): 2, str(ed.pk): "1.5"}}
    assert post(olga, path, {"expense": shares}, "patch").status_code == 200
    equal = post(olga, path, {"expense": {"splitType": "EQUAL"}}, "patch").json()
    assert "splitAmounts" not in equal["expense"]


def test_another_rule_records_nothing_of_the_past(post, rent, olga):
    path = f"/{made(post, olga, rent | {'rule': 'FREQ=YEARLY', 'startsOn': day(-300)})['id']}"
    run()
    for rule, following in (
        ("FREQ=DAILY;INTERVAL=30", [day(0), day(30)]),
        ("FREQ=DAILY;COUNT=302", [day(0), day(1)]),
        ("FREQ=DAILY;COUNT=301", [day(0)]),
        ("FREQ=DAILY;COUNT=300", []),
        ("FREQ=DAILY", [day(0), day(1)]),
    ):
        changed = post(olga, path, {"rule": rule}, "patch")
        assert changed.status_code == 200, changed.content
        assert changed.json()["next"][:2] == following
    run()
    assert recorded() == [day(-300), day(0)]
    assert post(olga, path, {"startsOn": day(-299)}, "patch").json()["next"][0] == day(1)


def test_another_rule_leaves_out_what_could_not_be_recorded(post, rent, olga, ed):
    """It would be recorded by the new rule, whose dates are others."""
    expense = rent["expense"] | {"paidByUserId": ed.pk}
    path = f"/{made(post, olga, rent | {'expense': expense})['id']}"
    Member.objects.filter(user=ed).update(left_at=timezone.now())
    run()
    assert post(olga, path, method="get").json()["next"][0] == day(-2)
    changed = post(olga, path, {"rule": "FREQ=DAILY;INTERVAL=2"}, "patch").json()
    assert (changed["state"], changed["next"][:2]) == ("paused", [day(0), day(2)])


def test_another_rule_of_what_has_not_begun_leaves_its_start_open(post, rent, olga):
    path = f"/{made(post, olga, rent | {'startsOn': day(5)})['id']}"
    assert post(olga, path, {"rule": "FREQ=WEEKLY"}, "patch").json()["next"][0] == day(5)
    assert post(olga, path, {"startsOn": day(-21)}, "patch").json()["next"][0] == day(-21)


def test_what_is_shown_may_be_sent_back_also_years_later(ledger, post, rent, olga):
    path = f"/{made(post, olga, rent | {'rule': 'FREQ=MONTHLY', 'startsOn': day(-366)})['id']}"
    Recurrence.objects.update(starts_on=day(-800), done_through=day(-1))
    shown = post(olga, path, method="get").json()
    answer = post(olga, path, shown, "patch")
    assert answer.status_code == 200, answer.content
    assert answer.json() | {"next": shown["next"]} == shown
    for start in (day(-799), day(-367)):
        assert post(olga, path, {"startsOn": start}, "patch").status_code == 400


def test_what_is_shown_may_be_sent_back_after_somebody_left(post, rent, olga, ed, vera):
    people = {"participantUserIds": [olga.pk, ed.pk, vera.pk]}
    shown = made(post, olga, rent | {"expense": rent["expense"] | people})
    Member.objects.filter(user=vera).update(left_at=timezone.now())
    path, weekly = f"/{shown['id']}", {**shown, "rule": "FREQ=WEEKLY"}
    answer = post(olga, path, weekly, "patch")
    assert (answer.status_code, answer.json()["expense"]) == (200, shown["expense"])
    other = {**shown["expense"], "description": "Rent of the flat"}
    assert post(olga, path, {"expense": other}, "patch").status_code == 400


def test_a_rule_without_dates_takes_the_place_of_none(post, rent, olga):
    before = made(post, olga, rent)
    for rule in ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;UNTIL=20200101"):
        refused = post(olga, f"/{before['id']}", {"rule": rule}, "patch")
        assert (refused.status_code, [*refused.json()["errors"]]) == (400, ["rule"])
    assert post(olga, f"/{before['id']}", method="get").json() == before


def test_who_has_left_is_left_out(post, rent, olga, ed, vera):
    people = {"participantUserIds": [olga.pk, ed.pk, vera.pk]}
    started = made(post, olga, rent | {"expense": rent["expense"] | people})
    Member.objects.filter(user=vera).update(left_at=timezone.now())
    run()
    after = post(olga, f"/{started['id']}", method="get").json()
    assert (after["leftOut"], after["state"]) == ([vera.pk], "ended")
    assert {split.participant_id for split in Expense.objects.first().splits.all()} == {
        olga.pk,
        ed.pk,
    }


def test_who_records_it_is_told_once_who_was_left_out_and_that_it_was_paused(
    post, rent, olga, ed, vera
):
    overwrite(olga, email_verified_at=timezone.now())
    people = {"participantUserIds": [olga.pk, ed.pk, vera.pk]}
    expense = rent["expense"] | people | {"paidByUserId": ed.pk}
    made(post, olga, rent | {"expense": expense})
    Member.objects.filter(user=vera).update(left_at=timezone.now())
    run()
    assert len(recorded()) == 3
    [mail] = Mail.objects.filter(letter="RECURRENCE")
    assert (mail.user, mail.address, mail.language) == (olga, olga.email, "en")
    made(post, olga, rent | {"expense": rent["expense"] | {"paidByUserId": ed.pk}})
    Member.objects.filter(user=ed).update(left_at=timezone.now())
    run()
    assert Mail.objects.filter(letter="RECURRENCE", user=olga).count() == 2


def test_an_address_that_nobody_confirmed_gets_no_mail(post, rent, olga, ed):
    made(post, olga, rent | {"expense": rent["expense"] | {"paidByUserId": ed.pk}})
    Member.objects.filter(user=ed).update(left_at=timezone.now())
    assert run() == "0 expenses recorded.\n"
    assert not Mail.objects.exists()


def test_each_date_has_the_last_rate_before_it_also_if_the_worker_comes_late(post, rent, olga):
    for days, per_euro in ((-3, 2), (-2, 4), (0, 8)):
        DailyRate.objects.create(
            currency="USD", per_euro=per_euro, day=date.fromisoformat(day(days))
        )
    made(post, olga, rent | {"expense": rent["expense"] | {"currency": "USD", "amount": 100}})
    run()
    found = Expense.objects.order_by("expense_date")
    assert [(row.amount_minor, row.rate_day.isoformat()) for row in found] == [
        (50_00, day(-3)),
        (25_00, day(-2)),
        (25_00, day(-2)),
    ]


def test_it_is_paused_with_a_reason_if_it_cannot_be_recorded_and_goes_on_where_it_stopped(
    post, rent, olga, ed
):
    DailyRate.objects.create(currency="USD", per_euro=2, day=date(2020, 1, 1))
    dollars = rent["expense"] | {"currency": "USD"}
    path = f"/{made(post, olga, rent | {'expense': dollars})['id']}"
    DailyRate.objects.all().delete()
    assert run() == "0 expenses recorded.\n"
    paused = post(ed, path, method="get").json()
    assert (paused["state"], paused["reason"]["code"]) == ("paused", "no_rate")
    DailyRate.objects.create(currency="USD", per_euro=2, day=date.fromisoformat(day(-3)))
    resumed = post(olga, f"{path}/resume").json()
    assert (resumed["state"], resumed["reason"]) == ("on", None)
    run()
    assert recorded() == [day(-2), day(-1), day(0)]
    assert Expense.objects.first().rate.source == "ECB"


def test_a_rate_to_the_former_currency_of_the_trip_is_dropped_and_pauses_it(
    post, rent, ledger, olga
):
    for currency, per_euro in (("USD", 2), ("JPY", 150)):
        DailyRate.objects.create(
            currency=currency, per_euro=per_euro, day=date.fromisoformat(day(-3))
        )
    dollars = rent["expense"] | {"currency": "USD", "amount": 10}
    rated, plain = (
        f"/{made(post, olga, rent | {'expense': dollars | more})['id']}"
        for more in ({"exchangeRate": 0.9}, {})
    )
    Trip.objects.get(pk=ledger.trip.pk).change(olga, currency="JPY")
    paused, other = (post(olga, path, method="get").json() for path in (rated, plain))
    assert (paused["state"], paused["reason"]["code"]) == ("paused", "currency_changed")
    assert "to EUR, but the trip's currency is now JPY" in paused["reason"]["text"]
    assert "exchangeRate" not in paused["expense"]
    assert (other["state"], other["reason"]) == ("on", None)
    post(olga, f"{rated}/resume")
    run()
    assert set(Expense.objects.values_list("amount_minor", flat=True)) == {750}


def test_sums_that_do_not_fit_pause_it_as_the_api_refuses_them(ledger, post, rent, olga):
    path = f"/{made(post, olga, rent)['id']}"
    Member.objects.filter(user=olga).update(paid_minor=2**63 - 10, share_minor=2**63 - 10)
    refused = ledger.answer(olga, "post", "expenses", rent["expense"] | {"expenseDate": day(0)})
    assert refused.json()["code"] in {"conflict", "out_of_range"}
    assert run() == "0 expenses recorded.\n"
    paused = post(olga, path, method="get").json()
    assert paused["state"] == "paused"
    assert paused["reason"]["code"] == refused.json()["code"]
    who = "Its creator or an owner of the trip can resume it."
    assert paused["reason"]["text"] == f"{refused.json()['detail']} {who}"
    Member.objects.filter(user=olga).update(paid_minor=0, share_minor=0)
    assert post(olga, f"{path}/resume").json()["reason"] is None
    assert run() == "3 expenses recorded.\n"


def test_an_unexpected_error_with_one_delays_no_other(post, rent, olga):
    broken, _other = made(post, olga, rent), made(post, olga, rent)
    rows = Recurrence.objects.filter(pk=broken["id"])
    readable = rows.get().stored_expense
    rows.update(stored_expense="{")
    with pytest.raises(CommandError, match="1 were postponed"):
        run()
    assert len(recorded()) == 3
    rows.update(stored_expense=readable)
    assert run() == "0 expenses recorded.\n"
    with time_machine.travel(timezone.now() + RETRY_AFTER):
        assert run() == "3 expenses recorded.\n"


def test_it_is_paused_if_who_paid_or_who_records_has_left(post, rent, olga, ed):
    of_ed = rent | {"expense": rent["expense"] | {"paidByUserId": ed.pk}}
    by_olga, by_ed = made(post, olga, of_ed), made(post, ed, of_ed)
    Member.objects.filter(user=ed).update(left_at=timezone.now())
    assert run() == "0 expenses recorded.\n"
    for row, code in ((by_olga, "invalid"), (by_ed, "not_found")):
        shown = post(olga, f"/{row['id']}", method="get").json()
        assert (shown["state"], shown["reason"]["code"]) == ("paused", code)
    assert shown["reason"]["text"] == (
        "Ed Editor, who created it, has left the trip. "
        "An owner of the trip can resume it, and records it from then on."
    )
    body = {"expense": {"paidByUserId": olga.pk, "participantUserIds": [olga.pk]}}
    assert post(olga, f"/{by_ed['id']}", body, method="patch").status_code == 200
    resumed = post(olga, f"/{by_ed['id']}/resume").json()
    assert (resumed["state"], resumed["createdById"]) == ("on", olga.pk)
    assert run() == "3 expenses recorded.\n"


def test_a_role_that_was_lost_pauses_it(post, rent, olga, ed):
    path = f"/{made(post, ed, rent)['id']}"
    Member.objects.filter(user=ed).update(role="VIEWER")
    run()
    reason = post(ed, path, method="get").json()["reason"]
    assert reason["code"] == "forbidden"
    assert reason["text"].startswith("Ed Editor, who created it, may not record expenses any more.")
    assert not Expense.objects.exists()


def test_a_deleted_trip_records_nothing_until_it_is_restored(ledger, trip, post, rent, olga):
    made(post, olga, rent)
    assert ledger.answer(olga, "delete", ledger.url).status_code == 204
    assert run() == "0 expenses recorded.\n"
    assert ledger.answer(olga, "post", f"{ledger.url}/restore").status_code == 200
    assert run() == "3 expenses recorded.\n"


def test_a_merge_renames_the_guest(ledger, trip, post, rent, olga, ed):
    guest = add_guest(trip)
    shares = {
        "participantUserIds": [olga.pk, guest.pk],
        "splitType": "SHARES",
        "splitAmounts": {str(olga.pk): 1, str(guest.pk): 2},
        "paidByUserId": guest.pk,
    }
    started = made(post, olga, rent | {"expense": rent["expense"] | shares})
    person_replaced.send(Trip, trip=trip, user_id=guest.pk, to=ed.pk)
    renamed = post(olga, f"/{started['id']}", method="get").json()["expense"]
    assert renamed["participantUserIds"] == [olga.pk, ed.pk]
    assert renamed["splitAmounts"] == {str(olga.pk): 1, str(ed.pk): 2}
    assert renamed["paidByUserId"] == ed.pk
    assert run() == "3 expenses recorded.\n"


def test_what_a_guest_created_goes_on_when_an_account_takes_their_place(trip, post, rent, olga, ed):
    guest = add_guest(trip)
    service_paused, paused_by_hand = (made(post, olga, rent)["id"] for _each in range(2))
    post(olga, f"/{paused_by_hand}/pause")
    Recurrence.objects.update(created_by=guest)
    assert run() == "0 expenses recorded.\n"
    reason = post(olga, f"/{service_paused}", method="get").json()["reason"]["text"]
    assert reason.startswith(f"{guest.shown_name}, who created it, is a guest without an account.")
    person_replaced.send(Trip, trip=trip, user_id=guest.pk, to=ed.pk)
    shown = post(olga, f"/{service_paused}", method="get").json()
    assert (shown["state"], shown["createdById"], shown["reason"]) == ("on", ed.pk, None)
    assert post(olga, f"/{paused_by_hand}", method="get").json()["state"] == "paused"
    assert run() == "3 expenses recorded.\n"
    assert {expense.created_by for expense in Expense.objects.all()} == {ed}


@pytest.mark.parametrize("split_type", ["MANUAL", "ITEMIZED", "ADJUSTMENT", "PERCENTAGE"])
def test_a_merge_of_two_who_are_both_named_adds_up(ledger, trip, post, rent, olga, ed, split_type):
    """What is recorded already names each of them, so that it could not be merged."""
    guest = add_guest(trip)
    figures = {str(olga.pk): 20, str(guest.pk): 30, str(ed.pk): 50}
    division: Json = {"participantUserIds": [olga.pk, guest.pk, ed.pk], "splitAmounts": figures}
    if split_type == "ITEMIZED":
        division = {"items": [{"name": "Flat", "amount": 100, "shares": figures}]}
    payers = [{"userId": user.pk, "amount": 50} for user in (guest, ed)]
    expense = {**ledger.expense_body(100), **division, "splitType": split_type, "payers": payers}
    del expense["expenseDate"]
    if split_type == "ITEMIZED":
        del expense["participantUserIds"]
    made(post, olga, rent | {"expense": expense})
    person_replaced.send(Trip, trip=trip, user_id=guest.pk, to=ed.pk)
    [renamed] = post(olga, method="get").json()["items"]
    assert renamed["expense"]["payers"] == [{"userId": ed.pk, "amount": 100}]
    assert run() == "3 expenses recorded.\n"
    page = ledger.answer(olga, "get", "expenses").json()["items"]
    shares = {row["participant"]["id"]: row["amount"] for row in page[0]["splits"]}
    assert shares == {olga.pk: 20, ed.pk: 80}
    assert audit() == ""


def test_a_trip_has_only_so_many(post, rent, olga, monkeypatch):
    monkeypatch.setattr(models, "MAX_RECURRENCES", 1)
    made(post, olga, rent)
    problem_of(post(olga, "", rent), 409, "too_many_recurrences")


def test_two_workers_record_each_date_once(server, http):
    owner = sign_up(http)
    journey = Journey.start(owner)
    body = {
        "rule": "FREQ=DAILY;COUNT=30",
        "startsOn": day(-29),
        "expense": {
            "description": "Rent",
            "amount": 10,
            "splitType": "EQUAL",
            "participantUserIds": [owner.id],
        },
    }
    for _number in range(2):
        owner.done("POST", f"{journey.path}/recurring", body)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _number: server.manage("record_recurring"), range(2)))
    page = owner.done("GET", f"{journey.path}/expenses?pageSize=100")
    assert page["total"] == 60
    days = sorted(row["expenseDate"] for row in page["items"])
    assert days == sorted(2 * [day(-number) for number in range(30)])


def test_a_change_of_nothing_loses_nothing(post, rent, olga):
    rent["expense"] |= {"notes": "To the landlord", "splitType": "SHARES"}
    rent["expense"]["splitAmounts"] = dict.fromkeys(
        map(str, rent["expense"]["participantUserIds"]), 1
    )
    before = made(post, olga, rent)
    path = f"/{before['id']}"
    nothing = {"notes": None, "payers": None, "splitType": None}
    for sent in ({}, {"expense": nothing, "timeZone": None}):
        answer = post(olga, path, sent, "patch")
        assert answer.status_code == 200, answer.content
        assert answer.json() == before


def test_another_division_replaces_the_figures_of_the_former_one(post, rent, olga, ed):
    items = [{"name": "Flat", "amount": 850.5, "shares": {str(olga.pk): 1, str(ed.pk): 2}}]
    rent["expense"] = rent["expense"] | {"splitType": "ITEMIZED", "items": items}
    path = f"/{made(post, olga, rent)['id']}"
    answer = post(olga, path, {"expense": {"splitType": "EQUAL"}}, "patch")
    assert answer.status_code == 200, answer.content
    assert "items" not in answer.json()["expense"]
    for refused in ({"amount": None}, {}, []):
        assert post(olga, path, {"expense": refused}, "patch").status_code == 400


def test_accounts_take_turns(post, rent, ledger, olga, ed):
    for _many in range(3):
        made(post, olga, rent)
    made(post, ed, rent | {"rule": "FREQ=DAILY;COUNT=1", "startsOn": day(0)})
    assert run() == "10 expenses recorded.\n"
    creators = list(Expense.objects.order_by("pk").values_list("created_by", flat=True))
    assert creators.index(ed.pk) == 1


def test_a_page_is_named_after_the_expense(api, olga, ed, trip):
    expense = {"description": "Rent", "amount": 850, "splitType": "EQUAL"}
    expense["participantUserIds"] = [ed.pk]
    path = f"/api/trips/{trip.pk}/recurring"
    body = {"rule": "FREQ=MONTHLY", "startsOn": "2026-05-14", "expense": expense}
    rent = f"{path}/{api(olga).post(path, body).json()['id']}"
    assert f'href="{rent}">Rent<' in page_of(olga, path)
    assert text_of(re.search(r"<h1>(.*?)</h1>", page_of(olga, rent))[1]) == "Rent"
