"""Deriving decisions from a release: what comes in, who may not verify it, and what refuses it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.decisions.recipes import TOO_FEW_LEFT, DerivedCounts
from annotation.core.errors import Conflict, Denied, Invalid, TristepError
from annotation.core.vocabulary import ImportState
from annotation.models import Dispute, Exposure, ImportFile, Project, Release, Task, Trajectory
from annotation.policies import OPERATOR, visible
from annotation.reports.cases.disputes import to_decide
from annotation.services import adjudicate, assign, derive, ingest, label, release
from annotation.services.ingest import run as running
from tests import people
from tests.people import Cast
from tests.services.publishing import freeze
from tests.services.receiving import Killed


def derived(cast: Cast, made: Release, project: Project, recipe: str = "shared", **more: Any) -> ImportFile:
    request = derive.DerivationRequest.of(recipe=recipe, **more)
    source = derive.derive(
        actor=cast.admin, release=made, project=project, subset="first", request=request, enqueue=False
    )
    return derive.run_import(source_id=source.pk)


@pytest.mark.postgres
@pytest.mark.parametrize("recipe", ["shared", "first-error"])
def test_derive_brings_each_history_at_which_the_runs_part(
    parted: Cast, parted_release: Release, choices: Project, recipe: str
) -> None:
    source = derived(parted, parted_release, choices, recipe, seed=7)

    assert (source.state, source.created_count, source.step_count) == (ImportState.PUBLISHED, 2, 4)
    assert source.target.name == "first"
    assert source.progress_done == source.progress_total > 0
    assert source.derived_from == {
        "release": str(parted_release.pk),
        "project": "bench",
        "version": "1.0",
        "digest": parted_release.digest,
        "recipe": recipe,
        "seed": 7,
        "options": None,
        "anyway": False,
    }
    counts = DerivedCounts.of_notes(source.notes)
    assert (counts.items, counts.tasks, counts.pairs, counts.left_out) == (2, 2, 2, 0)
    for item in Trajectory.objects.filter(source=source, live=True).select_related("content"):
        record = json.loads(item.content.raw_bytes())
        said = {option["message"]["content"]: option["key"] for option in record["options"]}
        query = record["question"].removeprefix("Question ").removesuffix("?")
        assert said == {f"The answer to {query} is 0.": 1, f"The answer to {query} is 1.": -1}

    again = derived(parted, parted_release, choices, recipe)
    assert (again.created_count, again.unchanged_count) == (0, 2)
    assert Trajectory.objects.filter(project=choices).count() == 2


def test_derive_questions_keeps_how_they_were_asked_for(
    parted: Cast, parted_release: Release, choices: Project
) -> None:
    asked = {"fewer": True, "successful": True, "language": "zh"}
    source = derived(parted, parted_release, choices, "next-step", **asked)

    assert asked.items() <= source.derived_from.items()
    assert derive.DerivationRequest.of_source(source) == derive.DerivationRequest.of(
        recipe="next-step", **asked
    )
    counts = DerivedCounts.of_notes(source.notes)
    assert (source.created_count, counts.items, counts.clean, counts.successful) == (4, 4, 2, 4)
    row = Trajectory.objects.filter(source=source).select_related("content")[0]
    assert row.content.parsed()["decision"] == {"kind": "choice", "ability": "planning", "language": "zh"}
    assert Exposure.objects.filter(trajectory=row, kind="source").exists()


@pytest.mark.postgres
def test_derive_keeps_items_from_those_who_labelled_or_decided_their_source(
    parted: Cast, parted_release: Release, choices: Project
) -> None:
    source = derived(parted, parted_release, choices)

    exposed = Exposure.objects.filter(trajectory__source=source, kind="source")
    of_tasks = {
        question: set(
            exposed.filter(trajectory__task__question=question).values_list("user__username", flat=True)
        )
        for question in Task.objects.filter(subset=source.subset).values_list("question", flat=True)
    }
    assert of_tasks == {"Question 0?": {"ann", "ben"}, "Question 1?": {"ann", "ben", "judith"}}
    for user in (parted.ann, parted.ben):
        with pytest.raises(Conflict) as refusal:
            assign.claim_next(actor=user, project=choices)
        assert refusal.value.code == "nothing_left"
    assert assign.claim_next(actor=parted.judith, project=choices).trajectory.task.question == "Question 0?"
    for user in (parted.cleo, parted.oscar):
        assert assign.claim_next(actor=user, project=choices).trajectory.source_id == source.pk


def test_derive_keeps_cases_of_items_from_adjudicators_who_know_their_source(
    parted: Cast, parted_release: Release, choices: Project
) -> None:
    derived(parted, parted_release, choices)
    people.make_member(choices, parted.judith, "adjudicator")
    people.make_member(choices, parted.admin, "admin", "adjudicator")
    item = Trajectory.objects.get(project=choices, task__question="Question 1?")
    for user, values in ((parted.cleo, (1, -1)), (parted.oscar, (-1, 1))):
        mine = assign.claim_this(actor=user, trajectory=item)
        people.label_all(mine, list(values), outcome=1)
        label.submit(actor=user, assignment=mine)
    item.refresh_from_db()
    assert item.state == "disputed"

    assert not visible(parted.judith, Dispute.objects.filter(trajectory=item)).exists()
    assert not to_decide(parted.judith, [choices.pk]).exists()
    with pytest.raises(Denied) as refusal:
        people.open_case(parted.judith, item)
    assert refusal.value.code == "exposed"
    refused = adjudicate.assign_cases(
        actor=parted.admin, project=choices, trajectories=[item], adjudicator=parted.judith
    )
    assert not refused.done and "knows what became of its source" in refused.refused[0][1].message
    given = adjudicate.assign_cases(actor=parted.admin, project=choices, trajectories=[item])
    assert [case.adjudicator for case in given.done] == [parted.admin]


def test_derive_stops_where_too_few_people_are_left_unless_told_to_go_on(
    parted: Cast, parted_release: Release, choices: Project
) -> None:
    choices.memberships.filter(user=parted.oscar).delete()
    request = derive.DerivationRequest.of(recipe="shared")
    preview = derive.preview_derivation(
        actor=parted.admin, release=parted_release, project=choices, request=request
    )
    # of the second task only cleo knows nothing
    assert (preview.annotators, preview.needed, preview.too_few, preview.counts.items) == (4, 2, 1, 2)
    assert not Trajectory.objects.filter(project=choices).exists()

    with pytest.raises(Conflict) as refusal:
        derived(parted, parted_release, choices)
    assert refusal.value.code == "too_few_people"
    assert not Trajectory.objects.filter(project=choices).exists()
    assert not Exposure.objects.filter(trajectory__project=choices).exists()

    source = derived(parted, parted_release, choices, anyway=True)
    assert source.created_count == 2
    assert (source.notes[TOO_FEW_LEFT], source.derived_from["anyway"]) == (1, True)
    for user in (parted.cleo, parted.judith):
        people.label_next(user, choices)
    assert json.loads(freeze(choices).manifest)["derived_from"] == [
        {
            "set": "first",
            "project": "bench",
            "version": "1.0",
            "digest": parted_release.digest,
            "recipe": "shared",
            "seed": 0,
            "options": None,
            "too_few_people": 1,
        }
    ]


@pytest.mark.postgres
def test_derive_that_was_killed_leaves_nothing_and_is_begun_again(
    parted: Cast, parted_release: Release, choices: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BATCH_RECORDS", 1)
    request = derive.DerivationRequest.of(recipe="shared")
    source = derive.derive(
        actor=parted.admin, release=parted_release, project=choices, subset="first", request=request
    )

    def die(done: int, total: int) -> None:
        if Exposure.objects.filter(trajectory__source=source).exists():
            raise Killed

    with pytest.raises(Killed):
        derive.run_import(source_id=source.pk, progress=die, resumable=True)
    assert not Trajectory.objects.filter(project=choices, live=True).exists()
    ImportFile.objects.filter(pk=source.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert ingest.reap() >= 1

    done = derive.run_import(source_id=source.pk)
    assert (done.state, done.attempt) == (ImportState.PUBLISHED, 2)
    assert Trajectory.objects.filter(project=choices).count() == 2
    assert Exposure.objects.filter(trajectory__source=source).count() == 5


def test_derive_refuses_in_one_sentence(parted: Cast, parted_release: Release, choices: Project) -> None:
    def refusal(kind: type[TristepError], **changes: Any) -> str:
        asked: dict[str, Any] = {
            "actor": parted.admin,
            "release": parted_release,
            "project": choices,
            "subset": "first",
            "request": derive.DerivationRequest.of(recipe="shared"),
        }
        with pytest.raises(kind) as refused:
            derive.derive(**{**asked, **changes})
        return refused.value.code

    assert refusal(Invalid, project=parted.project) == "other_kind"
    assert refusal(Invalid, subset="not a slug") == "invalid"
    assert refusal(Denied, actor=parted.judith) == "denied"
    with pytest.raises(Invalid) as wrong:
        derive.DerivationRequest.of(recipe="longest", seed=-1, options=1)
    assert set(wrong.value.fields) == {"recipe", "seed", "options"}
    release.withdraw(actor=parted.admin, release=parted_release, reason="Faulty.")
    assert refusal(Conflict, release=Release.objects.get()) == "withdrawn"
    assert not ImportFile.objects.filter(project=choices).exists()


def test_derive_says_that_there_is_nothing_to_derive(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    made, project = freeze(cast.project), people.make_project("choices", kind="decisions")

    for recipe in ("shared", "first-error"):
        request = derive.DerivationRequest.of(recipe=recipe)
        with pytest.raises(Conflict) as refusal:
            derive.preview_derivation(actor=OPERATOR, release=made, project=project, request=request)
        assert refusal.value.code == "nothing_to_derive"
