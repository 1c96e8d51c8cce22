"""Reads of others' labels: each asks the policies, notes the exposure, and only then answers.

Pages and the API get others' labels, records as they came in and raw answers from here alone.
tests/test_permission_matrix.py walks every address as everybody, and holds what was shown against what was
noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.text import escape
from annotation.core.vocabulary import NO_LONGER_BLIND, AssignmentState, ExposureKind, Role, TrajectoryState
from annotation.models import (
    Adjudication,
    AdminRemark,
    Assignment,
    AuditRuling,
    Correction,
    Discussion,
    Exposure,
    Judge,
    JudgeAnswer,
    LabelAudit,
    PredictionSet,
    Project,
    Release,
    Step,
    Trajectory,
    User,
    WorkshopSample,
)
from annotation.policies import (
    FieldAccess,
    being_labelled,
    field_access,
    kept_from_lists,
    require,
    roles,
    visible,
)
from annotation.reports.agreement import differing_steps as step_lists
from annotation.reports.cases import corrections as corrections_report
from annotation.reports.cases import discussions, side_by_side
from annotation.reports.cases import examples as example_lists
from annotation.reports.cases import history as reports
from annotation.reports.cases import own_consensus as own_consensus_report
from annotation.reports.cases.history_entries import HistoryEntry, Place
from annotation.reports.evaluation import answered_questions, predicted_records
from annotation.reports.evaluation import model_scores as scores
from annotation.reports.judging import prompt_workshop, runs
from annotation.reports.quality import label_audit
from annotation.reports.releases.atif_documents import atif_documents
from annotation.reports.work import search, trajectory_list

from . import exposures

Erring = TypeVar(
    "Erring",
    predicted_records.ListedRecord,
    scores.ErringTrajectory,
    answered_questions.AnsweredQuestion,
)


def costs_the_claim(*, actor: User, trajectory: Trajectory) -> bool:
    """Whether seeing its labels would take from this person the right to claim a trajectory: then they are
    asked first. At most two queries."""
    if trajectory.state != TrajectoryState.LABELLING or Role.ANNOTATOR not in roles(
        actor, trajectory.project
    ):
        return False
    seen = Exposure.objects.filter(trajectory=trajectory, user=actor, kind__in=NO_LONGER_BLIND)
    return not visible(actor, seen).exists()


def inspection(
    *, actor: User, trajectory: Trajectory, access: FieldAccess | None = None
) -> side_by_side.SideBySide:
    """All labels, drafts included, the consensus, and judges' suggestions. For admins who are not labelling
    the trajectory; Denied for anybody else. `access`: as `field_access` has it, where it is known already."""
    page = side_by_side.inspection(actor=actor, trajectory=trajectory, access=access)
    exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.LABEL)
    _suggestions(actor, trajectory, [item.step for item in (*page.steps, page.outcome) if item.told])
    return page


def listed(
    *, actor: User, project: Project, rows: Sequence[Trajectory]
) -> dict[int, trajectory_list.TrajectoryLabels]:
    """Labels of these trajectories of one project, by pk, as a list shows them. For admins.

    Left out are those they are labelling and those they could still claim; the labels of all others are noted
    as seen. Nine queries, and three when something is seen for the first time.
    """
    require(actor, "trajectory.list", project)
    pks = {row.pk for row in rows}
    if (kept := kept_from_lists(actor, project)) is not None:
        pks -= set(Trajectory.objects.filter(kept, pk__in=pks).order_by().values_list("pk", flat=True))
    labels = trajectory_list.said(pks)
    exposed = [pk for pk, row in labels.items() if row.told]
    exposures.expose_all(user=actor, trajectories=exposed, kind=ExposureKind.LABEL)
    return labels


def case(*, actor: User, adjudication: Adjudication) -> side_by_side.SideBySide:
    """A case with the labels of "A" and "B", to its adjudicator, or to an admin. Denied for anybody else.

    `adjudication` comes with its trajectory's project, subset and task.
    """
    page = side_by_side.case(actor=actor, adjudication=adjudication)
    exposures.expose(user=actor, trajectory=adjudication.trajectory, kind=ExposureKind.LABEL)
    return page


def discussion(*, actor: User, row: Discussion) -> discussions.ReadableDiscussion:
    """A discussion with the labels of "A" and "B" and, once it is resolved, the consensus; to those who take
    part in it. Denied for anybody else.

    `row` comes with its trajectory's project, subset and task.
    """
    page = discussions.discussion(actor=actor, row=row)
    exposures.expose(user=actor, trajectory=row.trajectory, kind=ExposureKind.LABEL)
    if page.shown.access.consensus:
        exposures.expose(user=actor, trajectory=row.trajectory, kind=ExposureKind.CONSENSUS)
    return page


def own_consensus(*, actor: User, assignment: Assignment) -> own_consensus_report.OwnConsensus:
    """The consensus beside the labels that the actor submitted, or why it is not shown. `assignment` comes
    with its project and trajectory."""
    page = own_consensus_report.own_consensus(actor=actor, assignment=assignment)
    if page.lines:
        exposures.expose(user=actor, trajectory=assignment.trajectory, kind=ExposureKind.CONSENSUS)
    return page


def correction(*, actor: User, row: Correction) -> corrections_report.CorrectionCase:
    """A correction with its first error, why that was wrong, and right actions of other runs; to its author,
    and to admins. `row` comes through policies.visible, as `corrections_report.correction_case` asks."""
    case = corrections_report.correction_case(actor=actor, correction=row)
    exposures.expose_all(user=actor, trajectories=sorted(case.seen), kind=ExposureKind.CONSENSUS)
    return case


def corrected(*, actor: User, trajectories: Iterable[int]) -> None:
    """Note of a list of first errors, or of corrections, which tells what the consensus of these trajectories
    (by pk) is. Two queries, and one when something is seen for the first time."""
    exposures.expose_all(user=actor, trajectories=sorted(set(trajectories)), kind=ExposureKind.CONSENSUS)


def history(
    *, actor: User, trajectory: Trajectory, place: Place, access: FieldAccess | None = None
) -> list[HistoryEntry]:
    """The history of a step, with None of the outcome and the whole, or of the whole trajectory, as far as
    one may see it; the oldest first.

    `trajectory` comes with its project, subset and task.
    """
    entries, tells = reports.history(actor=actor, trajectory=trajectory, place=place, access=access)
    if tells:
        exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.LABEL)
    if any(entry.kind in ("resolved", "erasure") for entry in entries):
        exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.CONSENSUS)
    return entries


def examples(*, actor: User, project: Project) -> list[example_lists.ShownExample]:
    """The examples of a project's guidelines, with the consensus of each, to its members."""
    require(actor, "project.view", project)
    rows = example_lists.examples(actor=actor, project=project)
    seen = sorted({row.of for row in rows})
    exposures.expose_all(user=actor, trajectories=seen, kind=ExposureKind.CONSENSUS)
    return rows


def record(*, actor: User, trajectory: Trajectory, access: FieldAccess | None = None) -> bytes:
    """The record exactly as it came in, with the labels that may stand in it. For admins who are not
    labelling the trajectory; Denied for anybody else."""
    if not (access or field_access(actor, trajectory)).raw:
        raise Denied(translatable("Only admins may see the original record."))
    exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.LABEL)
    return trajectory.content.raw_bytes()


def atif(*, actor: User, trajectory: Trajectory, access: FieldAccess | None = None) -> dict[str, Any]:
    """The trajectory as an ATIF document with its consensus. For admins who are not labelling it; Denied for
    anybody else, and Conflict where the project has none."""
    if not (access or field_access(actor, trajectory)).raw:
        raise Denied(translatable("Only admins may export a trajectory."))
    trajectory.project.of_kind.require(Feature.ATIF)
    exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.CONSENSUS)
    return next(atif_documents([trajectory]))


def frozen_record(
    *, actor: User, release: Release, ordinal: int, row: PredictionSet | None = None
) -> predicted_records.FrozenRecord | None:
    """A record of a release with its consensus, and beside it what a model predicts (`row`, of that release);
    None for whoever is labelling that trajectory at present. For adjudicators and admins; Denied for anybody
    else."""
    record = predicted_records.frozen_record(actor=actor, release=release, ordinal=ordinal)
    trajectory = record.trajectory
    own = Assignment.stored.filter(trajectory=trajectory, annotator=actor, state=AssignmentState.OPEN)
    if trajectory is not None and own.exists():
        return None
    if row is not None:
        predicted_records.add_predictions(record, row)
    if trajectory is not None:
        exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.CONSENSUS)
        if row is not None and row.judge_id is not None:
            indexes = [item.step.message_index for item in record.told if item.step is not None]
            steps = Step.objects.filter(trajectory=trajectory, message_index__in=indexes)
            of_outcome = [None] if len(indexes) < len(record.told) else []
            _suggestions(actor, trajectory, [*steps, *of_outcome])
    return record


def model_scores(*, actor: User, row: PredictionSet, by_pairs: bool = False) -> scores.ModelScores:
    """All figures of one prediction set, which comes with its release; of the trajectories on which it errs
    most those that `model_errors` shows. For adjudicators and admins."""
    model = scores.model_scores(actor=actor, row=row, by_pairs=by_pairs)
    return replace(model, worst=model_errors(actor=actor, release=row.release, rows=model.worst))


def model_errors(*, actor: User, release: Release, rows: Sequence[Erring]) -> list[Erring]:
    """A page of a list of a model's errors, which tells of labels of the release; without the trajectories
    that the person is labelling at present. For adjudicators and admins; four queries at most."""
    require(actor, "release.view", release)
    names = {(row.subset, escape(row.record_id)): row for row in rows}
    live = Trajectory.objects.filter(
        project=release.project_id, live=True, record_id__in={record_id for _subset, record_id in names}
    ).values_list("pk", "subset__name", "record_id")
    here = {pk: (subset, name) for pk, subset, name in live if (subset, name) in names}
    own = Assignment.stored.filter(trajectory__in=here, annotator=actor, state=AssignmentState.OPEN)
    kept = set(own.values_list("trajectory", flat=True))
    exposures.expose_all(user=actor, trajectories=sorted(here.keys() - kept), kind=ExposureKind.CONSENSUS)
    sealed = {here[pk] for pk in kept}
    return [row for name, row in names.items() if name not in sealed]


def model_answers(
    *, actor: User, row: PredictionSet, rows: Sequence[answered_questions.AnsweredQuestion]
) -> list[answered_questions.AnsweredQuestion]:
    """A page of a model's answers with the outputs and the keys, as far as `model_errors` shows them. For
    adjudicators and admins."""
    shown = model_errors(actor=actor, release=row.release, rows=rows)
    return answered_questions.with_texts(actor=actor, row=row, rows=shown)


def changed_labels(
    *, actor: User, sample: WorkshopSample, trial: Judge
) -> list[prompt_workshop.TrialDifference]:
    """The labels of a sample that another prompt changes, with what was resolved; without the trajectories
    that the person is labelling at present. For admins."""
    changes = prompt_workshop.changes(viewer=actor, sample=sample, trial=trial)
    own = Assignment.stored.filter(
        trajectory__in={change.trajectory for change in changes}, annotator=actor, state=AssignmentState.OPEN
    )
    kept = set(own.values_list("trajectory", flat=True))
    shown_changes = [change for change in changes if change.trajectory not in kept]
    seen = sorted({change.trajectory for change in shown_changes})
    exposures.expose_all(user=actor, trajectories=seen, kind=ExposureKind.CONSENSUS)
    steps = [(change.trajectory, change.step) for change in shown_changes]
    exposures.note(user=actor, kind=ExposureKind.SUGGESTION, seen=steps)
    return shown_changes


def judge_answer(*, actor: User, answer: JudgeAnswer) -> runs.RecordedCall:
    """One call of a judge as it went over the wire: whatever it says may be about every step and the outcome.

    `answer` comes through policies.visible, with its trajectory.
    """
    steps = Step.objects.filter(trajectory=answer.trajectory).order_by()
    _suggestions(actor, answer.trajectory, (*steps, None))
    return runs.audit(answer)


def found(*, actor: User, project: Project, rows: Sequence[search.Found]) -> Sequence[search.Found]:
    """A page of a person's finds (annotation/reports/work/search.py). At most four queries."""
    require(actor, "project.view", project)
    for kind in (ExposureKind.LABEL, ExposureKind.CONSENSUS):
        decided = kind == ExposureKind.CONSENSUS
        seen = {row.trajectory for row in rows if row.judged and (row.kind == "decision") == decided}
        exposures.expose_all(user=actor, trajectories=sorted(seen), kind=kind)
    return rows


def remarks(*, actor: User, rows: Sequence[AdminRemark]) -> Sequence[AdminRemark]:
    """Remarks to admins, which come through policies.visible with their assignments. Two queries."""
    seen = {row.assignment.trajectory_id for row in rows if row.assignment.annotator_id != actor.pk}
    exposures.expose_all(user=actor, trajectories=sorted(seen), kind=ExposureKind.LABEL)
    return rows


def agreement_steps(
    *, actor: User, project: Project, steps: step_lists.DifferingSteps, chosen: Sequence[int]
) -> list[step_lists.LabelsOfStep]:
    """Some of the steps that a number of the agreement page is made of, with their labels; `chosen` are their
    numbers in the list. Without those of trajectories that the person is labelling at present. For admins;
    Denied for anybody else."""
    require(actor, "agreement.pairs", project)
    kept = set(being_labelled(actor).filter(project=project).values_list("trajectory", flat=True))
    rows = [row for row in steps.rows(chosen) if row.trajectory.pk not in kept]
    seen = {row.trajectory.pk for row in rows}
    exposures.expose_all(user=actor, trajectories=sorted(seen), kind=ExposureKind.LABEL)
    return rows


def _suggestions(actor: User, trajectory: Trajectory, steps: Iterable[Step | None]) -> None:
    """Note that a person has seen what judges say of these steps (None: of the outcome)."""
    seen = [(trajectory.pk, step.pk if step is not None else None) for step in steps]
    exposures.note(user=actor, kind=ExposureKind.SUGGESTION, seen=seen)


def corrections(*, actor: User, audit: LabelAudit, most: int) -> list[AuditRuling]:
    """Rulings by which an audit corrected labels, `most` of them, for admins. Two queries, and those of what
    is seen for the first time."""
    rows = list(label_audit.corrections(viewer=actor, audit=audit)[:most])
    seen = {row.audited.trajectory_id for row in rows}
    exposures.expose_all(user=actor, trajectories=sorted(seen), kind=ExposureKind.CONSENSUS)
    return rows
