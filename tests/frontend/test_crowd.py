"""People of a crowd service on the pages: arriving, working, leaving; links and places for admins."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.throttling import SimpleRateThrottle

from annotation.models import CrowdLink, CrowdPlace, User
from annotation.services import projects
from tests import people
from tests.callers import Caller

ID = "5f3a9c0d1e2b4a6978c0ffee"
LINK = {
    "name": "Batch one",
    "id_parameter": "PROLIFIC_PID",
    "places": "3",
    "minutes": "90",
    "trajectories": "1",
    "completed_code": "DONE42",
    "screened_code": "OUT17",
    "return_url": "https://app.example.org/complete?cc={code}",
}


@pytest.fixture
def link(browse, cast, at):
    people.import_records(cast.project, 3)
    made = browse("admin").post(at("crowd-link-new", "bench"), LINK)
    assert made.status_code == 302
    return CrowdLink.objects.get()


def arrive(at, link, outside_id=ID, client=None):
    """A browser that opens the link with an id and presses the button."""
    client = client or Client()
    address = at("crowd-arrival", link.token)
    page = client.get(f"{address}?PROLIFIC_PID={outside_id}&STUDY_ID=s&SESSION_ID=t")
    assert page.status_code == 200
    assert CrowdPlace.objects.filter(outside_id=outside_id).count() in (0, 1)
    return client, client.post(address, {"participant": outside_id})


def test_arrival_takes_a_place_by_its_button_and_never_by_a_look(cast, at, link):
    before = User.objects.count()
    client, answer = arrive(at, link)
    assert answer.headers["Location"] == at("project", "bench")
    assert User.objects.count() == before + 1
    overview = client.get(at("project", "bench")).content.decode()
    assert "0 of 1 submitted" in overview
    assert ID not in overview
    again, _answer = arrive(at, link)
    assert again.session["_auth_user_id"] == client.session["_auth_user_id"]
    assert client.get(f"{at('crowd-arrival', link.token)}?PROLIFIC_PID={ID}").status_code == 302


def test_place_is_finished_on_its_page_with_the_code_and_the_way_back(cast, at, link):
    client, _answer = arrive(at, link)
    place = CrowdPlace.objects.get()
    own = at("crowd-place", place.pk)
    early = client.post(own, {"finish": "1"})
    assert early.status_code == 409
    assert "0 of 1 trajectories are submitted." in early.content.decode()
    people.label_next(place.user, cast.project, [1, 1], outcome=1)
    refused = client.post(at("claim", "bench"), follow=True).content.decode()
    assert "These are all 1 trajectories of your place" in refused
    assert "Finish and get the code" in client.get(at("work", "bench")).content.decode()
    ended = client.post(own, {"finish": "1"}, follow=True).content.decode()
    assert 'href="https://app.example.org/complete?cc=DONE42"' in ended
    assert arrive(at, link)[1].headers["Location"] == own
    assert client.get(at("crowd-link", "bench", link.pk)).status_code == 403


def test_place_is_returned_on_its_page(cast, at, link):
    client, _answer = arrive(at, link)
    own = at("crowd-place", CrowdPlace.objects.get().pk)
    assert "OUT17" in client.post(own, {"return": "1"}, follow=True).content.decode()
    assert client.post(own, {"return": "1"}).status_code in (403, 409)
    assert client.get(at("project", "bench")).status_code == 404
    assert client.get(at("home")).headers["Location"] == own


def test_arrival_says_in_a_sentence_why_it_is_refused(browse, cast, at, link):
    address = at("crowd-arrival", link.token)
    asked = f"{address}?PROLIFIC_PID={ID}"
    for client, url, status, sentence in (
        (browse("ann"), asked, 409, "You are signed in as ann."),
        (browse("admin"), asked, 409, "You are signed in as admin."),
        (Client(), address, 400, "The link lacks your id."),
        (Client(), f"{address}?PROLIFIC_PID=%7B%7B%25PID%25%7D%7D", 400, "is no id"),
        (arrive(at, link)[0], f"{address}?PROLIFIC_PID=second", 409, "One person has one place"),
        (Client(), at("crowd-arrival", "gone"), 404, "There is no such link."),
    ):
        answer = client.get(url)
        assert (answer.status_code, sentence in answer.content.decode()) == (status, True), sentence
    browse("admin").post(at("crowd-link-close", "bench", link.pk), {"close": "1"})
    assert "This link is closed" in Client().get(f"{address}?PROLIFIC_PID=late").content.decode()
    assert CrowdPlace.objects.count() == 1


def test_arrivals_from_one_address_are_slowed_down(at, link, monkeypatch):
    monkeypatch.setitem(SimpleRateThrottle.THROTTLE_RATES, "crowd", "2/min")
    address = f"{at('crowd-arrival', link.token)}?PROLIFIC_PID={ID}"
    assert [Client().get(address, REMOTE_ADDR="203.0.113.9").status_code for _ in range(3)] == [200, 200, 429]


def test_places_are_listed_for_admins_and_written_to_a_file(browse, cast, at, link):
    arrive(at, link)
    arrive(at, link, "second")
    listed = at("crowd-link", "bench", link.pk)
    page = browse("admin").get(listed).content.decode()
    assert ID in page
    assert f"/join/crowd/{link.token}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}" in page
    answer = browse("admin").get(f"{listed}?as=csv&state=active")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert {row["participant"] for row in rows} == {ID, "second"}
    assert (rows[0]["state"], rows[0]["submitted"], rows[0]["hours"], rows[0]["code"]) == (
        "active",
        "0",
        "0.00",
        "",
    )
    for who in ("ann", "judith"):
        assert browse(who).get(listed).status_code == 403
    assert "Batch one" in browse("admin").get(at("crowd-links", "bench")).content.decode()
    for name in ("audit", "members", "project", "claims"):
        assert ID not in browse("admin").get(at(name, "bench")).content.decode()


def test_link_is_changed_and_not_over_what_somebody_else_saved(browse, at, link):
    edit = at("crowd-link-edit", "bench", link.pk)
    page = browse("admin").get(edit).content.decode()
    assert 'value="90"' in page
    wrong = browse("admin").post(edit, {**LINK, "return_url": "http://x.example.org"})
    assert (wrong.status_code, "begins with https://" in wrong.content.decode()) == (400, True)
    stale = browse("admin").post(edit, {**LINK, "places": "9", "began": '{"version": "old", "values": {}}'})
    assert stale.status_code == 409
    link.refresh_from_db()
    assert link.places == 3


def test_places_in_the_api(cast, at, link):
    admin, client = Caller(cast.admin), arrive(at, link)[0]
    place = CrowdPlace.objects.get()
    assert admin.get("/projects/bench/crowd-links/").json()["results"][0]["taken"] == 1
    listed = admin.get(f"/projects/bench/crowd-links/{link.pk}/places/").json()["results"]
    assert [(row["participant"], row["state"], row["submitted"]) for row in listed] == [(ID, "active", 0)]
    changed = admin.patch(f"/projects/bench/crowd-links/{link.pk}/", {"places": 1, "closed": True}).json()
    assert (changed["places"], changed["closed"]) == (1, True)
    own = f"/api/v1/crowd-places/{place.pk}/"
    mine = client.get(own).json()
    assert (mine["submitted"], mine["trajectories"], mine["code"]) == (0, 1, "")
    assert ID not in str(mine)
    assert admin.get(f"/crowd-places/{place.pk}/").status_code == 404
    CrowdPlace.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    assert projects.sweep_places() == 1
    assert client.get(own).json()["state"] == "timed_out"
