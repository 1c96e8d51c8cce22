"""Import a person's finished labels from a file, as submitted assignments; all of the file or nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import ImportRefused, StaleState
from annotation.core.i18n import translatable
from annotation.core.label_files import LabelLine, excerpt, problems_against, read_label_lines
from annotation.core.propagation import Rules, StepInput, resolve
from annotation.core.text import escape, unescape
from annotation.core.vocabulary import AssignmentState, LabelSource
from annotation.importers import RecordError
from annotation.models import (
    Assignment,
    Label,
    LabelEvent,
    Membership,
    OutcomeLabel,
    Project,
    Step,
    Trajectory,
    User,
)
from annotation.policies import Actor, require

from .. import accounts, assign, audit, planner_stats
from .submit import finish

LISTED_ERRORS = 1_000
LOOKUP = 500


@dataclass(frozen=True, slots=True)
class LabelImport:
    """What came of a label file: assignments made, those that were there with the same labels, step labels
    stored."""

    created: int
    unchanged: int
    labels: int


@dataclass(slots=True)
class Findings:
    """The errors of a file: the first 1,000, and the count of all."""

    filename: str
    errors: list[RecordError]
    count: int

    def add(self, line: LabelLine, reason: str) -> None:
        """One more thing that is wrong with a record."""
        self.extend(
            [RecordError(self.filename, line.line, "record_id", f"{excerpt(line.record_id)} {reason}")]
        )

    def extend(self, errors: Sequence[RecordError]) -> None:
        """Several of them."""
        self.count += len(errors)
        self.errors.extend(errors[: LISTED_ERRORS - len(self.errors)])

    def refuse(self) -> None:
        """Raise ImportRefused if there is anything wrong."""
        if not self.count:
            return
        listed = [{"line": error.line, "field": error.field, "reason": error.reason} for error in self.errors]
        raise ImportRefused(
            translatable(
                "{filename} was refused, nothing was imported; errors: {count}.",
                filename=self.filename,
                count=f"{self.count:,}",
            ),
            report={"errors": listed, "count": self.count},
        )


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
    found = read_label_lines(stream, filename)
    findings = Findings(filename, list(found.errors), found.error_count)
    if not found.lines and not findings.count:
        findings.extend([RecordError(filename, 1, "", "there is no label line in this file")])
    rows = _trajectories(project, subset, found.lines)
    user = _annotator(actor, project, annotator)
    steps = _steps(row.pk for row in rows.values() if row is not None)
    own = _own(user, [row.pk for row in rows.values() if row is not None])
    fresh: list[tuple[LabelLine, Trajectory]] = []
    for line in found.lines.values():
        row = rows.get(line.record_id)
        if row is None:
            several = line.record_id in rows
            findings.add(line, "is in several subsets: name one" if several else "is not in this project")
            continue
        wrong = problems_against(line, [step.message_index for step in steps[row.pk]], filename)
        findings.extend(wrong)
        if row.pk not in own:
            fresh.append((line, row))
        elif not wrong and own[row.pk] != (_complete(line), line.final_label):
            findings.add(line, f"has other or unfinished labels of {user.username} already")
    findings.refuse()
    now = timezone.now()
    for line, row in fresh:
        try:
            _store(user, row, steps[row.pk], line, now)
        except StaleState as full:
            findings.add(line, f"cannot take these labels: {full.message}")
    findings.refuse()
    stored = sum(len(steps[row.pk]) for _, row in fresh)
    result = LabelImport(created=len(fresh), unchanged=len(found.lines) - len(fresh), labels=stored)
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
    """The person of that name, account and role made when missing.

    Permission to import labels is permission to name who made them; nobody can sign in to an account made
    here.
    """
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


def _trajectories(project: Project, subset: str, wanted: Iterable[str]) -> dict[str, Trajectory | None]:
    """The live trajectories of these record ids; None where several subsets have the record."""
    base = Trajectory.objects.filter(project=project, live=True)
    if subset:
        base = base.filter(subset__name=subset)
    rows: dict[str, Trajectory | None] = {}
    ids = [escape(one) for one in wanted]
    for start in range(0, len(ids), LOOKUP):
        for row in base.filter(record_id__in=ids[start : start + LOOKUP]).select_related("subset", "project"):
            record_id = unescape(row.record_id)
            rows[record_id] = None if record_id in rows else row
    return rows


def _steps(trajectories: Iterable[int]) -> dict[int, list[Step]]:
    """The steps of each trajectory, in order."""
    wanted = list(trajectories)
    steps: dict[int, list[Step]] = {pk: [] for pk in wanted}
    for start in range(0, len(wanted), LOOKUP):
        part = wanted[start : start + LOOKUP]
        for step in Step.objects.filter(trajectory__in=part).order_by("trajectory", "message_index"):
            steps[step.trajectory_id].append(step)
    return steps


def _own(
    user: User, trajectories: Sequence[int]
) -> dict[int, tuple[dict[int, int | None], int | None] | None]:
    """What the person has of these trajectories already: submitted labels and outcome, or None when
    unfinished."""
    own: dict[int, tuple[dict[int, int | None], int | None] | None] = {}
    for start in range(0, len(trajectories), LOOKUP):
        part = trajectories[start : start + LOOKUP]
        mine = Assignment.objects.filter(annotator=user, trajectory__in=part).select_related("outcome")
        for assignment in mine.prefetch_related("labels__step"):
            if assignment.state != AssignmentState.SUBMITTED:
                own[assignment.trajectory_id] = None
                continue
            values = {label.step.message_index: label.value for label in assignment.labels.all()}
            own[assignment.trajectory_id] = (values, assignment.outcome.value)
    return own


def _complete(line: LabelLine) -> dict[int, int | None]:
    return dict(line.step_labels)


def _store(user: User, row: Trajectory, steps: Sequence[Step], line: LabelLine, now: datetime) -> None:
    """One submitted assignment with its labels. Raises StaleState when every slot is taken."""
    assignment = Assignment.objects.create(
        project_id=row.project_id,
        trajectory=row,
        annotator=user,
        slot=assign.take_slot(trajectory=row),
        imported=True,
        claimed_at=now,
    )
    rules = Rules(
        suspend_on_user_turn=row.subset.suspend_on_user_turn, carry_forward=row.project.carry_forward
    )
    inputs = [
        StepInput(
            message_index=step.message_index,
            value=line.step_labels[step.message_index],
            source="explicit",
            after_user_turn=step.after_user_turn,
        )
        for step in steps
    ]
    by_index = {step.message_index: step for step in steps}
    labels = [
        Label(
            assignment=assignment,
            step=step,
            value=result.value,
            source=LabelSource.EXPLICIT,
            root=by_index[result.root] if result.root is not None else None,
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
