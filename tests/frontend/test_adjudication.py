"""One case: A and B, decisions one by one, judges sealed until then, finishing, handing back."""

from __future__ import annotations

import re

import pytest

from annotation.core.vocabulary import AdjudicationState, TrajectoryState
from annotation.models import Adjudication, AuditEvent, Decision, Exposure, Trajectory
from annotation.services import discuss, projects, release
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.shared_rows import shared_rows


@shared_rows
def case(cast):
    """A dispute on one step and the outcome, taken by judith; the other step is agreed."""
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, [1, 1], outcome=1, note="Sound")
    people.label_next(cast.ben, cast.project, [1, -1], outcome=-1, note="Wrong")
    return people.open_case(cast.judith, trajectory)


def decide(client, at, case, index, value, version=0, **more):
    form = {"message_index": "" if index is None else index, "value": value, "version": version, **more}
    return client.post(at("adjudicate-decide", case.pk), form)


def test_queue_shows_how_much_is_disputed_and_gives_a_case(browse, cast, at, text):
    people.import_records(cast.project, 2)
    people.make_disputed(cast, 2)
    client = browse("judith")
    page = text(client.get(at("adjudication-queue", "bench")))
    assert "2 of 2 steps, outcome" in page
    trajectory = Trajectory.objects.first()
    response = client.post(at("adjudication-take", "bench", trajectory.pk))
    assert response.url == at("adjudication", Adjudication.objects.get().pk)
    assert client.post(at("adjudication-take", "bench", trajectory.pk)).url == response.url
    assert Exposure.objects.filter(user=cast.judith, trajectory=trajectory).exists()
    tabs = client.get(at("adjudication-queue", "bench") + "?tab=mine").context["list"].tabs.tabs
    counts = [("waiting", 1), ("mine", 1), ("decided", 0), ("others", 0)]
    assert [(name, count) for name, _title, count in tabs] == counts


def test_case_shows_a_and_b_without_names_and_folds_what_is_agreed(browse, cast, case, at, text):
    response = browse("judith").get(at("adjudication", case.pk))
    page = text(response)
    assert response.context["disputed"] == {4, None}
    assert re.findall(r'<(details|article) class="[^"]*step[^"]*"\s+id="(\w+)"', page) == [
        ("details", "m2"),
        ("article", "m4"),
        ("article", "outcome"),
    ]
    assert "Sound" in page
    assert "Wrong" in page
    for name in ("Ann", "Ben", "ann<", "ben<"):
        assert name not in page


def test_flags_on_the_whole_are_shown_by_letter(browse, case, at, text):
    case.trajectory.assignments.filter(slot=1).update(broken=True)
    page = text(browse("judith").get(at("adjudication", case.pk)))
    assert "broken trajectory" in page
    assert "needs discussion" not in page


def test_decision_is_saved_each_and_finishing_writes_the_consensus(browse, cast, case, at):
    client = browse("judith")
    assert decide(client, at, case, 4, -1, note="B is right").url.endswith("?at=4#m4")
    assert decide(client, at, case, None, -1).url.endswith("#outcome")
    assert client.post(at("adjudicate-close", case.pk)).url == at("adjudication-queue", "bench")
    case.refresh_from_db()
    assert case.state == AdjudicationState.DECIDED
    assert list(case.trajectory.consensus.order_by("step").values_list("value", flat=True)) == [1, -1]
    assert case.trajectory.outcome_consensus.value == -1


def test_decision_can_be_changed_from_the_version_one_has_seen_only(browse, case, at, text):
    client = browse("judith")
    decide(client, at, case, 4, 1)
    stale = decide(client, at, case, 4, 0, note="Typed <here>")
    assert stale.status_code == 409
    assert text(stale).count("This decision was changed elsewhere, and yours is not saved.") == 1
    assert "Typed &lt;here&gt;</textarea>" in text(stale)
    assert decide(client, at, case, 4, 0, version=1).status_code == 302
    assert Decision.objects.get().value == 0


def test_script_gets_json(browse, case, at):
    client = browse("judith")
    form = {"message_index": "4", "value": "-1", "version": "0"}
    url, json = at("adjudicate-decide", case.pk), {"accept": "application/json"}
    stored = client.post(url, form, headers=json).json()
    errors = stored.pop("errors")
    assert stored == {"value": -1, "version": 1, "by_majority": False}
    assert errors == ["step 2"]
    again = client.post(url, form, headers=json)
    assert again.status_code == 409
    assert again.json()["error"]["code"] == "stale_version"
    assert again.json()["error"]["details"] == {"value": -1, "version": 1, "note": ""}


@pytest.mark.parametrize(
    ("index", "value"), [("2", "1"), ("3", "1"), ("99", "1"), ("4", "2"), ("4", ""), ("4", "x"), ("x", "1")]
)
def test_decision_on_what_is_not_disputed_or_no_label_is_refused(browse, case, at, index, value):
    assert decide(browse("judith"), at, case, index, value).status_code == 400
    assert not Decision.objects.exists()


def test_case_finished_early_names_what_is_missing(browse, case, at, text):
    answer = browse("judith").post(at("adjudicate-close", case.pk), follow=True)
    assert answer.redirect_chain[0][0].endswith("?at=4#m4")
    assert "Step 2 and the outcome are undecided." in text(answer)
    case.refresh_from_db()
    assert case.state == AdjudicationState.OPEN


def test_case_seals_what_judges_say_until_it_is_decided(browse, case, at, text):
    make_imported_judge(case.project)
    client = browse("judith")
    asked = client.post(at("adjudicate-reveal", case.pk), {"message_index": "4"}, follow=True)
    assert "Decide this first: the judges’ suggestions for it are sealed until then." in text(asked)
    assert "sealed until you have decided" in text(asked)
    decide(client, at, case, 4, 1)
    assert "There are no suggestions from judges here." in text(
        client.post(at("adjudicate-reveal", case.pk), {"message_index": "4"}, follow=True)
    )


def test_case_tells_its_script_what_is_agreed_and_decided(browse, case, at):
    client = browse("judith")
    decide(client, at, case, 4, 0)
    state = client.get(at("adjudication", case.pk)).context["state"]
    steps = [(step["index"], step["number"], step["agreed"], step["decided"]) for step in state["steps"]]
    assert steps == [(2, 1, 1, None), (4, 2, None, 0)]
    says = state["steps"][1]["says"]
    assert sorted(says) == ["A", "B"]
    found = sorted((label["value"], label["root"]) for label in says.values())
    assert found == [(-1, 4), (1, None)]
    assert (state["steps"][1]["named"], state["steps"][0]["named"]) == (4, None)
    assert not state["rules"]["carry_forward"]


def test_case_is_handed_back_and_opened_again(browse, case, at):
    client = browse("judith")
    decide(client, at, case, 4, 1)
    decide(client, at, case, None, 1)
    client.post(at("adjudicate-close", case.pk))
    assert client.post(at("adjudicate-close", case.pk)).status_code == 409
    assert client.post(at("adjudicate-reopen", case.pk)).status_code == 302
    case.trajectory.refresh_from_db()
    assert case.trajectory.state == TrajectoryState.DISPUTED
    assert client.post(at("adjudicate-release", case.pk)).url == at("adjudication-queue", "bench")
    assert client.get(at("adjudication", case.pk)).status_code in (404, 403)


def test_decision_is_taken_back_and_what_was_agreed_counts_again(browse, case, at, text):
    client = browse("judith")
    decide(client, at, case, 4, 0, note="Neither.")
    assert "Take the decision back" in text(client.get(at("adjudication", case.pk)))
    form = {"message_index": "4", "version": "1"}
    url = at("adjudicate-withdraw", case.pk)
    stale = client.post(url, {**form, "version": "2"}, headers={"accept": "application/json"})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "stale_version")
    assert client.post(url, form).url == f"{at('adjudication', case.pk)}?at=4#m4"
    assert not Decision.objects.exists()
    kinds = list(case.events.values_list("kind", "value", "note"))
    assert kinds == [("decision", 0, "Neither."), ("withdrawal", 0, "Neither.")]


def test_majority_of_three_stands_with_one_button(browse, cast, at, text):
    projects.update_project(actor=cast.admin, project=cast.project, values={"annotators_per_trajectory": 3})
    (trajectory,) = people.import_records(cast.project, 1)
    for user, values in ((cast.ann, [1, -1]), (cast.ben, [1, -1]), (cast.cleo, [0, 1])):
        people.label_next(user, cast.project, values, outcome=1)
    case, client = people.open_case(cast.judith, trajectory), browse("judith")
    page = text(client.get(at("adjudication", case.pk)))
    assert page.count("Majority stands:") == 2
    for index in ("2", "4"):
        answer = client.post(at("adjudicate-majority", case.pk), {"message_index": index, "note": "Two."})
        assert answer.url == f"{at('adjudication', case.pk)}?at={index}#m{index}"
    assert "decided by majority" in text(client.get(at("adjudication", case.pk)))
    client.post(at("adjudicate-close", case.pk))
    rows = trajectory.consensus.order_by("step").values_list("value", "kind", "note", "root__message_index")
    assert list(rows) == [(1, "majority", "Two.", None), (-1, "majority", "Two.", 4)]
    assert "by majority" in text(client.get(at("adjudication", case.pk)))


def test_case_is_opened_again_by_another_adjudicator_until_a_release_holds_it(browse, cast, case, at, text):
    people.make_member(cast.project, cast.oscar, "adjudicator")
    people.make_member(cast.project, cast.cleo, "annotator", "adjudicator")
    decided = f"{at('adjudication-queue', 'bench')}?tab=others"
    reopen = at("adjudicate-reopen", case.pk)

    def close(client):
        for index in (4, None):
            decide(client, at, case, index, 1, case.decisions.filter(step__message_index=index).count())
        client.post(at("adjudicate-close", case.pk))

    close(browse("judith"))
    assert reopen not in text(browse("judith").get(decided))
    for who in ("oscar", "cleo", "admin"):
        assert reopen in text(browse(who).get(decided))
    assert browse("ann").post(reopen).status_code == 404

    assert browse("oscar").post(reopen).url == at("adjudication", case.pk)
    case.refresh_from_db()
    assert (case.adjudicator, case.state) == (cast.oscar, AdjudicationState.OPEN)
    assert not case.trajectory.consensus.exists()
    close(browse("oscar"))
    assert browse("admin").post(reopen).url == at("adjudication-queue", "bench")
    again = people.open_case(cast.judith, case.trajectory)
    for index in (4, None):
        decide(browse("judith"), at, again, index, 0)
    browse("judith").post(at("adjudicate-close", again.pk))

    release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    reopen = at("adjudicate-reopen", again.pk)
    assert "in release 1.0" in text(browse("oscar").get(decided))
    assert reopen not in text(browse("judith").get(at("adjudication", again.pk)))
    for who in ("judith", "oscar", "admin"):
        refused = browse(who).post(reopen, follow=True)
        assert "Release 1.0 holds this trajectory; its case stays closed" in text(refused)
    again.refresh_from_db()
    assert again.state == AdjudicationState.DECIDED
    verbs = AuditEvent.objects.filter(verb="case.reopen").order_by("pk")
    assert list(verbs.values_list("actor__username", flat=True)) == ["oscar", "admin"]


def test_adjudicator_names_where_an_error_began_and_why(browse, cast, at, text):
    (trajectory,) = people.import_records(cast.project, [people.make_record(steps=3)])
    people.label_next(cast.ann, cast.project, [-1, -1, -1], outcome=-1)
    people.label_next(cast.ben, cast.project, [1, -1, -1], outcome=-1)
    case, client = people.open_case(cast.judith, trajectory), browse("judith")
    page = text(client.get(at("adjudication", case.pk)))
    assert page.count("beginning disputed") == 2
    assert "data-origin" in page
    decide(client, at, case, 2, 0, root="2", reason="wrong_tool")  # of a 0 nothing began
    answer = decide(client, at, case, 4, -1, root="4", reason="wrong_tool")
    assert answer.url == f"{at('adjudication', case.pk)}?at=4#m4"
    client.post(at("adjudicate-close", case.pk))
    rows = trajectory.consensus.order_by("step").values_list("value", "kind", "root__message_index", "reason")
    assert list(rows) == [
        (0, "adjudicated", None, ""),
        (-1, "unanimous", 4, "wrong_tool"),
        (-1, "unanimous", None, ""),
    ]
    page = text(client.get(at("adjudication", case.pk)))
    assert "step 2 · Wrong tool for what is needed" in page
    assert "step 3: beginning open" in page


def test_finished_case_leads_to_the_next_as_long_as_there_is_one(browse, cast, at):
    first, second = people.import_records(cast.project, [people.make_record(n, steps=2) for n in range(2)])
    people.make_disputed(cast, 2)
    case, client = people.open_case(cast.judith, first), browse("judith")
    for is_there_a_next in (True, False):
        for index in (2, 4, None):
            decide(client, at, case, index, 1)
        answer = client.post(at("adjudicate-close", case.pk), {"then": "next"})
        case = Adjudication.objects.latest("pk")
        following = at("adjudication", case.pk) if is_there_a_next else at("adjudication-queue", "bench")
        assert answer.url == following
    assert case.trajectory == second and case.state == AdjudicationState.DECIDED


def test_every_key_of_a_case_is_named(browse, case, at):
    state = browse("judith").get(at("adjudication", case.pk)).context["state"]
    assert {f"key_{binding['id']}" for binding in state["keys"]} <= state["words"].keys()


def test_step_that_the_discussion_has_made_disputed_can_be_decided(browse, cast, case, at):
    talk = discuss.open_discussion(actor=cast.judith, trajectory=case.trajectory)
    discuss.revise(actor=cast.ann, discussion=talk, message_index=2, value=0, note="Nothing comes of it.")
    client = browse("judith")
    assert client.get(at("adjudication", case.pk)).context["disputed"] == {2, 4, None}
    assert decide(client, at, case, 2, 0).url == f"{at('adjudication', case.pk)}?at=2#m2"


def test_case_is_for_nobody_who_labelled_it(browse, cast, at, text):
    people.make_member(cast.project, cast.ann, "annotator", "adjudicator")
    trajectory = people.import_records(cast.project, 1)[0]
    people.make_disputed(cast)
    client = browse("ann")
    assert not list(client.get(at("adjudication-queue", "bench")).context["list"].page)
    # It is theirs to see, so this is a refusal.
    assert client.post(at("adjudication-take", "bench", trajectory.pk)).status_code == 403
    assert not Adjudication.objects.exists()


def test_annotators_find_no_case_and_admins_only_read(browse, cast, case, at, text):
    for who in ("ann", "ben", "cleo"):
        assert browse(who).get(at("adjudication", case.pk)).status_code == 404
        assert browse(who).get(at("adjudication-queue", "bench")).status_code == 403
    page = text(browse("admin").get(at("adjudication", case.pk)))
    assert "belongs to Judith" in page
    assert "data-decide" not in page
    assert decide(browse("admin"), at, case, 4, 1).status_code == 403
