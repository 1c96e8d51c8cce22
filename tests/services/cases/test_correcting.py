"""Correcting first errors: who gets which, what may be saved, what judges propose, and what is derived."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.decisions.corrections import TypedCall
from annotation.core.errors import Conflict, Denied, Invalid, StaleState, StaleVersion
from annotation.core.vocabulary import AdjudicationState, CorrectionState, SecondReader
from annotation.models import (
    Adjudication,
    AuditEvent,
    Consensus,
    Correction,
    Exposure,
    Project,
    Release,
    Trajectory,
    User,
)
from annotation.policies import field_access, visible
from annotation.policies.corrections import waiting
from annotation.services import adjudicate, assign, claim_expiry, correct, derive, noted_reads
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast
from tests.services.together import together

SEARCHES = TypedCall("search", '{"query": "Bern", "limit": 3}')


def draft(text: str = "", *calls: TypedCall, **more: Any) -> correct.Draft:
    said: dict[str, Any] = {"answer": "action", "origin": "written", "text": text, "calls": calls, **more}
    return correct.Draft(**said)


def saved(user: User, project: Project, what: correct.Draft) -> Correction:
    row = correct.take(actor=user, project=project)
    return correct.save_correction(actor=user, correction=row, draft=what, version=row.version)


def error_of(query: int) -> Consensus:
    return Consensus.objects.get(trajectory__query_index=query, trajectory__sample_index=1, value=-1)


def derived(cast: Cast, made: Release, project: Project) -> dict[str, dict[str, Any]]:
    """What becomes of each task: the options by their text, or their call."""
    source = derive.derive(
        actor=cast.admin,
        release=made,
        project=project,
        subset="first",
        request=derive.DerivationRequest.of(recipe="first-error"),
        enqueue=False,
    )
    derive.run_import(source_id=source.pk)
    found = {}
    for item in Trajectory.objects.filter(source=source, live=True).select_related("content"):
        record = json.loads(item.content.raw_bytes())
        found[record["question"]] = {
            option["message"]["content"] or option["message"]["tool_calls"][0]["function"]["name"]: option
            for option in record["options"]
        }
    return found


# ── Taking ────────────────────────────────
@pytest.mark.postgres
def test_correction_is_taken_by_one_person_who_is_noted_as_having_seen_the_consensus(parted: Cast) -> None:
    mine = correct.take(actor=parted.cleo, project=parted.project)
    assert correct.take(actor=parted.cleo, project=parted.project) == mine
    theirs = correct.take(actor=parted.judith, project=parted.project)
    assert {mine.trajectory.query_index, theirs.trajectory.query_index} == {0, 1}
    assert mine.step == error_of(mine.trajectory.query_index).step
    for user in (parted.ann, parted.admin):
        with pytest.raises(Conflict) as refusal:
            correct.take(actor=user, project=parted.project)
        assert refusal.value.code == "nothing_left"
    with pytest.raises(Conflict) as taken:
        error = error_of(theirs.trajectory.query_index)
        correct.take(actor=parted.admin, project=parted.project, error=error)
    assert taken.value.code == "taken"
    with pytest.raises(Denied):
        correct.take(actor=parted.oscar, project=parted.project)

    seen = Exposure.objects.filter(user=parted.cleo, kind="consensus")
    assert set(seen.values_list("trajectory", flat=True)) == {mine.trajectory_id}
    # with the right action of the other run its consensus is seen as well
    case = noted_reads.correction(actor=parted.cleo, row=mine)
    assert [one.message["content"] for one in case.siblings] == [
        f"The answer to {mine.trajectory.query_index} is 0."
    ]
    assert set(seen.values_list("trajectory__sample_index", flat=True)) == {0, 1}
    assert len(case.shown.messages) == case.wrong.index + 1 == 5
    assert visible(parted.cleo, Trajectory.objects.all()).get() == mine.trajectory
    assert field_access(parted.cleo, mine.trajectory).mode == "corrector"
    assert not visible(parted.ann, Correction.objects.all()).exists()
    assert visible(parted.admin, Correction.objects.all()).count() == 2


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_correction_is_given_out_once_to_those_who_ask_at_the_same_moment(parted: Cast) -> None:
    project = Project.objects.get(pk=parted.project.pk)
    users = [parted.cleo, parted.judith, parted.admin, parted.ann, parted.ben]
    calls: list[Callable[[], Any]] = [
        lambda user=user: correct.take(actor=user, project=project)  # type: ignore[misc]
        for user in users
    ]
    results = together(*calls)
    assert len({row.step_id for row in results if isinstance(row, Correction)}) == 2
    assert sorted(getattr(row, "code", "") for row in results) == ["", "", *["nothing_left"] * 3]
    assert Correction.objects.count() == 2


def test_correction_waits_while_a_person_could_still_label_a_run_of_the_task(parted: Cast) -> None:
    people.import_records(parted.project, [people.make_record(query, 7) for query in (0, 1)], subset="tiny")
    with pytest.raises(Conflict) as refusal:
        correct.take(actor=parted.cleo, project=parted.project)
    assert refusal.value.code == "nothing_left"
    assert correct.take(actor=parted.judith, project=parted.project).state == CorrectionState.OPEN


def test_correction_is_kept_from_annotators_where_the_consensus_would_tell_too_much(parted: Cast) -> None:
    Project.objects.filter(pk=parted.project.pk).update(retest_percent=10)
    parted.project.refresh_from_db()
    for user in (parted.ann, parted.ben):
        with pytest.raises(Conflict):
            correct.take(actor=user, project=parted.project)
    assert correct.take(actor=parted.cleo, project=parted.project)
    Project.objects.filter(pk=parted.project.pk).update(
        second_reader=SecondReader.JUDGES, suggestion_policy="never", retest_percent=0
    )
    with pytest.raises(Conflict) as judges:
        correct.take(actor=parted.ann, project=Project.objects.get(pk=parted.project.pk))
    assert "judges may be the second reader" in judges.value.message


def test_correction_is_withdrawn_and_restored_by_its_author_and_taken_back_by_admins(parted: Cast) -> None:
    row = saved(parted.cleo, parted.project, draft("Which day?"))
    correct.withdraw(actor=parted.cleo, correction=row)
    assert field_access(parted.cleo, row.trajectory).mode == "none"
    assert correct.restore(actor=parted.cleo, correction=row).state == CorrectionState.SAVED
    with pytest.raises(Denied):
        correct.withdraw(actor=parted.judith, correction=row)
    correct.withdraw(actor=parted.admin, correction=row)
    with pytest.raises(StaleState):
        correct.withdraw(actor=parted.admin, correction=row)
    with pytest.raises(StaleState):
        correct.save_correction(actor=parted.cleo, correction=row, draft=draft("x"), version=1)
    error = Consensus.objects.get(step=row.step)
    correct.take(actor=parted.judith, project=parted.project, error=error)
    with pytest.raises(Conflict) as taken:
        correct.restore(actor=parted.cleo, correction=row)
    assert taken.value.code == "taken"
    verbs = AuditEvent.objects.filter(verb__startswith="correction.").order_by("pk")
    assert list(verbs.values_list("verb", flat=True)) == [
        *("correction.take", "correction.save", "correction.withdraw"),
        *("correction.restore", "correction.withdraw", "correction.take"),
    ]
    # who leaves holds nothing up
    parted.project.memberships.filter(user=parted.judith).delete()
    assert claim_expiry.sweep() == 1
    assert waiting(parted.project).filter(pk=error.pk).exists()


# ── Saving ────────────────────────────────
@pytest.mark.postgres
def test_correction_is_saved_once_for_every_version(parted: Cast) -> None:
    row = saved(parted.cleo, parted.project, draft("Which day?", reason="It was not said. \x00"))
    assert (row.version, row.origin, row.error_class) == (1, "written", "")
    assert correct.described(row)["reason"] == "It was not said. \x00"
    # an answer that was lost on its way: the same once more
    again = draft("Which day?", reason="It was not said. \x00")
    assert correct.save_correction(actor=parted.cleo, correction=row, draft=again, version=0).version == 1
    with pytest.raises(StaleVersion) as stale:
        correct.save_correction(actor=parted.cleo, correction=row, draft=draft("Which?"), version=0)
    assert stale.value.details["version"] == 1
    assert stale.value.details["current"]["message"] == {"role": "assistant", "content": "Which day?"}

    call = draft("", SEARCHES, origin="edited")
    row = correct.save_correction(actor=parted.cleo, correction=row, draft=call, version=1)
    assert (row.version, row.origin, row.error_class) == (2, "edited", "should_have_called")
    wrong = draft("", SEARCHES, error_class="wrong_tool")
    row = correct.save_correction(actor=parted.cleo, correction=row, draft=wrong, version=2)
    assert row.error_class == "wrong_tool"
    nothing = correct.Draft(answer="nothing_wrong", reason="It answers.", error_class="wrong_tool")
    row = correct.save_correction(actor=parted.cleo, correction=row, draft=nothing, version=3)
    assert (row.message, row.origin, row.error_class) == ("", "", "")
    with pytest.raises(Denied):
        correct.save_correction(actor=parted.admin, correction=row, draft=nothing, version=4)


@pytest.mark.parametrize(
    ("what", "fields"),
    [
        (correct.Draft(answer="perhaps"), {"answer"}),
        (draft("x", origin="oracle"), {"origin"}),
        (draft("x", origin="sibling", sibling=0), {"sibling"}),
        (draft("x", origin="judge"), {"proposal"}),
        (draft("", reason="x" * 20_001), {"text", "reason"}),
        (draft("x", error_class="bad"), {"error_class"}),
        (draft("", TypedCall("search", '{"query": 7, "day": 1}')), {"calls[0].arguments"}),
        (
            draft("", TypedCall("find", "{}"), TypedCall("search", "{")),
            {"calls[0].name", "calls[1].arguments"},
        ),
        (draft("The answer to 0 is 1."), {"text"}),
    ],
)
def test_correction_is_refused_by_field(parted: Cast, what: correct.Draft, fields: set[str]) -> None:
    row = correct.take(actor=parted.admin, project=parted.project, error=error_of(0))
    with pytest.raises(Invalid) as refusal:
        correct.save_correction(actor=parted.admin, correction=row, draft=what, version=0)
    assert set(refusal.value.fields) == fields
    row.refresh_from_db()
    assert (row.state, row.version) == (CorrectionState.OPEN, 0)


def test_correction_with_a_call_that_nothing_can_check_needs_a_word(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project, [1, -1])
    with pytest.raises(Invalid) as refusal:
        saved(cast.judith, cast.project, draft("", SEARCHES))
    assert set(refusal.value.fields) == {"checked_myself"}
    assert saved(cast.judith, cast.project, draft("", SEARCHES, checked_myself=True)).version == 1


def test_correction_of_what_is_no_first_error_any_more_is_refused(parted: Cast) -> None:
    row = correct.take(actor=parted.admin, project=parted.project, error=error_of(1))
    case = Adjudication.objects.get(state=AdjudicationState.DECIDED)
    adjudicate.reopen_case(actor=parted.judith, adjudication=case)
    with pytest.raises(StaleState) as refusal:
        correct.save_correction(actor=parted.admin, correction=row, draft=draft("x"), version=0)
    assert refusal.value.code == "no_first_error"
    shown = noted_reads.correction(actor=parted.admin, row=row)
    assert (shown.resolved, shown.siblings) == (None, [])


@pytest.mark.postgres
def test_correction_keeps_its_rules_in_the_database(parted: Cast) -> None:
    row = saved(parted.cleo, parted.project, draft("Which day?"))
    judge = make_imported_judge(parted.project)
    values = {
        name: getattr(row, name)
        for name in ("project", "trajectory", "step", "author", "state", "answer", "origin", "message")
    } | {"created_at": timezone.now(), "saved_at": timezone.now()}
    for changes in (
        {},  # one active a step
        {"state": "proposed"},
        {"state": "withdrawn", "judge": judge},
        {"state": "withdrawn", "message": ""},
        {"state": "withdrawn", "answer": "nothing_wrong"},
        {"state": "withdrawn", "answer": "perhaps", "message": "", "origin": ""},
        {"state": "withdrawn", "saved_at": None},
        {"state": "withdrawn", "error_class": "bad"},
        {"state": "withdrawn", "sibling": row.step},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Correction.objects.create(**{**values, **changes})
    Correction.objects.create(**{**values, "state": "withdrawn"})


# ── Proposals ─────────────────────────────
def test_proposal_of_a_judge_is_sealed_until_the_author_has_saved(parted: Cast) -> None:
    judge = make_imported_judge(parted.project)
    error = error_of(0)

    def proposed(index: int = error.step.message_index, **says: Any) -> correct.Proposal:
        return correct.Proposal(error.trajectory, index, **{"answer": "action", "text": "Bern?", **says})

    bad = [proposed(2), proposed(answer="?"), proposed(calls=[TypedCall("search", "{}")])]
    outcome = correct.propose(actor=parted.admin, judge=judge, given=[proposed(), *bad, proposed(reason="r")])
    assert len(outcome.done) == 2 and outcome.done[0] == outcome.done[1]
    assert [refused.code for _one, refused in outcome.refused] == ["no_first_error", "invalid", "invalid"]
    with pytest.raises(Denied):
        correct.propose(actor=parted.judith, judge=judge, given=[proposed()])

    row = correct.take(actor=parted.cleo, project=parted.project, error=error)
    assert visible(parted.cleo, Correction.objects.all()).get() == row
    assert visible(parted.root, Correction.objects.all()).get() == row
    with pytest.raises(Conflict) as sealed:
        correct.reveal(actor=parted.cleo, correction=row)
    assert sealed.value.code == "save_first"
    row = correct.save_correction(actor=parted.cleo, correction=row, draft=draft("Which day?"), version=0)
    (shown,) = correct.reveal(actor=parted.cleo, correction=row)
    assert (shown.action, shown.reason) == ({"role": "assistant", "content": "Bern?"}, "r")
    assert Exposure.objects.filter(user=parted.cleo, kind="suggestion", step=row.step).exists()
    late = correct.propose(actor=parted.admin, judge=judge, given=[proposed(text="No, Basel?")])
    assert [refused.code for _one, refused in late.refused] == ["seen"]

    # what is taken over is a judge's, also when it was typed
    for what in (draft(origin="judge", proposal=shown.pk), draft("Bern?")):
        row = correct.save_correction(actor=parted.cleo, correction=row, draft=what, version=row.version)
        assert (row.origin, row.version) == ("judge", 2)


# ── Deriving ──────────────────────────────
@pytest.mark.postgres
def test_correction_becomes_an_option_that_its_author_never_verifies(
    parted: Cast, parted_release: Release, choices: Project
) -> None:
    first = correct.take(actor=parted.cleo, project=parted.project, error=error_of(0))
    correct.save_correction(
        actor=parted.cleo, correction=first, draft=draft("", SEARCHES, reason="Look first."), version=0
    )
    second = correct.take(actor=parted.admin, project=parted.project, error=error_of(1))
    (sibling,) = noted_reads.correction(actor=parted.admin, row=second).siblings
    taken = draft(origin="sibling", sibling=sibling.step.pk)
    correct.save_correction(actor=parted.admin, correction=second, draft=taken, version=0)

    items = derived(parted, parted_release, choices)
    searched = items["Question 0?"]["search"]
    assert (searched["key"], searched["origin"], searched["reason"]) == (1, "written", "Look first.")
    assert searched["source"] == {
        "correction": first.pk,
        "version": 1,
        "error_class": "should_have_called",
        "proposals_seen": False,
    }
    # the sibling's action is in the release, and so an option already
    assert {text: option["key"] for text, option in items["Question 1?"].items()} == {
        "The answer to 1 is 0.": 1,
        "The answer to 1 is 1.": -1,
    }
    assert assign.claim_next(actor=parted.cleo, project=choices).trajectory.task.question == "Question 1?"
    with pytest.raises(Conflict):
        assign.claim_next(actor=parted.cleo, project=choices)


def test_correction_that_finds_nothing_wrong_or_nothing_right_makes_no_item(
    parted: Cast, parted_release: Release, choices: Project
) -> None:
    for query, user, answer in (
        (0, parted.cleo, "nothing_wrong"),
        (1, parted.judith, "no_right_action"),
    ):
        row = correct.take(actor=user, project=parted.project, error=error_of(query))
        said = correct.Draft(answer=answer)
        correct.save_correction(actor=user, correction=row, draft=said, version=0)
    request = derive.DerivationRequest.of(recipe="first-error")
    with pytest.raises(Conflict) as refusal:
        derive.preview_derivation(
            actor=parted.admin, release=parted_release, project=choices, request=request
        )
    assert refusal.value.code == "nothing_to_derive"

    correct.withdraw(actor=parted.judith, correction=Correction.objects.get(author=parted.judith))
    preview = derive.preview_derivation(
        actor=parted.admin, release=parted_release, project=choices, request=request
    )
    counts = preview.counts.as_json(request.recipe)
    assert [counts[name] for name in ("items", "nothing_wrong", "no_right_action")] == [1, 1, 0]
