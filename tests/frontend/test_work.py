"""My work: claiming, continuing, taking up again."""

from __future__ import annotations

from annotation.models import Assignment
from annotation.services import assign
from tests import people


def test_claiming_leads_to_the_workbench_and_pressing_twice_gives_the_same_one(browse, cast, at):
    people.import_records(cast.project, 3)
    client = browse("ann")
    first = client.post(at("claim", "bench"), {"claim_key": "once"})
    assert first.url == at("workbench", Assignment.objects.get().pk)
    assert client.post(at("claim", "bench"), {"claim_key": "once"}).url == first.url
    assert Assignment.objects.count() == 1
    assert client.post(at("claim", "bench"), {"claim_key": "twice"}).url != first.url


def test_when_nothing_is_left_one_comes_back_with_a_sentence(browse, cast, at, text):
    response = browse("ann").post(at("claim", "bench"), follow=True)
    assert response.redirect_chain[0][0] == at("work", "bench")
    assert "There is nothing left for you to label" in text(response)


def test_claiming_needs_the_role_and_a_post(browse, cast, at):
    people.import_records(cast.project, 1)
    assert browse("ann").get(at("claim", "bench")).status_code == 405
    assert browse("judith").post(at("claim", "bench")).status_code == 403
    assert browse("admin").post(at("claim", "bench")).status_code == 403
    assert browse("oscar").post(at("claim", "bench")).status_code == 404


def test_the_tabs_show_what_is_open_submitted_and_returned(browse, cast, at, text):
    people.import_records(cast.project, 3)
    people.label_next(cast.ann, cast.project)
    back = people.claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=back, reason="Broken messages")
    people.claim(cast.ann, cast.project)
    client = browse("ann")
    page = client.get(at("work", "bench"))
    assert page.context["tabs"] == [("open", 1), ("submitted", 1), ("returned", 1)]
    assert "Broken messages" in text(client.get(at("work", "bench") + "?state=returned"))
    assert client.get(at("work", "bench") + "?state=nonsense").context["tab"] == "open"


def test_a_returned_trajectory_is_taken_up_again_while_a_place_is_free(browse, cast, at):
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=mine, reason="Later")
    assert browse("ben").post(at("resume", mine.pk)).status_code == 404
    assert browse("ann").post(at("resume", mine.pk)).url == at("workbench", mine.pk)
    assert browse("ann").post(at("resume", mine.pk)).status_code == 409


def test_only_ones_own_assignments_are_listed(browse, cast, at, text):
    people.import_records(cast.project, 2)
    theirs = people.claim(cast.ben, cast.project)
    assert at("workbench", theirs.pk) not in text(browse("ann").get(at("work", "bench")))
