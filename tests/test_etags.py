"""Who saw an older state neither overwrites nor deletes; who has the present one is told so."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.factories import spend
from tests.splits.journey import Journey, sign_up
from tests.trips.bodies import dinner, lisbon


@pytest.fixture
def paths(trip, olga, ed):
    expense = spend(trip, 10_000, paid_by=olga, among=[olga, ed])
    return [f"/api/trips/{trip.pk}", f"/api/trips/{trip.pk}/expenses/{expense.pk}"]


def test_a_known_tag_is_answered_304_without_a_body(api, olga, paths):
    for path in paths:
        tag = api(olga).get(path)["ETag"]
        for ask in (api(olga).get, api(olga).head):
            again = ask(path, headers={"If-None-Match": tag})
            assert (again.status_code, again.content) == (304, b"")
            assert again["ETag"] == tag
        # Of a list without end, only the beginning is read.
        assert api(olga).get(path, headers={"If-None-Match": "," * 8190 + tag}).status_code == 200
        assert api(olga).get(path, headers={"If-None-Match": '"other"'}).status_code == 200


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
            None if method == "delete" else (lisbon(), dinner(olga))[at],
            headers={"If-Match": '"stale"'},
        )
        assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
        assert refused["ETag"] == shown["ETag"]
        assert api(olga).get(path)["ETag"] == shown["ETag"]


@pytest.mark.parametrize("method", ["put", "patch"])
def test_a_stale_copy_that_is_sent_whole_is_412(api, olga, paths, method):
    """What only responses have of it is stale, too, but the tag says more."""
    for path, change in zip(paths, ({"title": "Porto"}, {"notes": "paid"}), strict=True):
        shown = api(olga).get(path)
        sent = {"data": {**shown.json(), **change}, "headers": {"If-Match": shown["ETag"]}}
        assert getattr(api(olga), method)(path, **sent).status_code == 200
        again = getattr(api(olga), method)(path, **sent)
        assert (again.status_code, again.json()["code"]) == (412, "precondition_failed")


@pytest.mark.parametrize("wanted", ["*", '"other", {tag}', "{tag}", None])
def test_a_tag_that_fits_lets_the_change_through(api, olga, paths, wanted):
    for path, change in zip(paths, ({"title": "Porto"}, {"notes": "paid"}), strict=True):
        headers = {"If-Match": wanted.format(tag=api(olga).get(path)["ETag"])} if wanted else {}
        assert api(olga).patch(path, change, headers=headers).status_code == 200


def test_a_weak_or_malformed_tag_does_not_fit(api, olga, paths):
    for path in paths:
        tag = api(olga).get(path)["ETag"]
        for wanted in (f"W/{tag}", tag.strip('"'), "nonsense", ""):
            refused = api(olga).patch(path, {"notes": "x"}, headers={"If-Match": wanted})
            assert refused.status_code == 412


def test_of_two_writers_who_saw_the_same_one_gets_through(http):
    """T93: Of two writers with the same ETag, one succeeds."""
    writer = sign_up(http)
    path = Journey(writer, writer.done("POST", "/trips", lisbon(title="0"))["id"]).path

    def count_up(_number):
        status = 0
        while status != 200:
            shown = writer.call("GET", path)
            title, tag = str(int(shown.json()["title"]) + 1), shown.headers["ETag"]
            status = writer.call("PATCH", path, {"title": title}, **{"If-Match": tag}).status_code
            assert status in {200, 412}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count_up, range(20)))
    assert writer.done("GET", path)["title"] == "20"
