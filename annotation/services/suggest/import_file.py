"""Import a judge's suggestions from a file; all of the file or nothing of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from django.db import IntegrityError, transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.judging.kinds import FILE, KINDS
from annotation.core.label_files import LabelLine
from annotation.core.text import escape
from annotation.models import Judge, Project, Subset, SuggestedLabel, Suggestion
from annotation.policies import Actor, recorded, require

from .. import audit, planner_stats
from ..batched_writes import FORGOTTEN, in_blocks
from ..record_lookup import (
    StepKey,
    chunks,
    find_trajectories,
    matched_lines,
    read_file,
    record_error,
    steps_of,
)
from .judge_disagreement import renew_doubt

STORED_AT_ONCE = 25
MAX_SOURCE = 255
OTHER_SUGGESTION = translatable("{record} has another suggestion of {name} already")


@dataclass(frozen=True, slots=True)
class SuggestionImport:
    """The result of an import of suggestions. `created`, `unchanged`: trajectories; `labels`: step labels
    stored.

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
        """The content by which a second import of the same file is known as a repetition."""
        return (self.labels, self.outcome, self.reason, self.comment)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A suggestion of before; `half`: an import that was killed left it, not live yet."""

    content: tuple[object, ...]
    half: bool


@dataclass(frozen=True, slots=True)
class _Checked:
    """The lines of a file held against what is stored: all `reads`, those of them that are `fresh`, and the
    trajectories (`halves`) whose suggestion lies there and is not live yet."""

    reads: list[_Read]
    fresh: list[_Read]
    halves: set[int]

    def take(self, read: _Read, before: _Stored | None) -> bool:
        """Put a line in its place; False when the judge has said something else of its trajectory."""
        self.reads.append(read)
        same = before is not None and before.content == read.content
        if before is None or (before.half and not same):
            self.fresh.append(read)
        elif before.half:
            self.halves.add(read.trajectory)
        return before is None or before.half or same

    def result(self, judge: Judge) -> SuggestionImport:
        """The result of the import, once it is stored."""
        new = [*self.fresh, *(read for read in self.reads if read.trajectory in self.halves)]
        return SuggestionImport(
            judge=judge,
            created=len(new),
            unchanged=len(self.reads) - len(new),
            labels=sum(len(read.labels) for read in new),
            missing=sum(read.missing for read in self.reads),
            invalid=sum(read.invalid for read in self.reads),
            extra=sum(read.extra for read in self.reads),
            failed=sum(read.failed for read in self.reads),
        )


def import_suggestions(
    *, actor: Actor, project: Project, judge_name: str, stream: BinaryIO, filename: str, subset: str = ""
) -> SuggestionImport:
    """Store a prediction file (docs/formats.md, "Label and prediction files") as what the judge of this name
    suggests, who is made when missing.

    Of several lines about a record the newest counts. A label that is missing or invalid stays missing and is
    counted; a judgement that failed is stored as one without labels. The same again changes nothing; without
    `subset` a record id is looked for in all subsets. Raises ImportRefused naming every record that cannot be
    found or that this judge has judged otherwise, Conflict for a judge of another kind, or when somebody else
    imports the same at this moment.

    Everything is checked before anything is written; then the suggestions are stored in short transactions,
    known to nobody, until the last one makes all of them live. The same file again completes what a kill
    left; another one takes its place, and after an hour it is swept away (`sweep_half_imports`).
    """
    require(actor, "judges.change", project)
    file = read_file(stream, filename)
    errors = file.errors
    if subset and not Subset.objects.filter(project=project, name=subset).exists():
        unknown = translatable("There is no subset “{name}”.", name=subset)
        raise Invalid(unknown, fields={"subset": unknown})
    judge = _known_judge(project, judge_name)
    matches = find_trajectories(project, subset, file.lines)
    pks = [pk for pk in matches.values() if pk is not None]
    steps = steps_of(pks)
    stored = _stored(judge, pks) if judge is not None else {}
    checked = _Checked([], [], set())
    for line, pk in matched_lines(file.lines.values(), matches, errors):
        read = _read(pk, line, steps[pk])
        if not checked.take(read, stored.get(pk)):
            errors.add(record_error(line, OTHER_SUGGESTION, filename, name=judge_name.strip()))
    if errors:
        raise errors.refusal()
    try:
        with transaction.atomic():
            judge = judge or _new_judge(actor, project, judge_name)
        _take_away(Suggestion.stored.filter(judge=judge, live=False).exclude(trajectory__in=checked.halves))
        _store(judge, checked.fresh, steps, escape(filename)[:MAX_SOURCE], timezone.now())
        Suggestion.stored.filter(judge=judge, live=False).update(live=True)
    except IntegrityError as error:
        raise Conflict(
            translatable("Somebody else is importing the same suggestions right now; try again."),
            code="overtaken",
        ) from error
    judged = sorted({read.trajectory for read in checked.reads})
    in_blocks((judged[at : at + STORED_AT_ONCE] for at in range(0, len(judged), STORED_AT_ONCE)), renew_doubt)
    result = checked.result(judge)
    if result.created:
        planner_stats.analyse(Suggestion, SuggestedLabel)
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


def _known_judge(project: Project, name: str) -> Judge | None:
    """The judge of that name, or None. Raises Invalid for what is no name, Conflict for one that is asked."""
    name = escape(name.strip())
    if not name or len(name) > 120:
        problem = translatable("A judge needs a name of at most 120 characters.")
        raise Invalid(problem, fields={"judge": problem})
    judge = Judge.objects.filter(project=project, name=name).first()
    if judge is not None and not KINDS[judge.kind].takes_files:
        raise Conflict(
            translatable(
                "The judge “{name}” does not get its suggestions from files; choose another name.", name=name
            )
        )
    return judge


def _new_judge(actor: Actor, project: Project, name: str) -> Judge:
    judge = Judge.objects.create(
        project=project,
        name=escape(name.strip()),
        kind=FILE.name,
        created_by=recorded(actor),
        created_at=timezone.now(),
    )
    audit.record(actor=actor, verb="judge.create", project=project, obj=judge, kind=judge.kind)
    return judge


def _stored(judge: Judge, trajectories: Sequence[int]) -> dict[int, _Stored]:
    """Suggestions that the judge has for these trajectories already."""
    stored: dict[int, _Stored] = {}
    labels = Prefetch("labels", SuggestedLabel.stored.select_related("step"))
    for part in chunks(trajectories):
        rows = Suggestion.stored.filter(judge=judge, trajectory__in=part)
        for row in rows.prefetch_related(labels):
            values = {label.step.message_index: (label.value, label.reason) for label in row.labels.all()}
            content = (values, row.outcome, row.reason, row.comment)
            stored[row.trajectory_id] = _Stored(content, half=not row.live)
    return stored


def _read(trajectory: int, line: LabelLine, steps: Collection[int]) -> _Read:
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
        extra=len(line.step_labels.keys() - set(steps)),
        failed=line.failed,
    )


def _store(
    judge: Judge,
    fresh: Sequence[_Read],
    steps: Mapping[int, Mapping[int, StepKey]],
    source: str,
    now: datetime,
) -> None:
    """Write suggestions with their labels, a trajectory's together, known to nobody yet."""

    def store(reads: Sequence[_Read]) -> None:
        made = Suggestion.stored.bulk_create(
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
                live=False,
                created_at=now,
            )
            for read in reads
        )
        SuggestedLabel.stored.bulk_create(
            SuggestedLabel(
                suggestion=suggestion, step_id=steps[read.trajectory][index].pk, value=value, reason=reason
            )
            for suggestion, read in zip(made, reads, strict=True)
            for index, (value, reason) in read.labels.items()
        )

    in_blocks((fresh[at : at + STORED_AT_ONCE] for at in range(0, len(fresh), STORED_AT_ONCE)), store)


def _take_away(rows: QuerySet[Suggestion]) -> int:
    """Delete suggestions that never became live; how many."""
    left = list(rows.order_by("pk").values_list("pk", flat=True))
    parts = (left[at : at + STORED_AT_ONCE] for at in range(0, len(left), STORED_AT_ONCE))

    def take_away(part: Sequence[int]) -> None:
        Suggestion.stored.filter(pk__in=part, live=False).delete()

    in_blocks(parts, take_away)
    return len(left)


def sweep_half_imports(*, now: datetime | None = None) -> int:
    """Take away what an import of suggestions left that was killed an hour ago, and not begun again; how many
    suggestions."""
    before = (now or timezone.now()) - FORGOTTEN
    return _take_away(Suggestion.stored.filter(live=False, judge__sample=None, created_at__lt=before))
