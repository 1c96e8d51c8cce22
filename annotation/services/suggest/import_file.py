"""Import a judge's suggestions from a file; all of the file or nothing of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict, ImportRefused, Invalid
from annotation.core.i18n import translatable
from annotation.core.label_files import LabelLine, excerpt, read_label_lines
from annotation.core.text import escape, unescape
from annotation.core.vocabulary import JudgeKind
from annotation.models import Judge, Project, Step, Subset, SuggestedLabel, Suggestion, Trajectory
from annotation.policies import Actor, recorded, require

from .. import audit, planner_stats

LOOKUP = 500
LISTED_ERRORS = 1_000
MAX_SOURCE = 255


@dataclass(frozen=True, slots=True)
class SuggestionImport:
    """What came of a file. `created`, `unchanged`: trajectories; `labels`: step labels stored.

    `missing`: steps of these trajectories without a label; `invalid`: entries that are not a label;
    `extra`: labels for messages that are no step; `failed`: judgements that say of themselves that they
    failed. All four count the file, stored now or before.
    """

    judge: Judge
    created: int
    unchanged: int
    labels: int
    missing: int
    invalid: int
    extra: int
    failed: int


@dataclass(frozen=True, slots=True)
class _Read:
    """One line held against the steps of its trajectory."""

    trajectory: int
    labels: dict[int, tuple[int, str]]
    outcome: int | None
    reason: str
    comment: str
    missing: int
    invalid: int
    extra: int
    failed: bool

    @property
    def content(self) -> tuple[object, ...]:
        """What makes a second import of the same file a repetition."""
        return (self.labels, self.outcome, self.reason, self.comment)


@transaction.atomic
def import_suggestions(
    *, actor: Actor, project: Project, judge_name: str, stream: BinaryIO, filename: str, subset: str = ""
) -> SuggestionImport:
    """Store a prediction file (docs/formats.md, "Label and prediction files") as what the judge of this name
    suggests, who is made when missing.

    Of several lines about a record the newest counts. A label that is missing or invalid stays missing and is
    counted; a judgement that failed is stored as one without labels. The same again changes nothing; without
    `subset` a record id is looked for in all subsets. Raises ImportRefused naming every record that cannot be
    found or that this judge has judged otherwise, Conflict for a judge of another kind.
    """
    require(actor, "judges.change", project)
    found = read_label_lines(stream, filename)
    errors: list[dict[str, object]] = [
        {"line": error.line, "field": error.field, "reason": error.reason} for error in found.errors
    ]
    count = found.error_count
    if subset and not Subset.objects.filter(project=project, name=subset).exists():
        unknown = translatable("There is no subset “{name}”.", name=subset)
        raise Invalid(unknown, fields={"subset": unknown})
    if not found.lines and not count:
        errors.append({"line": 1, "field": "", "reason": "there is no label line in this file"})
        count = 1
    judge = _judge(actor, project, judge_name)
    places = _places(project, subset, found.lines)
    steps = _steps(pk for pk in places.values() if pk is not None)
    stored = _stored(judge, [pk for pk in places.values() if pk is not None])
    fresh: list[_Read] = []
    reads: list[_Read] = []
    for line in found.lines.values():
        pk = places.get(line.record_id)
        problem = ""
        if pk is None:
            several = line.record_id in places
            problem = "is in several subsets: name one" if several else "is not in this project"
        else:
            read = _read(pk, line, steps[pk])
            reads.append(read)
            if pk not in stored:
                fresh.append(read)
            elif stored[pk] != read.content:
                problem = f"has another suggestion of {judge.name} already"
        if problem:
            count += 1
            reason = f"{excerpt(line.record_id)} {problem}"
            errors.append({"line": line.line, "field": "record_id", "reason": reason})
    if count:
        raise ImportRefused(
            translatable(
                "{file} was refused, nothing was imported; errors: {n}.", file=filename, n=f"{count:,}"
            ),
            report={"errors": errors[:LISTED_ERRORS], "count": count},
        )
    labels = _store(judge, fresh, steps, escape(filename)[:MAX_SOURCE], timezone.now())
    if fresh:
        planner_stats.analyse(Suggestion, SuggestedLabel)
    result = SuggestionImport(
        judge=judge,
        created=len(fresh),
        unchanged=len(reads) - len(fresh),
        labels=labels,
        missing=sum(read.missing for read in reads),
        invalid=sum(read.invalid for read in reads),
        extra=sum(read.extra for read in reads),
        failed=sum(read.failed for read in reads),
    )
    audit.record(
        actor=actor,
        verb="suggestions.import",
        project=project,
        obj=judge,
        judge=judge.name,
        created=result.created,
        unchanged=result.unchanged,
    )
    return result


def _judge(actor: Actor, project: Project, name: str) -> Judge:
    name = escape(name.strip())
    if not name or len(name) > 120:
        problem = translatable("A judge needs a name of at most 120 characters.")
        raise Invalid(problem, fields={"judge": problem})
    judge, made = Judge.objects.get_or_create(
        project=project,
        name=name,
        defaults={
            "kind": JudgeKind.IMPORTED.value,
            "created_by": recorded(actor),
            "created_at": timezone.now(),
        },
    )
    if judge.kind != JudgeKind.IMPORTED:
        raise Conflict(
            translatable("“{name}” is a judge that is asked; give the file’s another name.", name=name)
        )
    if made:
        audit.record(actor=actor, verb="judge.create", project=project, obj=judge, kind=judge.kind)
    return judge


def _places(project: Project, subset: str, wanted: Iterable[str]) -> dict[str, int | None]:
    """The live trajectories of these record ids; None where several subsets have the record."""
    base = Trajectory.objects.filter(project=project, live=True)
    if subset:
        base = base.filter(subset__name=subset)
    rows: dict[str, int | None] = {}
    ids = [escape(one) for one in wanted]
    for start in range(0, len(ids), LOOKUP):
        part = base.filter(record_id__in=ids[start : start + LOOKUP]).order_by()
        for pk, stored_as in part.values_list("pk", "record_id"):
            record_id = unescape(stored_as)
            rows[record_id] = None if record_id in rows else pk
    return rows


def _steps(trajectories: Iterable[int]) -> dict[int, dict[int, int]]:
    """Step ids by message index, for each trajectory."""
    wanted = list(trajectories)
    steps: dict[int, dict[int, int]] = {pk: {} for pk in wanted}
    for start in range(0, len(wanted), LOOKUP):
        rows = Step.objects.filter(trajectory__in=wanted[start : start + LOOKUP]).order_by()
        for trajectory, index, pk in rows.values_list("trajectory_id", "message_index", "pk"):
            steps[trajectory][index] = pk
    return steps


def _stored(judge: Judge, trajectories: Sequence[int]) -> dict[int, tuple[object, ...]]:
    """What the judge has suggested for these trajectories already, as `_Read.content`."""
    stored: dict[int, tuple[object, ...]] = {}
    for start in range(0, len(trajectories), LOOKUP):
        rows = Suggestion.objects.filter(judge=judge, trajectory__in=trajectories[start : start + LOOKUP])
        for row in rows.prefetch_related("labels__step"):
            labels = {label.step.message_index: (label.value, label.reason) for label in row.labels.all()}
            stored[row.trajectory_id] = (labels, row.outcome, row.reason, row.comment)
    return stored


def _read(trajectory: int, line: LabelLine, steps: Mapping[int, int]) -> _Read:
    labels = {
        index: (value, escape(line.explanations.get(index, "")))
        for index in sorted(steps)
        if (value := line.step_labels.get(index)) is not None
    }
    named = {name for name, _ in line.problems}
    invalid = sum(f"step_labels.{index}" in named and index not in labels for index in steps)
    return _Read(
        trajectory=trajectory,
        labels=labels,
        outcome=line.final_label,
        reason=escape(line.final_explanation),
        comment=escape(line.comment),
        missing=len(steps) - len(labels) - invalid,
        invalid=invalid,
        extra=len(line.step_labels.keys() - steps.keys()),
        failed=line.failed,
    )


def _store(
    judge: Judge, fresh: Sequence[_Read], steps: Mapping[int, Mapping[int, int]], source: str, now: datetime
) -> int:
    """Write suggestions and their labels; how many labels."""
    made = Suggestion.objects.bulk_create(
        [
            Suggestion(
                judge=judge,
                trajectory_id=read.trajectory,
                outcome=read.outcome,
                reason=read.reason,
                comment=read.comment,
                source=source,
                missing=read.missing,
                invalid=read.invalid,
                extra=read.extra,
                created_at=now,
            )
            for read in fresh
        ],
        batch_size=LOOKUP,
    )
    labels = [
        SuggestedLabel(
            suggestion=suggestion, step_id=steps[read.trajectory][index], value=value, reason=reason
        )
        for suggestion, read in zip(made, fresh, strict=True)
        for index, (value, reason) in read.labels.items()
    ]
    SuggestedLabel.objects.bulk_create(labels, batch_size=LOOKUP)
    return len(labels)
