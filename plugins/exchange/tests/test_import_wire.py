"""What is sent to plan an import, what is answered, and its pages in the browsable API."""

import json
import re
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from plugins.exchange import models
from plugins.exchange.formats import FORMATS
from plugins.exchange.models import Import
from plugins.exchange.tests import samples
from plugins.exchange.tests.conftest import send_form
from plugins.exchange.tests.copies import file_of
from splits.models import Expense
from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory
from tests.pages import page_of, text_of
from tests.splits.ledger import exact
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.either

ANSWER = {
    *("id", "format", "state", "tripId", "makesTrip", "trip", "createdAt", "expiresAt", "people"),
    *("rows", "rowCount", "counts", "balances", "exchangeRates", "notes"),
}


def test_a_plan_has_people_rows_and_balances(plan, olga):
    planned = exact(plan(samples.SPLITWISE_CSV, title="Alps", mapping={"Ana P": olga.pk}))
    assert planned.keys() == ANSWER
    assert (planned["trip"]["title"], planned["trip"]["currency"]) == ("Alps", "EUR")
    assert planned["people"][1] == {
        **{"name": "Ben", "email": None, "userId": None, "guest": True},
        **{"key": "Ben", "isMember": False},
    }
    ferry, dinner, payment = planned["rows"]
    assert ferry == {
        **{"line": 3, "kind": "expense", "outcome": "taken", "notes": []},
        **{"description": "Ferry, one way", "objectId": None},
        "object": {
            **{"description": "Ferry, one way", "amount": Decimal("90.00"), "currency": "EUR"},
            **{"exchangeRate": None, "expenseDate": "2026-05-01", "category": "TRANSPORT"},
            **{
                "notes": "Bus/train",
                "receiptUrl": None,
                "tags": [],
                "splitType": "EQUAL",
                "paidByUserId": olga.pk,
            },
            "payers": [{"userId": olga.pk, "amount": Decimal("90.00")}],
            "participantUserIds": [olga.pk, "Ben", "Cleo, Jr"],
        },
    }
    assert (dinner["outcome"], len(dinner["notes"])) == ("noted", 1)
    assert payment["object"] == {
        **{"fromUserId": "Ben", "toUserId": olga.pk, "amount": Decimal("30.00")},
        **{"currency": "EUR", "exchangeRate": None},
        **{"settledOn": "2026-05-03", "note": "Ben paid Ana P"},
    }
    assert planned["balances"][2] == {
        **{"name": "Cleo, Jr", "claimed": {"EUR": Decimal("-63.33")}},
        **{"ours": {"EUR": Decimal("-63.33")}, "why": None},
    }


def test_what_a_row_became_can_be_sent_by_hand(imported, api, olga, trip):
    done = imported(samples.SETTLE_UP, mapping={"Ana": olga.pk})
    [hut, _transfer] = done["rows"]
    client, path = api(olga), f"/api/trips/{done['tripId']}/expenses"
    again = client.post(path, hut["object"])
    assert again.status_code == 201, again.json()
    first, second = client.get(f"{path}/{hut['objectId']}").json(), again.json()
    for name in ("description", "amount", "payers", "splitType", "expenseDate", "category"):
        assert first[name] == second[name], name
    # The odd cents are those of the file.
    assert [split["amount"] for split in first["splits"]] == [33.34, 33.33, 33.33]


def test_a_balance_that_differs_is_explained(plan):
    wrong = samples.SPLITWISE_CSV.replace("56.67,6.66", "66.67,6.67")
    ana, ben, _cleo = plan(wrong).json()["balances"]
    assert ana["claimed"] == {"EUR": 66.67}
    assert ana["why"] == "These rows were read with a note: 4."
    assert "rounding" in ben["why"]
    ana = plan(samples.SPLITWISE_CSV.replace("2026-05-01,", "1026-05-01,")).json()["balances"][0]
    assert ana["why"] == "The file counts these rows, which are skipped: 3."


def test_balances_without_such_rows_contradict_the_file(plan):
    whole = "Date,Description,Category,Cost,Currency,Ana,Ben\n2026-05-01,Bus,Bus,9,EUR,4.5,-4.5\n"
    assert [row["claimed"] for row in plan(whole).json()["balances"]] == [None, None]
    # An export of some days has the totals of the whole group.
    ana = plan(f"{whole}2026-05-02,Total balance, , ,EUR,9.00,-9.00\n").json()["balances"][0]
    assert ana["why"] == "The file does not add up to its own balances."


BEN = samples.SETTLE_UP.splitlines()[1].split(",")
NAMES = [f"N{at:02}" for at in range(21)]


@pytest.mark.parametrize(
    ("cells", "outcome", "note"),
    [
        ({5: "x" * 256}, "noted", "A text was cut to 255 characters."),
        ({7: "1969-12-31 09:00:00"}, "skipped", "The date is before 1970 or after 2100:"),
        ({7: "2101-01-01 09:00:00"}, "skipped", "The date is before 1970 or after 2100:"),
        ({7: "31 of May"}, "skipped", "This is not a date: 31 of May."),
        ({0: ";".join(NAMES), 1: ";".join(["1"] * 20 + ["80"])}, "skipped", "more than 20 payers."),
        ({0: "Ana", 1: "0", 4: "0;0;0"}, "skipped", "The amount is zero."),
        ({0: "Ana", 1: "1E99", 4: "1E99;0;0"}, "skipped", "The amount is too large."),
        ({0: "Ana", 1: "100", 4: "150;-50;0"}, "skipped", "Somebody has a negative part."),
        ({3: "Ana", 4: "100", 0: "Ana", 1: "100", 11: "transfer"}, "skipped", "pay themselves."),
        ({2: "CHF", 10: "", 9: ""}, "skipped", "There is no rate from CHF."),
        ({2: "CHF", 9: "", 10: "1E30"}, "skipped", "no rate by which this amount of CHF"),
    ],
)
def test_what_the_ledger_does_not_take_is_named(cells, outcome, note, plan, api, olga):
    row = [cells.get(at, cell) for at, cell in enumerate(BEN)]
    header, _first, last = samples.SETTLE_UP.splitlines()
    answer = plan("\n".join([header, ",".join(row), last, ""]))
    [row, _last] = api(olga).get(f"{answer['Location']}/rows").json()["items"]
    assert row["outcome"] == outcome
    assert note in row["notes"][-1]


def test_rates_of_the_file_are_applied(imported, api, olga):
    foreign = "Ana,250,CZK,Ben,250,Hut,,2026-05-02 09:00:00,Europe/Berlin,24.4,10.25,expense,\n"
    done = imported(samples.SETTLE_UP + foreign)
    assert done["counts"]["skipped"] == 0
    expenses = exact(api(olga).get(f"/api/trips/{done['tripId']}/expenses"))["items"]
    assert (250, Decimal("10.25")) in [(row["amount"], row["tripAmount"]) for row in expenses]


@pytest.mark.parametrize(
    "content", [samples.SPLIIT_JSON, samples.IHATEMONEY_JSON], ids=["object", "array"]
)
def test_the_body_can_be_the_file_itself(content, api, olga):
    query = f"?title=Mine&mapping=%7B%22Ana%22:{olga.pk}%7D&timeZone=Europe/Madrid"
    answer = api(olga).post(f"/api/imports{query}", json.loads(content))
    assert answer.status_code == 201, answer.json()
    planned = answer.json()
    assert (planned["trip"]["title"], planned["people"][0]["userId"]) == ("Mine", olga.pk)
    assert answer["Location"] == f"/api/imports/{planned['id']}"


def test_a_choice_that_is_sent_twice_is_refused(api, olga):
    for query, titles in (("?title=Mine", ["Yours"]), ("", ["Mine", "Yours"])):
        file = SimpleUploadedFile("x.csv", samples.SPLITWISE_CSV.encode())
        body = encode_multipart(BOUNDARY, {"file": file, "title": titles})
        answer = api(olga).post(f"/api/imports{query}", body, content_type=MULTIPART_CONTENT)
        assert [*problem_of(answer, 400, "invalid")["errors"]] == ["title"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid"),
        (b"{", 400, "unreadable"),
        (b"[]", 400, "unreadable"),
        (b'"text"', 400, "unknown_format"),
        (b'{"title": "Alps"}', 400, "unknown_format"),
        (b'{"expenses":\n[NaN]}', 400, "unreadable"),
    ],
)
def test_a_body_that_is_no_file_is_refused(body, status, code, api, olga):
    problem_of(api(olga).generic("POST", "/api/imports", body, "application/json"), status, code)
    assert api(olga).generic("POST", "/api/imports", body, "text/csv").status_code in {400, 415}
    assert not Import.objects.exists()


def test_a_repeated_body_with_another_query_is_no_repeat(api, olga):
    client = api(olga)
    client.credentials(**client._credentials, HTTP_IDEMPOTENCY_KEY="one")
    body = json.loads(samples.SPLIIT_JSON)
    first = client.post("/api/imports?title=A", body)
    assert client.post("/api/imports?title=A", body).json()["id"] == first.json()["id"]
    assert client.post("/api/imports?title=B", body).status_code == 422


def test_a_plan_is_made_again_with_other_choices(plan, api, olga, ed, trip):
    answer = plan(samples.SPLITWISE_CSV, mapping={"Ana P": olga.pk})
    path, client = answer["Location"], api(olga)
    sent = {"title": "Alps", "currency": "USD", "exchangeRates": {"EUR": 1.5}}
    changed = client.patch(path, {**sent, "mapping": {"Ben": ed.pk, "Cleo, Jr": None}})
    assert changed.status_code == 200, changed.json()
    planned = changed.json()
    assert (planned["trip"]["title"], planned["trip"]["currency"]) == ("Alps", "USD")
    assert [person["userId"] for person in planned["people"]] == [olga.pk, ed.pk, None]
    assert planned["expiresAt"] == answer.json()["expiresAt"]
    # What was not sent stays, and null is a guest.
    again = client.patch(path, {"mapping": {"Ben": None}}).json()
    assert again["trip"] == planned["trip"]
    assert [person["userId"] for person in again["people"]] == [olga.pk, None, None]
    assert Trip.objects.get(pk=client.post(f"{path}/confirm").json()["tripId"]).currency == "USD"
    assert not list(differences())
    for act in (client.patch(path, {"title": "Late"}), client.delete(path)):
        assert (act.status_code, act.json()["code"]) == (409, "already_imported")


def test_a_plan_goes_into_another_trip_and_back(plan, api, olga, trip):
    path, client = plan(samples.SPLITWISE_CSV, title="Alps")["Location"], api(olga)
    moved = client.patch(path, {"tripId": trip.pk}).json()
    assert moved["notes"][-1].startswith("The trip keeps its own title")
    assert (moved["tripId"], moved["makesTrip"], moved["trip"]["title"]) == (
        *(trip.pk, False, trip.title),
    )
    assert client.patch(path, {"asNewTrip": True}).json()["tripId"] is None
    assert client.patch(path, {"tripId": 10**9}).status_code == 404
    assert client.get(path).json()["makesTrip"]


def test_what_changes_nothing_is_refused_or_said(plan, api, olga, trip):
    refused = plan(samples.SPLITWISE_CSV, group="Alps")
    assert (refused.status_code, refused.json()["reason"]) == (400, "one_group")
    rates = {"EUR": 2, "USD": 2}
    made = plan(samples.SPLITWISE_CSV, tripId=trip.pk, currency="CHF", exchangeRates=rates).json()
    assert [note.partition(";")[0] for note in made["notes"][-2:]] == [
        "The trip keeps its own title, destination and currency",
        "No amount needs the exchange rates of: EUR, USD.",
    ]
    needed = plan(samples.SPLITWISE_CSV, currency="CHF", asNewTrip="true", exchangeRates=rates)
    assert needed.json()["notes"][-1] == "No amount needs the exchange rates of: USD."
    same = plan(samples.SPLITWISE_CSV, tripId=trip.pk, currency="EUR").json()
    assert not [note for note in same["notes"] if "keeps" in note]


def test_a_newer_file_sent_back_stays_one(imported, plan, api, olga):
    trip_id = imported(samples.SPLITWISE_CSV)["tripId"]
    answer = plan(samples.SPLITWISE_CSV)
    assert api(olga).patch(answer["Location"], {"tripId": trip_id}).json() == answer.json()


def test_a_refused_change_leaves_the_plan(plan, api, olga, settings):
    answer = plan(samples.SPLITWISE_CSV)
    for body, status in (
        ({"mapping": {"Nobody": None}}, 400),
        ({"mapping": {"Ben": 10**9}}, 400),
        ({"currency": "XYZ"}, 400),
        ({"timeZone": "Mars"}, 400),
        ({"titles": "Alps"}, 400),
    ):
        assert api(olga).patch(answer["Location"], body).status_code == status, body
    settings.QUOTA_EXPENSES = 1
    assert api(olga).patch(answer["Location"], {"title": "Alps"}).status_code == 409
    assert api(olga).get(answer["Location"]).json() == answer.json()


def test_the_title_of_a_copy_can_be_changed(plan, api, olga, trip):
    path = plan(file_of(api, trip, olga), asNewTrip=True)["Location"]
    assert api(olga).patch(path, {"title": "Again"}).status_code == 200
    assert Trip.objects.get(pk=api(olga).post(f"{path}/confirm").json()["tripId"]).title == "Again"


def test_a_file_that_says_its_currency_is_converted_not_renamed(plan, imported, olga):
    content = samples.SPLIIT_JSON.replace('"originalAmount":1070,', "")
    done = imported(content, currency="USD", exchangeRates={"EUR": 2})
    assert (done["trip"]["currency"], done["exchangeRates"][0]["currency"]) == ("USD", "EUR")
    assert Expense.objects.get().amount_minor == 2002


def test_an_answer_has_the_first_rows_only(plan, api, olga, monkeypatch):
    monkeypatch.setattr(models, "MAX_SHOWN_ROWS", 2)
    answer = plan(samples.SPLITWISE_CSV)
    assert (len(answer.json()["rows"]), answer.json()["rowCount"]) == (2, 3)
    assert api(olga).get(f"{answer['Location']}/rows").json()["total"] == 3


def test_an_undone_import_is_forgotten_unless_its_trip_is_restored(imported, plan, api, olga):
    done = imported(samples.SPLITWISE_CSV)
    client, path = api(olga), f"/api/imports/{done['id']}"
    assert client.post(f"{path}/undo").status_code == 200
    assert plan(samples.SPLITWISE_CSV).json()["counts"]["known"] == 0
    assert client.post(f"/api/trips/{done['tripId']}/restore").status_code == 200
    assert plan(samples.SPLITWISE_CSV).json()["counts"]["known"] == 3


def test_the_imports_of_a_deleted_account_are_deleted(plan, api, olga):
    assert plan(samples.SPLITWISE_CSV).status_code == 201
    assert api(olga).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert not Import.objects.exists()


def test_somebody_without_a_common_trip_is_added_as_by_hand(plan, imported, limits, olga):
    strangers = [UserFactory() for _ in range(2)]
    done = imported(samples.SPLITWISE_CSV, mapping={"Ben": strangers[0].pk})
    assert (done["people"][1]["userId"], done["people"][1]["guest"]) == (strangers[0].pk, False)
    member = Trip.objects.get(pk=done["tripId"]).members.get(user=strangers[0])
    assert member.introduced_by is not None
    limits(lookup="1/hour")
    # One who shares a trip by now is no look-up.
    for mapped, status in (
        ({"Ben": strangers[0].pk}, 201),
        ({"Ben": 10**9}, 400),
        ({"Ben": strangers[1].pk}, 429),
    ):
        answer = plan(samples.SPLITWISE_CSV, mapping=mapped, asNewTrip=True)
        assert answer.status_code == status, answer.json()


def test_whoever_lets_nobody_add_them_since_is_not_added(plan, api, olga, ed):
    path = plan(samples.SPLITWISE_CSV, mapping={"Ben": ed.pk})["Location"]
    User.objects.filter(pk=ed.pk).update(may_be_added=False)
    problem_of(api(olga).post(f"{path}/confirm"), 409, "invite_instead")
    assert not Trip.objects.exists()


def detail(response, status):
    return problem_of(response, status)["detail"]


@pytest.mark.parametrize(
    ("language", "text"), [("en", "Send an export of"), ("es", "Envía una exportación de")]
)
def test_a_file_of_no_known_format(api, olga, language, text):
    file = SimpleUploadedFile("table.csv", b"a,b,c\n1,2,3\n")
    says = {"Accept-Language": language}
    form = encode_multipart(BOUNDARY, {"file": file})
    refused = api(olga).generic("POST", "/api/imports", form, MULTIPART_CONTENT, headers=says)
    said = detail(refused, 400)
    assert text in said
    assert refused.json()["code"] == "unknown_format"
    for known in FORMATS:
        [service, *_kind] = known.split("_")
        assert service in said.lower(), known


def test_the_labels_of_a_form_are_words(olga):
    labels = {
        language: re.findall(
            r"<label[^>]*>\s*(.*?)\s*</label>", page_of(olga, "/api/imports", language)
        )
        for language in ("en", "es")
    }
    assert {"File", "Trip id", "Time zone", "As new trip"} < set(labels["en"])
    assert {"Archivo", "Id del viaje", "Zona horaria", "Como viaje nuevo"} < set(labels["es"])


def test_a_form_with_a_file_can_be_sent_with_the_file_alone(api, olga, trip):
    exported = api(olga).get(f"/api/trips/{trip.pk}/export", HTTP_ACCEPT="application/json")
    page = page_of(olga, "/api/imports")
    assert re.search(r'<input name="file"\s+type="file"', page)
    selects = re.findall(r'<select[^>]* name="(\w+)">\s*<option value="(\w*)"', page)
    assert selects == [("currency", ""), ("asNewTrip", "")]
    texts = dict.fromkeys(re.findall(r'<input name="(\w+)" class', page), "")
    assert {"title", "mapping"} < texts.keys()
    empty = {**texts, **dict(selects)}
    sent = send_form(api(olga), exported.getvalue(), "trip.json", **empty)
    assert sent.status_code == 201, sent.json()


def test_a_plan_is_named_after_its_trip(api, olga, trip):
    exported = api(olga).get(f"/api/trips/{trip.pk}/export", HTTP_ACCEPT="application/json")
    planned = send_form(api(olga), exported.getvalue(), "trip.json").json()
    page = page_of(olga, f"/api/imports/{planned['id']}")
    assert text_of(re.search(r"<h1>(.*?)</h1>", page)[1]) == trip.title
