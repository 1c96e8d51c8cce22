"""Judges first on its page, over the API and as a command: what it says beforehand, settles and tells."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import JudgesFirstVerdict, Trajectory
from annotation.services import projects
from tests.callers import Caller
from tests.commands.calling import fails, run
from tests.fixtures.judges_first import import_keyed, make_judges_first_cast, say
from tests.fixtures.shared_rows import shared_rows
from tests.frontend.chinese import CHINESE, Words, english, speak_chinese
from tests.services.publishing import freeze

VOTES = [["key"] * 3, ["reverse"] * 3, ["key", "mixed", "key"], ["same"] * 3]


@shared_rows
def first():
    """A project that asks judges first, four decisions and what three judges say of them."""
    cast, rows, judges = make_judges_first_cast(4, judged_sample=1)
    say(judges, rows, VOTES)
    return cast, rows, judges


@pytest.fixture
def cast(first):
    return first[0]


def settle(cast, judges):
    return Caller(cast.admin).post("/projects/bench/judges-first/", {"judges": [one.pk for one in judges]})


def test_page_says_beforehand_what_comes_to_what_and_settles_it(browse, first, cast, at, text):
    client, url, judges = browse("admin"), at("judges-first", "bench"), first[2]
    assert url in text(client.get(at("judges", "bench")))
    assert "Waiting for judges" in text(client.get(at("project", "bench")))
    page = client.get(url, {"judges": [judges[0].pk, judges[1].pk]})
    assert page.status_code == 400 and "Choose at least 3 judges." in text(page)

    chosen = {"judges": [one.pk for one in judges]}
    page = client.get(url, chosen)
    planned = page.context["planned"]
    assert (planned.judged, planned.dropped, planned.people, planned.waiting) == (2, 1, 1, 0)
    assert not JudgesFirstVerdict.objects.exists()
    done = text(client.post(url, chosen, follow=True))
    assert "Settled: 2 judged, 1 dropped, 1 for people." in done
    assert "0 of 1 that were drawn by chance have come back." in done
    assert "Nothing is left that judges could settle." in text(client.post(url, chosen))

    listed = text(client.get(at("trajectories", "bench"), {"state": "judged"}))
    assert listed.count(">judged</span>") == 2, "the drawn one is labelled by people"
    assert "Settled by judges" in text(client.get(at("label-quality", "bench")))
    assert "judged" in text(client.get(at("project", "bench")))
    row = Trajectory.objects.filter(state="judged").first()
    shown = text(client.get(at("trajectory", "bench", row.pk)))
    assert shown.count("Consensus") == 4, "of three options and the outcome, though nobody labelled them"
    history = text(client.get(at("history", row.pk)))
    assert "became the consensus" in history and "judged" in history
    sent = client.post(at("judges-first-send-back", "bench"), {"trajectory": row.pk}, follow=True)
    assert "1 decision goes to people." in text(sent)
    assert "1 decision goes to people." in text(
        client.post(at("judges-first-send-back", "bench"), follow=True)
    )
    assert "Judges have settled none" in text(client.post(at("judges-first-send-back", "bench"), follow=True))


def test_page_needs_as_many_queries_for_any_number_and_is_chinese(browse, first, cast, at):
    client, url, judges = browse("admin"), at("judges-first", "bench"), first[2]

    def queries() -> int:
        client.get(url)
        with CaptureQueriesContext(connection) as asked:
            client.get(url, {"judges": [one.pk for one in judges]})
        return len(asked)

    before = queries()
    say(judges, import_keyed(cast.project, 20, first=4), VOTES * 5)
    assert queries() == before <= 30
    settle(cast, judges)
    speak_chinese(cast)
    for name in ("judges-first", "project", "label-quality", "project-settings"):
        texts = Words(client.get(at(name, "bench")).content.decode()).found
        assert any(CHINESE.search(one) for one in texts)
        assert [one for one in english(texts) if "canary" not in one] == [], name


def test_api_previews_settles_tells_and_sends_back(first, cast):
    api, judges, place = Caller(cast.admin), first[2], "/projects/bench/judges-first/"
    chosen = {"judges": [one.pk for one in judges]}
    assert api.get(place).json()["waiting"] == 4
    expected = {"judged": 2, "dropped": 1, "people": 1, "claimed": 0, "lacking": 0, "waiting": 0}
    assert api.post(f"{place}preview/", chosen).json() == expected
    assert api.post(place, chosen).json() == expected
    told = api.get(place).json()
    assert (told["judged"], told["waiting"], told["audit"]["drawn"]) == (2, 0, 1)
    assert api.get("/projects/bench/label-quality/").json()["judges_first"] == told
    assert api.post(place, chosen).json()["error"]["code"] == "nothing_left"
    judged = Trajectory.objects.filter(state="judged", outcome_consensus__value=1).get()
    assert api.post(f"{place}send-back/", {"trajectories": [judged.pk]}).json() == {"sent": 1}
    assert api.post(f"{place}send-back/", {"trajectories": [judged.pk]}).status_code == 409
    # who may not administer learns nothing, and no address is there for projects of steps
    assert Caller(cast.ann).get(place).status_code == 403
    assert api.patch("/projects/bench/", {"judged_sample": 7}).json()["judged_sample"] == 7


def test_command_previews_and_settles(first, cast):
    named = [part for judge in first[2] for part in ("--judge", judge.name)]
    assert (
        "2 trajectories judged, 1 dropped, 1 for people"
        in run("suggest", "bench", *named, "--settle", "--estimate").err
    )
    assert not JudgesFirstVerdict.objects.exists()
    said = json.loads(run("suggest", "bench", *named, "--settle", "--json").out)
    assert (said["judged"], said["dropped"], said["people"]) == (2, 1, 1)
    assert "settled by judges (judged 2, dropped 1)" in run("label_quality", "bench").out
    assert "one judge" in fails("suggest", "bench", *named).out
    assert "Nothing is left" in fails("suggest", "bench", *named, "--settle").out


def test_release_tells_what_judges_settled(browse, first, cast, at, text):
    settle(cast, first[2])
    freeze(cast.project)
    page = text(browse("admin").get(at("release", "bench", "1.0")))
    assert "2 judged, 1 dropped" in page and "0–2" in page


def test_page_says_that_judges_are_not_asked_first(browse, first, cast, at, text):
    projects.update_project(actor=cast.admin, project=cast.project, values={"judges_first": False})
    page = text(browse("admin").get(at("judges-first", "bench")))
    assert "does not ask judges first" in page and at("project-settings", "bench") in page
