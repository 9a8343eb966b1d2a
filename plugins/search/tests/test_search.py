"""The search: what is found, by whom, and what no query breaks."""

import sys
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings, strategies

from plugins.search.serializers import MAX_WORDS
from plugins.search.words import KEPT_CODES, MAX_SNIPPET_CHARS, separators, snippet, words_of
from tests.document import problem_of
from tests.factories import add_guest, owned_trip, settle, spend
from tests.scoped import ALL, script_of
from tests.trips.unanswered import add, new_trip
from tests.users.logins import bearer
from tripcompanion.plugin import plugins
from trips.models.events import trip_objects

#: By the type of an object: the path below the trip where it is made, its body with a word, and a
#: body that changes this word.
MADE: dict[str, tuple[str, dict[str, Any], str]] = {
    "activity": ("activities", {"title": "See", "notes": "Zebra house"}, "notes"),
    "poll": ("polls", {"question": "Zebra?", "options": [{"text": "a"}, {"text": "b"}]},
             "question"),
    "message": ("messages", {"text": "I saw a zebra"}, "text"),
    "document": ("documents", {"name": "Zebra ticket"}, "name"),
}  # fmt: skip
MADE = {kind: made for kind, made in MADE.items() if kind in trip_objects()}


@pytest.fixture
def find(api, olga):
    """What somebody finds: `type` and `id`, sorted."""

    def find(q, user=olga, client=None, **query):
        pairs = "".join(f"&{name}={value}" for name, value in query.items())
        answer = (client or api(user)).get(f"/api/search?q={quote(q)}{pairs}")
        assert answer.status_code == 200, answer.content
        page = answer.json()
        assert page["total"] == len(page["items"])
        return sorted((item["type"], item["id"]) for item in page["items"])

    return find


@pytest.mark.parametrize(
    ("text", "q", "is_found"),
    [
        ("Crème brûlée, 2 for 1", "creme", True),
        ("Crème brûlée, 2 for 1", "BRÛL cre", True),
        ("Crème brûlée, 2 for 1", "2", True),
        ("Crème brûlée, 2 for 1", "reme", False),
        ("Crème brûlée, 2 for 1", "creme caramel", False),
        ("foo-bar_baz.qux@host/path", "baz path", True),
        ("foo-bar_baz.qux@host/path", "foo-bar", True),
        ("it's <b>bold</b> & 12.50&euro;", "bold 12 50 it's", True),
        ("https://example.com/a/b?c=d", "example com d", True),
        ("50% off", "50% of", True),
        ("½ cup for 20 m²", "½ cup m³", True),
        ("Привет, мир", "при МИР", True),
        ("Οδυσσεύς", "ΟΔΥΣΣΕΥΣ", True),
        ("東京タワー", "東京", True),
        ("हिन्दी में", "हिन्दी", True),
        ("soup \U0001f35c hot", "\U0001f35c soup", True),
        ("the and of", "the of", True),
        ("a & !b | (c)", "a & !b | (c):*", True),
        ("rock 'n' roll \\ back", "'n' \\ roll'", True),
        ("NEAR AND OR NOT", 'near AND "or" not*', True),
    ],
)
def test_words_are_found_by_their_beginnings(trip, olga, find, text, q, is_found):
    expense = spend(trip, 100, paid_by=olga, among=[olga], description=text)
    assert find(q, type="expense") == [("expense", expense.pk)] * is_found


@pytest.mark.parametrize(
    "q", ["", " ", "!", "'\"*():&|<->", "%", "_", "\U0001f35c", "a\0b", "a" * 256, "x" * 10_000]
)
def test_without_a_word_it_is_refused(api, olga, q):
    for query in (f"q={quote(q)}", ""):
        assert [*problem_of(api(olga).get(f"/api/search?{query}"), 400)["errors"]] == ["q"]


def test_a_query_has_ten_words_at_most(api, olga, find):
    """T247: A search compares few words, whatever somebody has written."""
    words = [chr(ord("a") + at) for at in range(MAX_WORDS)]
    assert find(" ".join([*words, *words])) == []
    refused = problem_of(api(olga).get(f"/api/search?q={quote(' '.join([*words, 'z']))}"), 400)
    assert refused["errors"] == {"q": ["Must have at most 10 different words."]}


@given(q=strategies.text(min_size=1, max_size=255))
@settings(max_examples=60)
def test_no_query_breaks_it(api, trip, olga, q):
    try:
        sent = quote(q)
    except UnicodeEncodeError:
        return
    assert api(olga).get(f"/api/search?q={sent}").status_code in {200, 400}


def test_every_type_of_object_is_found_as_it_is_now(api, trip, olga, ed, sam, ada, find):
    path = f"/api/trips/{trip.pk}"
    api(olga).patch(path, {"description": "Zebras live there"})
    guest = api(olga).post(f"{path}/guests", {"name": "Zebra keeper"}).json()["user"]
    expense = spend(trip, 100, paid_by=olga, among=[ed], notes="For the zébra")
    settlement = settle(trip, ed, olga, 100, note="zebra money")
    made = {
        ("trip", trip.pk), ("member", guest["id"]),
        ("expense", expense.pk), ("settlement", settlement.pk),
    }  # fmt: skip
    if "comment" in trip_objects():
        comments = f"/api/expenses/{expense.pk}/comments"
        made.add(("comment", api(ed).post(comments, {"text": "Nice zebra"}).json()["id"]))
    for kind, (place, body, _word) in MADE.items():
        made.add((kind, api(olga).post(f"{path}/{place}", body).json()["id"]))
    known = {name for name, shape in trip_objects().items() if shape.searched}
    assert {kind for kind, _id in made} == known
    for user in (olga, ed, ada):
        assert find("zebra", user) == sorted(made)
        assert find("ZEB", user, tripId=trip.pk) == sorted(made)
    assert find("zebra", sam) == find("zebra", tripId=trip.pk + 1) == []
    for kind in known:
        assert {found for found, _id in find("zebra", type=kind)} == {kind}
    for kind, (place, _body, word) in MADE.items():
        ((_kind, pk),) = find("zebra", type=kind)
        one = f"{path}/{place}/{pk}"
        method = api(olga).put if kind == "message" else api(olga).patch
        assert method(one, {word: "Okapi"}).status_code == 200
        assert (find("zebra", type=kind), find("okapi", type=kind)) == ([], [(kind, pk)])
        assert api(olga).delete(one).status_code == 204
        assert find("okapi", type=kind) == []
        assert api(olga).post(f"{one}/restore").status_code == 200
        assert find("okapi", type=kind) == [(kind, pk)]


@pytest.mark.skipif("activity" not in MADE, reason="without itinerary")
def test_an_activity_is_found_by_its_link(api, trip, olga, find):
    body = {"title": "See", "url": "https://zebra.example/tickets?day=2"}
    made = api(olga).post(f"/api/trips/{trip.pk}/activities", body).json()
    assert find("zebra tick") == [("activity", made["id"])]


def test_a_deleted_expense_is_found_again_once_it_is_restored(api, trip, olga, find):
    expense = spend(trip, 100, paid_by=olga, among=[olga], description="Zebra")
    path = f"/api/trips/{trip.pk}/expenses/{expense.pk}"
    for one in (path, f"/api/trips/{trip.pk}"):
        api(olga).delete(one)
        assert find("zebra") == []
        assert api(olga).post(f"{one}/restore").status_code == 200
        assert find("zebra") == [("expense", expense.pk)]


def test_a_former_member_finds_nothing_and_a_merged_guest_is_gone(api, trip, olga, ed, vera, find):
    guest = add_guest(trip, "Zebra")
    expense = spend(trip, 100, paid_by=olga, among=[olga], description="Zebra")
    assert find("zebra", vera) == [("expense", expense.pk), ("member", guest.pk)]
    path = f"/api/trips/{trip.pk}"
    assert api(olga).delete(f"{path}/members/{vera.pk}").status_code == 204
    assert find("zebra", vera) == []
    assert api(olga).post(f"{path}/guests/{guest.pk}/merge", {"userId": ed.pk}).status_code == 200
    assert find("zebra", ed) == [("expense", expense.pk)]


def test_a_trip_of_a_stranger_is_found_once_the_reader_has_answered(api, trip, sam, vera, find):
    """T245: A stranger cannot fill what somebody finds."""
    theirs = new_trip(api, sam)
    expense = spend(theirs, 100, paid_by=sam, among=[sam], description="Zebra")
    assert add(api, sam, theirs, userId=vera.pk).status_code == 201
    confined = bearer(script_of(vera, *ALL, trip=theirs).token)
    found = [("expense", expense.pk)]
    assert find("zebra", vera) == []
    assert find("zebra", vera, tripId=theirs.pk) == find("zebra", client=confined) == found
    assert find("zebra", vera) == []
    assert api(vera).get(f"/api/trips/{theirs.pk}").status_code == 200
    assert find("zebra", vera) == found


@pytest.mark.either
def test_a_scoped_token_finds_what_it_may_read(api, trip, olga, find):
    other = owned_trip(olga, title="Zebra crossing")
    expense = spend(trip, 100, paid_by=olga, among=[olga], description="Zebra")
    areas = {}
    for kind, (place, body, _word) in MADE.items():
        pk = api(olga).post(f"/api/trips/{trip.pk}/{place}", body).json()["id"]
        areas[trip_objects()[kind].area] = (kind, pk)
    areas |= {"expenses": ("expense", expense.pk), "trips": ("trip", other.pk)}
    for area, found in areas.items():
        script = bearer(script_of(olga, *{"trips:read", f"{area}:read"}).token)
        assert find("zebra", client=script) == sorted({found, areas["trips"]})
    confined = bearer(script_of(olga, *ALL, trip=trip).token)
    assert find("zebra", client=confined) == sorted({*areas.values()} - {areas["trips"]})
    assert bearer(script_of(olga, "expenses:read").token).get("/api/search?q=a").status_code == 403


def test_pages_have_the_newest_first(api, trip, olga):
    rows = [
        spend(trip, 100, paid_by=olga, among=[olga], description=f"Tram {at}") for at in range(5)
    ]
    pages = [
        api(olga).get(f"/api/search?q=tram&pageSize=2&page={page}").json() for page in (1, 2, 3, 4)
    ]
    ids = [[item["id"] for item in page["items"]] for page in pages]
    newest = [row.pk for row in reversed(rows)]
    assert ids == [newest[:2], newest[2:4], newest[4:], []]
    assert {page["total"] for page in pages} == {5}
    item = pages[0]["items"][0]
    assert item == item | {"type": "expense", "tripId": trip.pk, "title": "Tram 4", "text": ""}


def test_what_has_no_title_has_that_of_its_trip(api, trip, olga, ed):
    settle(trip, ed, olga, 100, note="For the\nzebra & <b>more</b>")
    (item,) = api(olga).get("/api/search?q=zebra").json()["items"]
    assert (item["title"], item["text"]) == (trip.title, "For the zebra & <b>more</b>")


@pytest.mark.either
@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("", "a", ""),
        ("Soup", "x", "Soup"),
        ("a " * 100 + "zebra", "ze", "… " + "a " * 20 + "zebra"),
        ("zebra " + "b " * 100, "zebra", "zebra " + "b " * 76 + "b…"),
        ("x" * 5000 + " Zébra", "zebra", "… " + "x" * 0 + "Zébra"),
        ("a " * 100 + "हिन्दी", "हिन्दी", "… " + "a " * 20 + "हिन्दी"),
        ("\u0301 " * 100 + "zebra", "zebra", "… " + "\u0301 " * 20 + "zebra"),
    ],
)
def test_a_snippet_is_short_and_shows_the_word(text, words, shown):
    found = snippet(text, words_of(words))
    assert len(found) <= MAX_SNIPPET_CHARS
    if not text.startswith("x"):
        assert found == shown


@pytest.mark.either
def test_it_remembers_few_characters():
    for code in range(0, sys.maxunicode + 1, 5):
        words_of(chr(code))
    assert len(separators) <= KEPT_CODES


@pytest.mark.either
def test_every_app_with_searched_objects_is_tested():
    searched = {
        name for app in plugins() for name, shape in app.objects().items() if shape.searched
    }
    assert searched - {"trip", "member", "expense", "settlement", "comment"} == {*MADE}
