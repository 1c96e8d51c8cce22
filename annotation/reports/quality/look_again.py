"""Submitted work that is to be looked at again, and the part of it that can be.

Gold, retests and readings for audits are among it: their annotator would tell them by what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.trajectories.messages import normalise
from annotation.core.vocabulary import (
    REASON_CODES_BY_CODE,
    SEEN_LABELS,
    VALUES,
    AdjudicationState,
    AssignmentState,
    AuditedState,
    RecheckKind,
)
from annotation.models import (
    Adjudication,
    Assignment,
    Discussion,
    Exposure,
    Guideline,
    Label,
    Membership,
    Project,
    RelabelRequest,
    ReleaseRecord,
    Subset,
    Trajectory,
    TrajectoryContent,
    User,
)
from annotation.policies import Actor, kept_from_lists, require

RELABEL_FILTERS: Final = ("version", "subset", "value", "reason", "kind")
MESSAGE_KINDS: Final = ("call", "reply")
MARKED: Final = ("queued", "frozen", "discussed", "seen", "away")
"""Reasons why something cannot be queued, the first that holds: it is queued already; a release holds it; its
dispute is being discussed or decided; its annotator has seen what others said of it, or cannot be asked."""
LEFT_OUT: Final = (*MARKED, "alone", "blind")
"""And of gold and rechecks: nothing else that their annotator submitted could be queued, which would tell of
them. And where the filters ask for labels: whoever asks is labelling it, or could claim it."""
FEW: Final = 2_000
"""So much work under older guidelines is previewed before anybody asks."""
SHARED: Final = ("frozen", "discussed", "seen")
"""Reasons that keep gold out when they keep out what its annotator submitted before it."""


@dataclass(frozen=True, slots=True)
class VersionCounts:
    """The work under one version of the guidelines."""

    number: int
    assignments: int
    trajectories: int


@dataclass(frozen=True, slots=True)
class RelabelBatch:
    """A batch of requests: how many, how many of them have been begun, and when."""

    batch: UUID
    because: str
    version: int
    asked_at: datetime
    queued: int
    begun: int


@dataclass(frozen=True, slots=True)
class RelabelPreview:
    """The matches of the filters: `ready` can be queued, `left_out` says how many cannot, and why."""

    ready: tuple[Assignment, ...]
    left_out: dict[str, int]

    @property
    def trajectories(self) -> int:
        """The number of trajectories that would be queued."""
        return len({row.trajectory_id for row in self.ready})

    @property
    def people(self) -> int:
        """The number of people who would be asked."""
        return len({row.annotator_id for row in self.ready})


def current_version(project: Project) -> int:
    """The version in force; 0 without one."""
    return Guideline.objects.filter(project=project).aggregate(newest=Max("version"))["newest"] or 0


def submitted(project: Project) -> QuerySet[Assignment]:
    """Submissions of annotators from the queue of a project, and what came between. No query."""
    gold = Q(recheck__kind=RecheckKind.GOLD.value)
    again = Q(recheck__isnull=True) | Q(recheck__kind__in=(RecheckKind.AUDIT, RecheckKind.RETEST))
    return Assignment.stored.filter(
        gold | again & Q(trajectory__live=True), project=project, state=AssignmentState.SUBMITTED
    ).order_by()


def versions(*, actor: Actor, project: Project) -> list[VersionCounts]:
    """Submitted work by the version that it was labelled under, the newest first. For admins. Two queries."""
    require(actor, "project.change", project)
    version = "guideline_version"
    # what is submitted from the queue is live, which need not be asked of each
    first = Assignment.objects.filter(project=project, state=AssignmentState.SUBMITTED).order_by()
    same = first.filter(trajectory=OuterRef("trajectory"), guideline_version=OuterRef(version))
    of = Count("trajectory", distinct=True)
    n, trajectories = Counter[int](), Counter[int]()
    for number, counted, labelled in first.values_list(version).annotate(n=Count("pk"), of=of):
        n[number], trajectories[number] = counted, labelled
    besides = submitted(project).filter(recheck__isnull=False).values_list(version)
    alone = Count("trajectory", filter=~Exists(same), distinct=True)
    for number, counted, labelled in besides.annotate(n=Count("pk"), of=alone):
        n[number] += counted
        trajectories[number] += labelled
    return [VersionCounts(number, n[number], trajectories[number]) for number in sorted(n, reverse=True)]


def batches(*, actor: User, project: Project, annotator: User | None = None) -> list[RelabelBatch]:
    """The queued batches, the newest first; with what one annotator was asked alone. For admins."""
    require(actor, "project.change", project)
    asked = RelabelRequest.objects.filter(project=project)
    if annotator is not None:
        asked = asked.filter(assignment__annotator=annotator)
    rows = asked.order_by().values("batch", "because", "version")
    counted = rows.annotate(at=Min("asked_at"), n=Count("pk"), begun=Count("begun_at"))
    listed = [
        RelabelBatch(row["batch"], row["because"], row["version"], row["at"], row["n"], row["begun"])
        for row in counted
    ]
    return sorted(listed, key=lambda one: one.asked_at, reverse=True)


def preview(*, actor: User, project: Project, filters: Mapping[str, str]) -> RelabelPreview:
    """Labels under older guidelines that fit `filters` (of `RELABEL_FILTERS`; "" takes all), and whether they
    can be queued. For admins. Raises Invalid for a filter that does not exist."""
    require(actor, "project.change", project)
    rows = submitted(project).filter(guideline_version__lt=current_version(project))
    if version := filters.get("version", ""):
        if not version.isdecimal() or len(version) > 9:
            raise Invalid(translatable("There is no version “{version}”.", version=version[:40]))
        rows = rows.filter(guideline_version=int(version))
    if subset := filters.get("subset", ""):
        if not Subset.objects.filter(project=project, name=subset).exists():
            raise Invalid(translatable("There is no subset “{subset}”.", subset=subset[:40]))
        rows = rows.filter(trajectory__subset__name=subset)
    labels = _labels(filters)
    kind = filters.get("kind", "")
    if kind not in ("", *MESSAGE_KINDS):
        raise Invalid(translatable("There is no kind of step “{kind}”.", kind=kind[:40]))
    blind = 0
    if labels is not None:
        # whether these fit would tell of labels; that they are left out is said whatever the filter
        kept = kept_from_lists(actor, project)
        own = (
            Trajectory.objects.filter(kept, project=project)
            if kept is not None
            else Trajectory.objects.none()
        )
        blind = rows.filter(trajectory__in=own).count()
        rows = rows.exclude(trajectory__in=own).filter(Exists(labels.filter(assignment=OuterRef("pk"))))
    assignments = marked(rows)
    if kind:
        fits = _of_kind(assignments, labels, calls=kind == "call")
        assignments = [row for row in assignments if row.pk in fits]
    return sorted_out(assignments, blind=blind)


def few_are_older(*, actor: User, project: Project) -> bool:
    """Whether so little was labelled under older guidelines that a preview of all of it takes no time. For
    admins. Two queries."""
    require(actor, "project.change", project)
    older = Assignment.stored.filter(
        project=project,
        state=AssignmentState.SUBMITTED,
        guideline_version__lt=current_version(project),
    )
    return older.order_by().values("pk")[: FEW + 1].count() <= FEW


def marked(rows: QuerySet[Assignment]) -> list[Assignment]:
    """These assignments in the order in which they were claimed, each with why it cannot be looked at again.
    One query."""
    return list(_marked(rows).select_related("project", "annotator", "trajectory", "recheck").order_by("pk"))


def sorted_out(assignments: Sequence[Assignment], **left_out: int) -> RelabelPreview:
    """The `marked` assignments that can be queued, and by reason the number that cannot, besides those
    `left_out` already. Two queries where there is gold."""
    why = {row.pk: _first_mark(row) for row in assignments}
    why |= {pk: why[pk] or mark for pk, mark in _marks_beside(assignments).items()}
    asked = {row.annotator_id for row in assignments if row.recheck_id is None and not why[row.pk]}
    for row in assignments:
        if row.recheck_id is not None and row.annotator_id not in asked:
            why[row.pk] = why[row.pk] or "alone"
    counted = Counter(reason for reason in why.values() if reason) + Counter(left_out)
    return RelabelPreview(
        ready=tuple(row for row in assignments if not why[row.pk]),
        left_out={name: counted[name] for name in (*LEFT_OUT, *left_out) if counted[name]},
    )


def _first_mark(row: Assignment) -> str:
    return next((name for name in MARKED if getattr(row, name)), "")


def _marks_beside(assignments: Iterable[Assignment]) -> dict[int, str]:
    """The reason that keeps gold (by pk) out because it keeps out what its annotator submitted before it from
    the queue, or where there is nothing, after it: of gold itself nothing is ever frozen or discussed."""
    gold = [row.pk for row in assignments if row.recheck and row.recheck.kind == RecheckKind.GOLD]
    if not gold:
        return {}
    own = Assignment.objects.filter(
        project=OuterRef("project"),
        annotator=OuterRef("annotator"),
        state=AssignmentState.SUBMITTED,
        imported=False,
        trajectory__live=True,
    )
    before = own.filter(submitted_at__lte=OuterRef("submitted_at")).order_by("-submitted_at", "-pk")
    after = own.order_by("submitted_at", "pk")
    beside = dict(
        Assignment.stored.filter(pk__in=gold)
        .annotate(beside=Coalesce(Subquery(before.values("pk")[:1]), Subquery(after.values("pk")[:1])))
        .values_list("pk", "beside")
    )
    fates = {row.pk: _first_mark(row) for row in _marked(Assignment.objects.filter(pk__in=beside.values()))}
    return {pk: mark for pk, one in beside.items() if (mark := fates.get(one or 0, "")) in SHARED}


def _labels(filters: Mapping[str, str]) -> QuerySet[Label] | None:
    """The labels that make a trajectory fit, by value and reason; None: any."""
    value, reason = filters.get("value", ""), filters.get("reason", "")
    if value not in ("", *map(str, VALUES)):
        raise Invalid(translatable("There is no label “{value}”.", value=value[:40]))
    if reason and reason not in REASON_CODES_BY_CODE:
        raise Invalid(translatable("There is no reason “{reason}”.", reason=reason[:40]))
    if not value and not reason:
        return None
    labels = Label.stored.filter(value__isnull=False).order_by()
    if value:
        labels = labels.filter(value=int(value))
    return labels.filter(reason=reason) if reason else labels


def _discussed(path: str = "") -> Q:
    """Whether the dispute of an assignment's trajectory is being discussed or decided, or that of an audit
    whose reading it is."""
    of_it = {"trajectory": OuterRef(f"{path}trajectory")}
    case = Adjudication.objects.filter(**of_it, state=AdjudicationState.OPEN)
    audited = Q(**{f"{path}recheck__audited__state": AuditedState.DECIDING.value})
    return Q(Exists(Discussion.objects.filter(**of_it))) | Q(Exists(case)) | audited


def _seen(path: str = "") -> QuerySet[Exposure]:
    """The exposures of an assignment's annotator to others' labels of it."""
    of_it = {"trajectory": OuterRef(f"{path}trajectory"), "user": OuterRef(f"{path}annotator")}
    return Exposure.objects.filter(**of_it, kind__in=SEEN_LABELS)


def _marked(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """With why each cannot be looked at again."""
    again = {"trajectory": OuterRef("trajectory"), "annotator": OuterRef("annotator")}
    here = Membership.objects.filter(
        user=OuterRef("annotator"), project=OuterRef("project"), is_annotator=True, user__is_active=True
    ).exclude(user__password__startswith=UNUSABLE_PASSWORD_PREFIX)
    return rows.annotate(
        queued=Exists(RelabelRequest.objects.filter(assignment=OuterRef("pk"), begun_at__isnull=True)),
        frozen=Exists(
            ReleaseRecord.objects.filter(
                release__project=OuterRef("project"),
                release__withdrawal__isnull=True,
                subset=OuterRef("trajectory__subset__name"),
                record_id=OuterRef("trajectory__record_id"),
            )
        ),
        discussed=_discussed(),
        seen=Exists(_seen()),
        # among those who have left: who has labelled the same again, whose first labels are closed to them
        away=~Exists(here)
        | Q(recheck__isnull=True) & Exists(Assignment.stored.filter(**again, recheck__isnull=False)),
    )


def _of_kind(assignments: Iterable[Assignment], labels: QuerySet[Label] | None, *, calls: bool) -> set[int]:
    """The assignments with a fitting label on a step that calls a tool, or on one that does not."""
    rows = list(assignments)
    wanted = (labels if labels is not None else Label.stored.filter(value__isnull=False).order_by()).filter(
        assignment__in=[row.pk for row in rows]
    )
    steps: dict[int, set[int]] = {}
    for assignment, index in wanted.values_list("assignment", "step__message_index"):
        steps.setdefault(assignment, set()).add(index)
    kinds: dict[int, list[bool]] = {}
    contents = TrajectoryContent.objects.filter(trajectory__in={row.trajectory_id for row in rows})
    for content in contents.iterator(100):
        messages = normalise(content.parsed()["messages"])
        kinds[content.trajectory_id] = [bool(message.tool_calls) for message in messages]
    return {
        row.pk
        for row in rows
        if any(kinds[row.trajectory_id][index] is calls for index in steps.get(row.pk, ()))
    }


def hopeless(looks: QuerySet[RelabelRequest]) -> QuerySet[RelabelRequest]:
    """The requests that nobody can begin any more: their annotator has left, or has seen others' labels. No
    query by itself."""
    here = Membership.objects.filter(
        user=OuterRef("assignment__annotator"),
        project=OuterRef("project"),
        is_annotator=True,
        user__is_active=True,
    )
    return looks.filter(~Exists(here) | Exists(_seen("assignment__")))


def waiting(*, actor: User, project: Project) -> QuerySet[RelabelRequest]:
    """The requests in a project that a person can begin at this moment: none while they are paused. One
    query."""
    mine = Q(assignment__annotator=actor, assignment__state=AssignmentState.SUBMITTED)
    paused = Membership.objects.filter(user=actor, project=project, paused_at__isnull=False)
    rows = RelabelRequest.objects.filter(
        ~Exists(paused),
        ~_discussed("assignment__"),
        ~Exists(_seen("assignment__")),
        mine,
        project=project,
        begun_at__isnull=True,
    )
    return rows.select_related("assignment__trajectory__subset")
