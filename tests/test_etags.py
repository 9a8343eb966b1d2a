"""Who saw an older state neither overwrites nor deletes; who has the present one is told so."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.factories import spend

BODIES = [
    {"title": "Porto", "destination": "Porto", "startDate": "2026-05-14", "endDate": "2026-05-18"},
    {"description": "Lunch", "amount": 10, "expenseDate": "2026-05-14", "splitType": "EQUAL"},
]


@pytest.fixture
def paths(trip, olga, ed):
    expense = spend(trip, 10_000, paid_by=olga, among=[olga, ed])
    return [f"/api/trips/{trip.pk}", f"/api/trips/{trip.pk}/expenses/{expense.pk}"]


def test_a_known_tag_is_answered_304_without_a_body(api, olga, paths):
    for path in paths:
        tag = api(olga).get(path)["ETag"]
        again = api(olga).get(path, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == tag
        # Of a list without end, only the beginning is read.
        long = api(olga).get(path, headers={"If-None-Match": "," * 8190 + tag})
        assert long.status_code == 200
        other = api(olga).get(path, headers={"If-None-Match": '"other"'})
        assert other.status_code == 200


def test_the_tag_is_strong_and_changes_with_what_is_shown(api, olga, paths):
    for path, change in zip(paths, ({"title": "Porto"}, {"description": "Lunch"}), strict=True):
        before = api(olga).get(path)["ETag"]
        assert not before.startswith("W/")
        patched = api(olga).patch(path, change)
        assert patched["ETag"] != before
        assert patched["ETag"] == api(olga).get(path)["ETag"]


def test_paying_a_split_changes_the_tag_of_its_expense(api, olga, ed, paths):
    path = paths[1]
    shown = api(olga).get(path)
    split_id = shown.json()["splits"][1]["id"]
    api(ed).put(f"/api/expenses/{shown.json()['id']}/splits/{split_id}/pay")
    assert api(olga).get(path)["ETag"] != shown["ETag"]


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_a_stale_tag_is_412_with_the_present_one_and_changes_nothing(api, olga, paths, method):
    for at, path in enumerate(paths):
        shown = api(olga).get(path)
        refused = getattr(api(olga), method)(
            path,
            None if method == "delete" else BODIES[at] | {"participantUserIds": [olga.pk]},
            headers={"If-Match": '"stale"'},
        )
        assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
        assert refused["ETag"] == shown["ETag"]
        assert api(olga).get(path)["ETag"] == shown["ETag"]


@pytest.mark.parametrize("wanted", ["*", '"other", {tag}', "{tag}", None])
def test_a_tag_that_fits_lets_the_change_through(api, olga, paths, wanted):
    for path, change in zip(paths, ({"title": "Porto"}, {"notes": "paid"}), strict=True):
        tag = api(olga).get(path)["ETag"]
        headers = {"If-Match": wanted.format(tag=tag)} if wanted else {}
        assert api(olga).patch(path, change, headers=headers).status_code == 200


def test_a_weak_or_malformed_tag_does_not_fit(api, olga, paths):
    for path in paths:
        tag = api(olga).get(path)["ETag"]
        for wanted in (f"W/{tag}", tag.strip('"'), "nonsense", ""):
            refused = api(olga).patch(path, {"notes": "x"}, headers={"If-Match": wanted})
            assert refused.status_code == 412


def test_of_two_writers_who_saw_the_same_one_gets_through(server):
    """T93: Of two writers with the same ETag, one succeeds."""
    person = httpx.post(
        f"{server.url}/api/users/register",
        json={"email": "writers@example.com", "password": "four-green-suitcases"},
    ).json()
    headers = {"Authorization": f"Bearer {person['token']}"}
    body = {
        "title": "0",
        "destination": "Lisbon",
        "startDate": "2026-05-14",
        "endDate": "2026-05-18",
    }
    made = httpx.post(f"{server.url}/api/trips", json=body, headers=headers)
    url = f"{server.url}{made.headers['Location']}"

    def count_up(_number):
        while True:
            shown = httpx.get(url, headers=headers)
            title = str(int(shown.json()["title"]) + 1)
            tag = {"If-Match": shown.headers["ETag"]}
            answer = httpx.patch(url, json={"title": title}, headers=headers | tag, timeout=30)
            if answer.status_code == 200:
                return
            assert answer.status_code == 412

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count_up, range(20)))
    assert httpx.get(url, headers=headers).json()["title"] == "20"
