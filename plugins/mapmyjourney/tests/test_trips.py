"""Trips as the client of MapMyJourney reads and changes them."""

import pytest

from tests.document import problem_of, read_document
from tests.factories import overwrite
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.either

#: What the client adds to the documented fields.
ADDED = {"name", "participants"}


def test_a_trip_also_has_a_name_and_participants(api, app, trip, olga, ed, vera):
    overwrite(ed, profile_picture="/pictures/ed.webp")
    url = f"/api/trips/{trip.pk}"
    shown, plain = (client.get(url).json() for client in (app(olga), api(olga)))
    assert shown["name"] == trip.title
    assert [(one["name"], one["role"]) for one in shown["participants"]] == [
        (olga.name, "OWNER"),
        (ed.name, "EDITOR"),
        (vera.name, "VIEWER"),
    ]
    assert shown["participants"][1] == {
        "id": ed.pk,
        "name": "Ed Editor",
        "email": "ed@example.com",
        "avatar": "/pictures/ed.webp",
        "role": "EDITOR",
    }
    assert {key: value for key, value in shown.items() if key not in ADDED} == plain


@pytest.mark.parametrize("path", ["/api/trips", "/api/trips/my-trips"])
def test_a_trip_in_a_list_also_has_a_name(app, trip, olga, path):
    [shown] = app(olga).get(path).json()["items"]
    assert shown["name"] == shown["title"] == trip.title
    assert "participants" not in shown


def test_every_response_with_a_whole_trip_has_them(app, trip, olga):
    client, url = app(olga), f"/api/trips/{trip.pk}"
    for response in (
        client.post("/api/trips", lisbon()),
        client.put(url, lisbon()),
        client.patch(url, {"destination": "Porto"}),
        client.post(f"{url}/code"),
    ):
        assert response.status_code in {200, 201}
        assert response.json().keys() >= ADDED


def test_the_settings_page_changes_what_it_names_and_nothing_else(app, trip, olga):
    client, url = app(olga), f"/api/trips/{trip.pk}"
    client.patch(url, {"budget": 1200.5, "joinRole": "EDITOR", "imageUrl": "/lisbon.webp"})
    before = client.get(url).json()
    sent = {
        "name": "Porto in June",
        "destination": "Porto",
        "description": "Wine.",
        "startDate": "2026-06-01",
        "endDate": "2026-06-05",
    }
    after = client.put(url, sent).json()
    assert after["title"] == "Porto in June"
    kept = before.keys() - sent.keys() - {"title", "updatedAt"}
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
    assert {key: after[key] for key in sent} == sent


def test_a_title_wins_over_a_name_and_replaces_the_trip(app, trip, olga):
    client, url = app(olga), f"/api/trips/{trip.pk}"
    client.patch(url, {"budget": 1200.5})
    refused = client.put(url, {"title": "Porto", "name": "Lisbon"})
    assert "startDate" in problem_of(refused, 400, "invalid")["errors"]
    replaced = client.put(url, lisbon(title="Porto", name="Lisbon")).json()
    assert (replaced["title"], replaced["budget"]) == ("Porto", None)


@pytest.mark.parametrize("name", ["", "x" * 101, 7, ["x"], {}, None])
def test_a_name_is_as_valid_as_a_title(app, trip, olga, name):
    refused = app(olga).put(f"/api/trips/{trip.pk}", {"name": name})
    assert list(problem_of(refused, 400, "invalid")["errors"]) == ["name"]
    trip.refresh_from_db()
    assert trip.title != name


def test_without_the_header_a_name_is_an_unknown_field(api, trip, olga):
    refused = api(olga).put(f"/api/trips/{trip.pk}", {"name": "Porto"})
    assert problem_of(refused, 400, "invalid")["errors"].keys() == {"name"}


def test_two_who_save_the_settings_do_not_overwrite_each_other(app, trip, olga):
    client, url = app(olga), f"/api/trips/{trip.pk}"
    tag = client.get(url)["ETag"]
    assert client.get(url, headers={"If-None-Match": tag}).status_code == 304
    assert client.put(url, {"name": "Porto"}, headers={"If-Match": tag}).status_code == 200
    problem_of(client.put(url, {"name": "Faro"}, headers={"If-Match": tag}), 412)
    trip.refresh_from_db()
    assert trip.title == "Porto"


@pytest.mark.slow
def test_the_document_does_not_mention_the_client(app, olga):
    assert app(olga).get("/api/schema?format=json").json() == read_document()
    assert "MapMyJourney" not in str(read_document())
    assert "/api/health/auth" not in read_document()["paths"]


def test_participants_are_members(app, trip, olga, sam):
    client, url = app(olga), f"/api/trips/{trip.pk}/participants"
    assert client.post(url, {"userId": str(sam.pk)}).status_code == 201
    shown = client.get(f"/api/trips/{trip.pk}").json()["participants"]
    assert sam.pk in {one["id"] for one in shown}
    assert client.delete(f"{url}/{sam.pk}").status_code == 204
    assert not trip.members.filter(user=sam, left_at=None).exists()


def test_the_trips_of_a_user_are_those_of_the_caller(app, trip, olga, ed):
    client = app(olga)
    assert client.get(f"/api/users/{olga.pk}/trips").json() == client.get("/api/trips").json()
    problem_of(client.get(f"/api/users/{ed.pk}/trips"), 404)
