"""Judges as the second reader: one place instead of two, and a second person where judges doubt."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.core.errors import Conflict, ImportRefused, Invalid
from annotation.core.rechecks.sampling import fraction
from annotation.core.resolution import Resolution
from annotation.core.scoring import second_person as core
from annotation.core.vocabulary import ConsensusKind, ExpiryReason, ExposureKind, SecondPersonState
from annotation.models import (
    Assignment,
    Consensus,
    Judge,
    OutcomeConsensus,
    PairedLabels,
    Project,
    SecondPerson,
    SecondPersonFit,
    Step,
    Suggestion,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR, rechecks
from annotation.policies.own_consensus import JUDGES, why_no_consensus
from annotation.reports.judging.second_person import second_reading
from annotation.reports.quality.label_quality import as_json, label_quality
from annotation.services import (
    assign,
    claim_expiry,
    consensus,
    exposures,
    label,
    pairing,
    projects,
    release,
    second_person,
)
from annotation.services.label import import_file
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.second_reading import TAUGHT, few_are_enough, look, right, teach, truth
from tests.suggesting import suggest as suggests

LATER = 8


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    few_are_enough(monkeypatch)


@shared_rows
def taught(cast: Cast) -> list[Trajectory]:
    """Judges are the second reader of 32 trajectories, of which ann and ben have labelled 24."""
    return teach(cast, LATER)


def one_places(cast: Cast) -> int:
    return Trajectory.objects.filter(project=cast.project, free_slots=1, state="labelling").count()


def state(trajectory: Trajectory) -> str:
    return SecondPerson.objects.get(trajectory=trajectory).state


@pytest.mark.postgres
def test_one_place_is_left_where_the_rule_holds_and_two_elsewhere(
    cast: Cast, taught: list[Trajectory]
) -> None:
    unlike = Trajectory.objects.filter(project=cast.project, state="labelling").order_by("-position").first()
    assert unlike is not None
    Suggestion.objects.filter(trajectory=unlike).first().labels.all()[:1].get().delete()  # type: ignore[union-attr]
    look(cast)
    fit = SecondPersonFit.objects.get()
    assert fit.number == TAUGHT and len(fit.judges) == 3
    assert one_places(cast) == LATER - 1
    unlike.refresh_from_db()
    assert unlike.free_slots == 2 and not SecondPerson.objects.filter(trajectory=unlike).exists()
    look(cast)
    assert one_places(cast) == LATER - 1


@pytest.mark.parametrize("lacking", ["people", "judges"])
def test_without_enough_people_or_judges_all_have_two_places(
    cast: Cast, taught: list[Trajectory], lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacking == "people":
        monkeypatch.setattr(core, "FITTED_AT", (TAUGHT + 1, 100))
    else:
        Judge.objects.first().delete()  # type: ignore[union-attr]
    look(cast)
    assert not SecondPersonFit.objects.exists() and one_places(cast) == 0


def test_what_chance_draws_has_two_places(
    cast: Cast, taught: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "ALWAYS_TWO", 0.5)
    look(cast)
    rows = Trajectory.objects.filter(project=cast.project, state="labelling")
    seed = Project.objects.get().recheck_seed
    assert {row.pk for row in rows if row.free_slots == 1} == {
        row.pk for row in rows if fraction(seed, "two people", row.pk) >= 0.5
    }


@pytest.mark.postgres
def test_one_person_beside_judges_resolves_a_trajectory_and_says_so(
    cast: Cast, taught: list[Trajectory]
) -> None:
    look(cast)
    row = right(people.claim(cast.ann, cast.project))
    assert row.state == "labelling" and row.free_slots == 0, "who submits waits for nothing"
    look(cast)
    row.refresh_from_db()
    assert (row.state, row.free_slots, row.agreement) == ("unanimous", 0, None)
    assert state(row) == SecondPersonState.SPARED
    kinds = {*Consensus.objects.filter(trajectory=row).values_list("kind", flat=True)}
    assert kinds == {ConsensusKind.ONE_PERSON}
    assert OutcomeConsensus.objects.get(trajectory=row).kind == ConsensusKind.ONE_PERSON
    found = second_reading(cast.project)
    assert found is not None and (found.made_from, found.spared, found.asked) == (TAUGHT, 1, 0)
    assert found.labels_a_trajectory == 1
    out = io.StringIO()
    call_command("label_quality", cast.project.slug, stdout=out, stderr=io.StringIO())
    assert "labels a trajectory 1.00" in out.getvalue()
    assert "one person, a second, waiting: 1, 0, " in out.getvalue()
    told = as_json(label_quality(viewer=OPERATOR, project=cast.project))
    assert told["second_reading"]["spared"] == told["second_reading"]["labels_a_trajectory"] == 1
    frozen = release.freeze(actor=OPERATOR, project=cast.project, version="1.0").parsed_manifest()
    assert frozen["label_kinds"] == {"one_person": 3, "unanimous": 3 * TAUGHT}
    assert frozen["origins"]["outcomes"] == {"one_person": 1, "unanimous": TAUGHT}


def test_a_second_person_is_asked_where_judges_doubt(cast: Cast, taught: list[Trajectory]) -> None:
    look(cast)
    row = right(people.claim(cast.ann, cast.project), wrong=[1])
    look(cast)
    row.refresh_from_db()
    assert (row.state, row.free_slots, state(row)) == ("labelling", 1, SecondPersonState.ASKED)
    asked = people.claim(cast.ben, cast.project)
    assert asked.trajectory_id == row.pk and asked.slot == 1, "it comes in the queue where it always stood"
    right(asked)
    row.refresh_from_db()
    assert row.state == "disputed" and row.free_slots == 0
    assert not PairedLabels.objects.filter(trajectory=row).exists(), "judges chose it: it is no agreement"
    assert not pairing.differing(row.pk)
    assert PairedLabels.objects.filter(project=cast.project).count() == TAUGHT


def test_a_judge_that_is_gone_leaves_it_to_two_people(cast: Cast, taught: list[Trajectory]) -> None:
    look(cast)
    row = right(people.claim(cast.ann, cast.project))
    Judge.objects.first().delete()  # type: ignore[union-attr]
    look(cast)
    found = SecondPerson.objects.get(trajectory=row)
    assert (found.state, found.doubt) == (SecondPersonState.ASKED, None)


def test_labels_that_were_not_blind_are_left_to_two_people(cast: Cast, taught: list[Trajectory]) -> None:
    look(cast)
    assignment = people.claim(cast.ann, cast.project)
    row = right(assignment)
    assignment.labels.filter(step__ordinal=1).update(exposed_at=timezone.now(), blind_value=None)
    look(cast)
    assert state(row) == SecondPersonState.ASKED


def test_the_rule_is_made_once_more_without_what_judges_chose(cast: Cast, taught: list[Trajectory]) -> None:
    look(cast)
    for _ in range(LATER):
        right(people.claim(cast.ann, cast.project), wrong=[0])
    look(cast)
    for _ in range(LATER):
        right(people.claim(cast.ben, cast.project), wrong=[0])
    look(cast)
    assert Trajectory.objects.filter(state="unanimous").count() == TAUGHT + LATER
    assert SecondPersonFit.objects.get().number == TAUGHT
    records = [people.make_record(query, steps=3) for query in range(40, 46)]
    more = people.import_records(cast.project, records)[-6:]
    for user in (cast.ann, cast.ben):
        for _ in more:
            right(people.claim(user, cast.project))
    for row in more:
        for judge in Judge.objects.all():
            suggests(judge, row, truth(row)[:3], outcome=truth(row)[3])
    look(cast)
    fit = SecondPersonFit.objects.first()
    assert fit is not None and fit.number == TAUGHT + 6
    assert {*fit.taught}.isdisjoint(SecondPerson.objects.values_list("trajectory", flat=True))


@pytest.mark.parametrize("how", [pytest.param("return", marks=pytest.mark.postgres), "expire"])
def test_a_place_that_is_given_up_is_the_one_place_again(
    cast: Cast, taught: list[Trajectory], how: str
) -> None:
    look(cast)
    assignment = people.claim(cast.ann, cast.project)
    if how == "return":
        assign.return_assignment(actor=cast.ann, assignment=assignment, reason="Not for me.")
    else:
        claims = claim_expiry.lock_claims(Assignment.objects.filter(pk=assignment.pk))
        claim_expiry.expire(actor=OPERATOR, claims=claims, because=ExpiryReason.UNUSED)
    row = Trajectory.objects.get(pk=assignment.trajectory_id)
    assert row.free_slots == 1 and state(row) == SecondPersonState.WAITING
    again = people.claim(cast.ben, cast.project)
    assert again.trajectory_id == row.pk
    right(again)
    look(cast)
    assert state(row) == SecondPersonState.SPARED


@pytest.mark.postgres
def test_who_looks_again_is_compared_again(cast: Cast, taught: list[Trajectory]) -> None:
    look(cast)
    assignment = people.claim(cast.ann, cast.project)
    row = right(assignment)
    look(cast)
    row.refresh_from_db()
    consensus.unsettle(trajectory=row, actor=None)
    assert state(row) == SecondPersonState.WAITING and not Consensus.objects.filter(trajectory=row).exists()
    look(cast)
    row.refresh_from_db()
    assert row.state == "unanimous" and state(row) == SecondPersonState.SPARED


def from_file(user: User, *rows: Trajectory, wrong: Iterable[Trajectory] = ()) -> label.LabelImport:
    """Import a person's labels of these trajectories; of those in `wrong` the first step is another."""
    lines = []
    for row in rows:
        values = list(truth(row)[:3])
        values[0] = 0 if row in wrong else values[0]
        steps = Step.objects.filter(trajectory=row).order_by("message_index")
        by_index = dict(zip(steps.values_list("message_index", flat=True), values, strict=True))
        lines.append({"record_id": row.record_id, "step_labels": by_index, "final_label": truth(row)[3]})
    return label.import_labels(
        actor=OPERATOR,
        project=rows[0].project,
        annotator=user,
        stream=io.BytesIO("\n".join(map(json.dumps, lines)).encode()),
        filename="ben.jsonl",
    )


@shared_rows
def alone(cast: Cast, taught: list[Trajectory]) -> list[Trajectory]:
    """Trajectories with one place: three that ann's labels have settled, one whose labels nobody has compared
    yet, one that she has begun."""
    look(cast)
    rows = [right(people.claim(cast.ann, cast.project)) for _ in range(3)]
    look(cast)
    rows.append(right(people.claim(cast.ann, cast.project)))
    rows.append(people.claim(cast.ann, cast.project).trajectory)
    assert [state(row) for row in rows] == ["spared"] * 3 + ["waiting"] * 2
    return list(Trajectory.objects.filter(pk__in=[row.pk for row in rows]).order_by("pk"))


@pytest.mark.postgres
def test_second_person_brings_labels_in_a_file_for_what_one_person_has(
    cast: Cast, taught: list[Trajectory], alone: list[Trajectory]
) -> None:
    alike, unlike, left, compared, begun = alone
    before = SecondPerson.objects.get(trajectory=alike).doubt
    assert from_file(cast.ben, alike, unlike, compared, begun, wrong=[unlike]).created == 4

    after = Trajectory.objects.in_bulk([row.pk for row in alone])
    reached = [(after[row.pk].state, after[row.pk].free_slots, state(row)) for row in alone]
    assert reached == [
        ("unanimous", 0, "asked"),
        ("disputed", 0, "asked"),
        ("unanimous", 0, "spared"),
        ("unanimous", 0, "asked"),
        ("labelling", 0, "asked"),
    ]
    kinds = Consensus.objects.filter(trajectory__in=alone).values_list("trajectory", "kind").distinct()
    assert dict(kinds) == {alike.pk: "unanimous", left.pk: "one_person", compared.pk: "unanimous"}
    assert SecondPerson.objects.get(trajectory=alike).doubt == before
    assert PairedLabels.objects.filter(project=cast.project).count() == TAUGHT, "judges chose which were left"
    right(Assignment.objects.get(trajectory=begun, annotator=cast.ann), wrong=[1])
    assert Trajectory.objects.get(pk=begun.pk).state == "disputed"
    look(cast)
    found = second_reading(cast.project)
    assert found is not None and (found.waiting, found.spared, found.asked) == (3, 1, 4)
    assert from_file(cast.ben, alike, unlike, wrong=[unlike]).unchanged == 2
    with pytest.raises(ImportRefused) as refused:
        from_file(cast.cleo, alike)
    assert "all places at this trajectory are taken" in refused.value.report["errors"][0]["reason"]


@pytest.mark.postgres
def test_second_labels_from_a_file_are_refused_by_line_where_something_holds_those_of_one_person(
    cast: Cast, taught: list[Trajectory]
) -> None:
    look(cast)
    frozen = right(people.claim(cast.ann, cast.project))
    look(cast)
    release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
    corrected, seen, free = [right(people.claim(cast.ann, cast.project)) for _ in range(3)]
    look(cast)
    decided = Resolution(0, ConsensusKind.ADJUDICATED, None, at=timezone.now())
    consensus.correct(trajectory=corrected.pk, corrected={None: decided}, by={None: cast.judith.pk})
    exposures.expose(user=cast.ben, trajectory=seen, kind=ExposureKind.CONSENSUS)
    with pytest.raises(ImportRefused) as refused:
        from_file(cast.ben, frozen, corrected, seen, free)
    assert [
        (one["line"], one["reason"].partition(" cannot take ")[2]) for one in refused.value.report["errors"]
    ] == [
        (1, "a second person’s labels: release 1.0 holds it with one person’s"),
        (2, "a second person’s labels: an audit has corrected those of its one person"),
        (3, "these labels: ben has seen those of its one person"),
    ]
    assert {state(row) for row in (frozen, corrected, seen, free)} == {"spared"}
    assert from_file(cast.ben, free).created == 1


@pytest.mark.postgres
def test_second_labels_whose_import_is_stopped_change_nothing(
    cast: Cast, taught: list[Trajectory], alone: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(opened: object, beat: object) -> None:
        raise KeyboardInterrupt

    def everything() -> list[object]:
        rows = Trajectory.objects.filter(pk__in=[row.pk for row in alone]).order_by("pk")
        kinds = Consensus.objects.filter(trajectory__in=alone).order_by("pk").values_list("pk", "kind")
        return [*rows.values_list("pk", "state", "free_slots", "second_person__state"), *kinds]

    before = everything()
    with monkeypatch.context() as patched:
        patched.setattr(import_file, "submit_all", killed)
        with pytest.raises(KeyboardInterrupt):
            from_file(cast.ben, *alone)
    look(cast)
    assert everything() == before, "and nothing is decided of what is about to have two people"
    assert Assignment.objects.filter(annotator=cast.ben, state="open").count() == len(alone)
    assert label.sweep_half_imports(now=timezone.now() + timedelta(hours=2)) == len(alone)
    assert everything() == before
    look(cast)
    assert [state(row) for row in alone] == ["spared"] * 4 + ["waiting"]


@pytest.mark.postgres
def test_people_as_the_second_reader_again_have_all_their_places(
    cast: Cast, taught: list[Trajectory]
) -> None:
    look(cast)
    submitted = right(people.claim(cast.ann, cast.project))
    projects.update_project(actor=OPERATOR, project=cast.project, values={"second_reader": "person"})
    second_person.sweep()
    submitted.refresh_from_db()
    assert submitted.free_slots == 1 and not SecondPerson.objects.exists()
    assert Trajectory.objects.filter(free_slots=2).count() == LATER - 1
    assert second_reading(Project.objects.get()) is None
    assert people.claim(cast.ben, cast.project).trajectory_id == submitted.pk


def test_people_are_not_told_whether_a_second_one_is_asked(cast: Cast, taught: list[Trajectory]) -> None:
    look(cast)
    alike, unlike = people.claim(cast.ann, cast.project), people.claim(cast.ann, cast.project)
    right(alike)
    right(unlike, wrong=[1])
    for after in (False, True):
        if after:
            look(cast)
            assert [state(row.trajectory) for row in (alike, unlike)] == ["spared", "asked"]
        for assignment in (alike, unlike):
            assignment.refresh_from_db()
            with pytest.raises(Conflict, match="stays as it is"):
                label.reopen(actor=cast.ann, assignment=assignment)
            assert why_no_consensus(cast.ann, assignment) == JUDGES


def test_what_is_submitted_is_closed_alike_once_it_may_be_asked_again(
    cast: Cast, taught: list[Trajectory]
) -> None:
    projects.update_project(actor=OPERATOR, project=cast.project, values={"retest_percent": 5})
    look(cast)
    mine = [people.claim(cast.ann, cast.project) for _ in range(2)]
    right(mine[0])
    right(mine[1], wrong=[1])
    look(cast)
    old = timezone.now() - timedelta(days=30)
    Assignment.objects.filter(pk__in=[row.pk for row in mine]).update(submitted_at=old)
    rows = Assignment.objects.filter(pk__in=[row.pk for row in mine]).select_related("project")
    assert [rechecks.closed(row) for row in rows] == [True, True]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"suggestion_policy": "after_label"}, "suggestion_policy"),
        ({"suggestion_policy": "always"}, "suggestion_policy"),
        ({"annotators_per_trajectory": 3}, "annotators_per_trajectory"),
        ({"second_reader": "nobody"}, "second_reader"),
    ],
)
def test_judges_read_second_only_where_people_are_blind_and_two(
    cast: Cast, values: dict[str, object], field: str
) -> None:
    fits = {"second_reader": "judges", "suggestion_policy": "never"}
    with pytest.raises(Invalid) as refused:
        projects.update_project(actor=OPERATOR, project=cast.project, values={**fits, **values})
    assert field in refused.value.fields
    projects.update_project(actor=OPERATOR, project=cast.project, values=fits)
    with pytest.raises(Invalid, match="randomises"):
        projects.randomise(actor=OPERATOR, project=cast.project)


def test_judges_do_not_read_second_in_an_experiment(cast: Cast) -> None:
    projects.randomise(actor=OPERATOR, project=cast.project)
    with pytest.raises(Invalid, match="randomises"):
        projects.update_project(
            actor=OPERATOR,
            project=cast.project,
            values={"second_reader": "judges", "suggestion_policy": "never"},
        )
