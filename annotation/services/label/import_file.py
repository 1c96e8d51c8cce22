"""Import a person's finished labels from a file, as submitted assignments; all of the file or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotation.core.errors import Conflict, StaleState, TristepError
from annotation.core.file_errors import FileErrors
from annotation.core.i18n import translatable
from annotation.core.jsonlines import RecordError
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
from ..blocks import FORGOTTEN, in_blocks
from ..cursors import lower_cursors
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


@dataclass(frozen=True, slots=True)
class _Fresh:
    """One line whose labels are to be stored, with the trajectory and its steps."""

    line: LabelLine
    trajectory: Trajectory
    steps: Sequence[StepRow]


@dataclass(frozen=True, slots=True)
class _Own:
    """What the person has of a trajectory; `half`: an import that was killed left it, complete but open."""

    assignment: int
    labels: tuple[dict[int, int | None], int | None] | None
    half: bool


def import_labels(
    *, actor: Actor, project: Project, annotator: str, stream: BinaryIO, filename: str, subset: str = ""
) -> LabelImport:
    """Store a label file (docs/formats.md, "Label and prediction files") as the submitted assignments of the
    person `annotator` (a user name).

    Account (without a password) and membership are made when missing, which is the operator's to do. Every
    record needs a label for each step and an outcome; explanations become notes. The same labels again change
    nothing; without `subset` a record id is looked for in all subsets. Raises ImportRefused naming every
    record that does not fit, and Conflict when somebody else imports the same at this moment.

    Everything is checked before anything is written. Then each trajectory gets its labels, in short
    transactions, as an open assignment, which counts nowhere; when all of them have a place, they are
    submitted, in short transactions too, which nothing can refuse any more. What a kill leaves is completed
    by the same file again, or swept away after an hour (`sweep_half_imports`).
    """
    require(actor, "import", project)
    require(actor, "member.add", project)
    file = read_file(stream, filename)
    errors = file.errors
    found = find_trajectories(project, subset, file.lines)
    known = [pk for pk in found.values() if pk is not None]
    # escaped: neither database can look for every text, and no name that needs it is ever accepted
    name = escape(User.normalize_username(annotator.strip()))
    steps, own = steps_of(known), _own(name, known)
    trajectories = _trajectories(known)
    fresh: list[_Fresh] = []
    for line, pk in matched_lines(file, found, filename):
        wrong = problems_against(line, list(steps[pk]), filename)
        errors.extend(wrong)
        if pk not in own:
            fresh.append(_Fresh(line, trajectories[pk], list(steps[pk].values())))
            if not trajectories[pk].free_slots:
                errors.add(_no_place(line, filename))
        elif not wrong and own[pk].labels != (dict(line.step_labels), line.final_label):
            problem = f"has other or unfinished labels of {name} already"
            errors.add(record_error(line, problem, filename))
    if errors:
        raise errors.refusal()
    try:
        with transaction.atomic():
            user = _annotator(actor, project, annotator)
        made = _store_open(user, fresh, errors, filename)
    except IntegrityError as error:
        raise Conflict(
            translatable("Somebody else is importing the same labels right now; try again."), code="overtaken"
        ) from error
    halves = [one.assignment for one in own.values() if one.half]
    _submit_all([*halves, *made])
    result = LabelImport(
        created=len(made) + len(halves),
        unchanged=len(file.lines) - len(made) - len(halves),
        labels=sum(len(one.steps) for one in fresh),
    )
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


def _no_place(line: LabelLine, filename: str) -> RecordError:
    return record_error(line, "cannot take these labels: all places at this trajectory are taken", filename)


def _store_open(user: User, fresh: Sequence[_Fresh], errors: FileErrors, filename: str) -> list[int]:
    """The labels as open assignments (their pks), all of them or none: raises ImportRefused when a place was
    taken meanwhile."""
    now = timezone.now()
    made: list[int] = []

    def store(one: _Fresh) -> None:
        try:
            with transaction.atomic():
                made.append(_store(user, one.trajectory, one.steps, one.line, now))
        except StaleState:
            errors.add(_no_place(one.line, filename))

    try:
        in_blocks(fresh, store)
        if errors:
            raise errors.refusal()
    except (TristepError, IntegrityError):
        _take_away(made)
        raise
    return made


def _submit_all(assignments: Sequence[int]) -> None:
    now = timezone.now()

    def submit(pk: int) -> None:
        finish(assignment=Assignment.objects.get(pk=pk), now=now)

    in_blocks(assignments, submit)


def _take_away(assignments: Sequence[int]) -> None:
    """Delete open assignments that an import made, and free their places."""

    def take_away(pk: int) -> None:
        row = Assignment.objects.select_related("trajectory").filter(pk=pk).first()
        if row is None:  # its block was rolled back
            return
        row.delete()
        Trajectory.objects.filter(pk=row.trajectory_id).update(free_slots=F("free_slots") + 1)
        lower_cursors(project_id=row.project_id, position=row.trajectory.position)

    in_blocks(assignments, take_away)


def sweep_half_imports(*, now: datetime | None = None) -> int:
    """Take away what an import of labels left that was killed an hour ago, and not begun again; how many
    assignments."""
    before = (now or timezone.now()) - FORGOTTEN
    halves = Assignment.objects.filter(imported=True, state=AssignmentState.OPEN, last_used_at__lt=before)
    left = list(halves.order_by("pk").values_list("pk", flat=True))
    _take_away(left)
    return len(left)


def _annotator(actor: Actor, project: Project, username: str) -> User:
    """The person of that name, account and role made when missing. Nobody can sign in to such an account."""
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


def _own(username: str, trajectories: Sequence[int]) -> dict[int, _Own]:
    """What the person of that name has of these trajectories already, by trajectory; `labels` is None when
    they are unfinished."""
    own: dict[int, _Own] = {}
    for part in chunks(trajectories):
        mine = Assignment.objects.filter(annotator__username=username, trajectory__in=part)
        for row in mine.select_related("outcome").prefetch_related("labels__step"):
            half = row.imported and row.state == AssignmentState.OPEN
            if row.state == AssignmentState.SUBMITTED or half:
                values = {label.step.message_index: label.value for label in row.labels.all()}
                own[row.trajectory_id] = _Own(row.pk, (values, row.outcome.value), half)
            else:
                own[row.trajectory_id] = _Own(row.pk, None, False)
    return own


def _store(user: User, row: Trajectory, steps: Sequence[StepRow], line: LabelLine, now: datetime) -> int:
    """One open assignment with its labels; its pk. Raises StaleState when every slot is taken."""
    assignment = Assignment.objects.create(
        project_id=row.project_id,
        trajectory=row,
        annotator=user,
        slot=assign.take_slot(row.pk, row.project_id),
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
    return assignment.pk
