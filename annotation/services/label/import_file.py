"""Import a person's finished labels from a file, as submitted assignments; all of the file or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import StaleState
from annotation.core.label_files import LabelLine, problems_against
from annotation.core.propagation import StepInput, resolve
from annotation.core.text import escape
from annotation.core.vocabulary import AssignmentState, LabelSource
from annotation.models import (
    Assignment,
    Label,
    LabelEvent,
    Membership,
    OutcomeLabel,
    Project,
    Trajectory,
    User,
)
from annotation.policies import Actor, require
from annotation.reports.label_json import rules_of

from .. import accounts, assign, audit, planner_stats
from ..record_lookup import (
    StepRow,
    chunks,
    find_trajectories,
    matched_lines,
    read_file,
    record_error,
    steps_of,
)
from .submit import finish


@dataclass(frozen=True, slots=True)
class LabelImport:
    """What came of a label file: assignments made, those that were there with the same labels, step labels
    stored."""

    created: int
    unchanged: int
    labels: int


@transaction.atomic
def import_labels(
    *, actor: Actor, project: Project, annotator: str, stream: BinaryIO, filename: str, subset: str = ""
) -> LabelImport:
    """Store a label file (docs/formats.md, "Label and prediction files") as the submitted assignments of the
    person `annotator` (a user name).

    Account (without a password) and membership are made when missing. Every record needs a label for each
    step and an outcome; explanations become notes. The same labels again change nothing; without `subset` a
    record id is looked for in all subsets. Raises ImportRefused naming every record that does not fit.
    """
    require(actor, "import", project)
    file = read_file(stream, filename)
    errors = file.errors
    found = find_trajectories(project, subset, file.lines)
    known = [pk for pk in found.values() if pk is not None]
    user = _annotator(actor, project, annotator)
    steps = steps_of(known)
    own = _own(user, known)
    fresh: list[tuple[LabelLine, int]] = []
    for line, pk in matched_lines(file, found, filename):
        wrong = problems_against(line, list(steps[pk]), filename)
        errors.extend(wrong)
        if pk not in own:
            fresh.append((line, pk))
        elif not wrong and own[pk] != (dict(line.step_labels), line.final_label):
            problem = f"has other or unfinished labels of {user.username} already"
            errors.add(record_error(line, problem, filename))
    if errors:
        raise errors.refusal()
    now = timezone.now()
    trajectories = _trajectories([pk for _, pk in fresh])
    for line, pk in fresh:
        try:
            _store(user, trajectories[pk], list(steps[pk].values()), line, now)
        except StaleState as full:
            errors.add(record_error(line, f"cannot take these labels: {full.message}", filename))
    if errors:
        raise errors.refusal()
    stored = sum(len(steps[pk]) for _, pk in fresh)
    result = LabelImport(created=len(fresh), unchanged=len(file.lines) - len(fresh), labels=stored)
    if fresh:
        planner_stats.analyse(Assignment, Label, OutcomeLabel)
    audit.record(
        actor=actor,
        verb="labels.import",
        project=project,
        obj=user,
        username=user.username,
        created=result.created,
        unchanged=result.unchanged,
    )
    return result


def _annotator(actor: Actor, project: Project, username: str) -> User:
    """The person of that name, account and role made when missing, which is the operator's to do.

    Nobody can sign in to an account made here.
    """
    require(actor, "member.add", project)
    # escaped: neither database can look for every text, and no name that needs it is ever accepted
    name = escape(User.normalize_username(username.strip()))
    user = User.objects.filter(username=name).first()
    if user is None:
        user = accounts.new_user(username=username)
        audit.record(actor=actor, verb="account.create", project=project, obj=user, username=user.username)
    membership, _ = Membership.objects.get_or_create(
        project=project, user=user, defaults={"is_annotator": True, "created_at": timezone.now()}
    )
    if not membership.is_annotator:
        membership.is_annotator = True
        membership.save(update_fields=["is_annotator"])
    return user


def _trajectories(pks: Sequence[int]) -> dict[int, Trajectory]:
    """The trajectories, with what their propagation rules depend on."""
    rows = Trajectory.objects.select_related("subset", "project").order_by()
    return {row.pk: row for part in chunks(pks) for row in rows.filter(pk__in=part)}


def _own(
    user: User, trajectories: Sequence[int]
) -> dict[int, tuple[dict[int, int | None], int | None] | None]:
    """What the person has of these trajectories already: submitted labels and outcome, or None when
    unfinished."""
    own: dict[int, tuple[dict[int, int | None], int | None] | None] = {}
    for part in chunks(trajectories):
        mine = Assignment.objects.filter(annotator=user, trajectory__in=part).select_related("outcome")
        for assignment in mine.prefetch_related("labels__step"):
            if assignment.state != AssignmentState.SUBMITTED:
                own[assignment.trajectory_id] = None
                continue
            values = {label.step.message_index: label.value for label in assignment.labels.all()}
            own[assignment.trajectory_id] = (values, assignment.outcome.value)
    return own


def _store(user: User, row: Trajectory, steps: Sequence[StepRow], line: LabelLine, now: datetime) -> None:
    """One submitted assignment with its labels. Raises StaleState when every slot is taken."""
    assignment = Assignment.objects.create(
        project_id=row.project_id,
        trajectory=row,
        annotator=user,
        slot=assign.take_slot(trajectory=row),
        imported=True,
        claimed_at=now,
        last_used_at=now,
    )
    rules = rules_of(row.project, row.subset)
    inputs = [
        StepInput(
            message_index=step.message_index,
            value=line.step_labels[step.message_index],
            source="explicit",
            after_user_turn=step.after_user_turn,
        )
        for step in steps
    ]
    pk_of = {step.message_index: step.pk for step in steps}
    labels = [
        Label(
            assignment=assignment,
            step_id=step.pk,
            value=result.value,
            source=LabelSource.EXPLICIT,
            root_id=pk_of[result.root] if result.root is not None else None,
            note=escape(line.explanations.get(step.message_index, "")),
            updated_at=now,
        )
        for step, result in zip(steps, resolve(inputs, rules), strict=True)
    ]
    Label.objects.bulk_create(labels)
    note = "\n\n".join(part for part in (line.final_explanation, line.comment) if part)
    OutcomeLabel.objects.create(
        assignment=assignment, value=line.final_label, note=escape(note), updated_at=now
    )
    LabelEvent.objects.create(
        assignment=assignment,
        kind="import",
        detail={"line": line.line, "labels": len(labels)},
        created_at=now,
    )
    finish(assignment=assignment, now=now)
