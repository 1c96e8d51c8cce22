"""Sources of a history's entries: one function for each table that services append to, each asking what the
reader may know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeVar

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet

from annotation.core.text import unescape
from annotation.core.vocabulary import AuditedState, ExposureKind, Voice
from annotation.models import (
    Adjudication,
    AdminRemark,
    Assignment,
    AuditEvent,
    AuditRuling,
    CaseEvent,
    Comment,
    Consensus,
    Discussion,
    Exposure,
    Label,
    LabelEvent,
    OutcomeConsensus,
    OutcomeLabel,
    ReleaseRecord,
    Revision,
    Step,
    Trajectory,
    User,
)
from annotation.policies import deals_people, visible

M = TypeVar("M", bound=Model)
Place = Step | None | Literal["everything"]
"""Of what a history is: of a step; with None of the outcome and the whole; or of everything."""

SAID_BY_EVENTS: Final = ("reopen", "expire")
"""Kinds of label events that the audit log tells too, and of which it knows who did it."""
OF_THE_WHOLE: Final = ("mark", "import")
"""Kinds of label events without a step that are not about the outcome."""
TOLD_BY_SIGHTS: Final = ("case.reveal",)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that happened: when, what, by whom (`voice` and an annotator's letter, the name where it may
    be seen), the value it was about, and what was written with it.

    `about` says of what: "step" (then `message_index` and `number`, from 1, say which), "outcome" or "whole".
    """

    at: datetime
    kind: str
    voice: Voice | None = None
    letter: str = ""
    name: str = ""
    own: bool = False
    value: int | None = None
    note: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    about: str = "whole"
    message_index: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryReader:
    """The reader of a history, its `place`, and their rights: `assignments` whose events they see, by pk;
    `talk`: the discussion, `case`: the events of the case, `sights`: everybody's exposures, or from a moment
    on their own (None: not even these)."""

    user: User
    trajectory: Trajectory
    place: Place
    names: bool
    assignments: Mapping[int, Assignment]
    talk: bool
    case: bool
    consensus: bool
    sights: datetime | Literal["everybody"] | None
    letters: Mapping[int, str]
    steps: Mapping[int, Step]
    annotators: frozenset[int]
    adjudicators: frozenset[int]

    def here(self, rows: QuerySet[M], *, whole: Q | None = None) -> QuerySet[M]:
        """The rows, each with a step or none, that belong to the place; `whole`: those without a step that
        belong to every step."""
        if self.place == "everything":
            return rows
        condition = Q(step=self.place) if self.place is not None else Q(step__isnull=True)
        return rows.filter(condition if whole is None else condition | (Q(step__isnull=True) & whole))

    def voice_of(self, person: User | None) -> Voice | None:
        """The voice of an actor: an annotator who labelled it, an adjudicator who had its case."""
        if person is None:
            return None
        if person.pk in self.annotators:
            return Voice.ANNOTATOR
        return Voice.ADJUDICATOR if person.pk in self.adjudicators else Voice.ADMIN

    def error(self, root: int | None, reason: str) -> dict[str, Any]:
        """The root of an error (a step's pk; told is its message), and its reason code."""
        began = self.steps.get(root) if root is not None else None
        return {"root": began.message_index if began is not None else None, "reason": reason}

    def entry(
        self,
        at: datetime,
        kind: str,
        voice: Voice | None,
        person: User | None,
        *,
        step: int | None = None,
        about: str = "outcome",
        **more: Any,
    ) -> HistoryEntry:
        """An entry, by a person as this reader may know them, of a step (by pk) or of what `about` says."""
        letter = self.letters.get(person.pk, "") if person is not None and voice is Voice.ANNOTATOR else ""
        name = str(person) if person is not None and self.names else ""
        own = person is not None and person.pk == self.user.pk
        step_row = self.steps.get(step) if step is not None else None
        if step_row is not None:
            where = {
                "about": "step",
                "message_index": step_row.message_index,
                "number": step_row.ordinal + 1,
            }
            more |= where
        else:
            more["about"] = about
        return HistoryEntry(at, kind, voice, letter, name, own, **more)


def entries(reader: HistoryReader) -> list[HistoryEntry]:
    """All entries the reader may know of, the oldest first. A constant number of queries."""
    listed = [*_labels(reader), *_audit(reader), *_sights(reader), *_remarks(reader)]
    if reader.talk:
        listed += _discussion(reader)
    if reader.case:
        listed += _case(reader)
    if reader.case and reader.consensus:
        listed += [*_consensus(reader), *_corrections(reader), *_releases(reader)]
    return sorted(listed, key=lambda one: one.at)


def _labels(reader: HistoryReader) -> Iterator[HistoryEntry]:
    rows = LabelEvent.stored.filter(assignment__in=list(reader.assignments)).exclude(kind__in=SAID_BY_EVENTS)
    if deals_people(reader.trajectory.project) and not reader.names:  # others' looks tell their arm
        rows = rows.exclude(~Q(assignment__annotator=reader.user), kind="reveal")
    events = list(reader.here(rows, whole=Q(kind__in=OF_THE_WHOLE)).order_by("pk"))
    imported = _imported(reader, {event.assignment_id for event in events if event.kind not in OF_THE_WHOLE})
    for event in events:
        person = reader.assignments[event.assignment_id].annotator
        detail = {"source": event.source} if event.source else {}
        if event.kind == "mark":
            detail = {name: event.detail.get(name) for name in ("needs_discussion", "broken")}
        yield reader.entry(
            event.created_at,
            event.kind,
            Voice.ANNOTATOR,
            person,
            step=event.step_id,
            about="whole" if event.kind in OF_THE_WHOLE else "outcome",
            value=imported.get(event.assignment_id) if event.kind == "import" else event.value,
            detail=detail,
        )


def _imported(reader: HistoryReader, changed: set[int]) -> dict[int, int | None]:
    """Imported labels of this one step or the outcome, by assignment, where they were not changed since: the
    event of an import is one for all labels."""
    if reader.place == "everything":
        return {}
    since = {"assignment__imported": True, "assignment__in": set(reader.assignments) - changed}
    rows = (
        Label.stored.filter(**since, step=reader.place)
        if reader.place is not None
        else OutcomeLabel.stored.filter(**since)
    )
    return dict(rows.order_by().values_list("assignment", "value"))


def _audit(reader: HistoryReader) -> Iterator[HistoryEntry]:
    """Entries of the audit log about the assignments, cases and the discussion of the trajectory."""
    of = {"assignment": [str(pk) for pk in reader.assignments]}
    if reader.case:
        cases = Adjudication.objects.filter(trajectory=reader.trajectory).order_by()
        of["adjudication"] = [str(pk) for pk in cases.values_list("pk", flat=True)]
    if reader.talk:
        talks = Discussion.objects.filter(trajectory=reader.trajectory).order_by()
        of["discussion"] = [str(pk) for pk in talks.values_list("pk", flat=True)]
    wanted = Q(pk__in=[])
    for kind, pks in of.items():
        wanted |= Q(object_type=kind, object_id__in=pks)
    rows = AuditEvent.objects.filter(wanted, project=reader.trajectory.project_id)
    for row in rows.exclude(verb__in=TOLD_BY_SIGHTS).select_related("actor").order_by("created_at", "pk"):
        detail = {"because": row.detail["because"]} if "because" in row.detail else {}
        if reader.names and "username" in row.detail:
            detail["username"] = row.detail["username"]
        if row.object_type == "assignment":
            person = reader.assignments[int(row.object_id)].annotator
            if row.actor_id != person.pk and (letter := reader.letters.get(person.pk)):
                detail["whose"] = letter
        yield reader.entry(
            row.created_at, row.verb, reader.voice_of(row.actor), row.actor, about="whole", detail=detail
        )


def _sights(reader: HistoryReader) -> Iterator[HistoryEntry]:
    """Exposures of people; suggestions that an annotator asked for are events of their labels already."""
    if reader.sights is None:
        return
    # what somebody saw in a recheck would tell that there is one
    rechecked = Assignment.stored.filter(
        trajectory=OuterRef("trajectory"), annotator=OuterRef("user"), recheck__isnull=False
    )
    unmarked = Q(~Exists(rechecked)) | Q(user=reader.user)
    rows = Exposure.objects.filter(unmarked, trajectory=reader.trajectory)
    if reader.sights != "everybody":
        rows = rows.filter(user=reader.user, created_at__gte=reader.sights)
    exposed = set(
        LabelEvent.stored.filter(assignment__in=list(reader.assignments), kind="reveal").values_list(
            "assignment__annotator", "step"
        )
    )
    suggestion = ExposureKind.SUGGESTION.value
    for exposure in reader.here(rows, whole=~Q(kind=suggestion)).select_related("user").order_by("pk"):
        if exposure.kind == suggestion and (exposure.user_id, exposure.step_id) in exposed:
            continue
        yield reader.entry(
            exposure.created_at,
            f"seen.{exposure.kind}",
            reader.voice_of(exposure.user),
            exposure.user,
            step=exposure.step_id,
            about="outcome" if exposure.kind == suggestion else "whole",
        )


def _remarks(reader: HistoryReader) -> Iterator[HistoryEntry]:
    """Remarks of annotators to the admins, with the answers: for the author, and for admins."""
    rows = visible(reader.user, AdminRemark.objects.filter(assignment__in=list(reader.assignments)))
    for row in reader.here(rows, whole=Q()).select_related("assignment__annotator", "closed_by"):
        about: dict[str, Any] = {"step": row.step_id, "about": "whole"}
        author = row.assignment.annotator
        yield reader.entry(
            row.created_at, "remark.write", Voice.ANNOTATOR, author, note=unescape(row.text), **about
        )
        if row.closed_at is not None:
            by = row.closed_by
            yield reader.entry(
                row.closed_at, "remark.close", reader.voice_of(by), by, note=unescape(row.answer), **about
            )


def _discussion(reader: HistoryReader) -> Iterator[HistoryEntry]:
    comments = Comment.objects.filter(discussion__trajectory=reader.trajectory).select_related("author")
    for comment in reader.here(comments):
        retracted = comment.retracted_at is not None
        yield reader.entry(
            comment.created_at,
            "retracted" if retracted else "comment",
            Voice(comment.voice),
            comment.author,
            step=comment.step_id,
            about="whole",
            note="" if retracted else unescape(comment.text),
        )
    changes = Revision.objects.filter(assignment__trajectory=reader.trajectory)
    for revision in reader.here(changes).select_related("assignment__annotator"):
        yield reader.entry(
            revision.created_at,
            "revision",
            Voice.ANNOTATOR,
            revision.assignment.annotator,
            step=revision.step_id,
            value=revision.value,
            note=unescape(revision.note),
            detail={"previous": revision.previous, **reader.error(revision.root_id, revision.reason)},
        )


def _case(reader: HistoryReader) -> Iterator[HistoryEntry]:
    events = CaseEvent.objects.filter(adjudication__trajectory=reader.trajectory).select_related("actor")
    for event in reader.here(events):
        yield reader.entry(
            event.created_at,
            event.kind,
            reader.voice_of(event.actor),
            event.actor,
            step=event.step_id,
            value=event.value,
            note=unescape(event.note),
            detail={
                "origin": event.detail.get("origin"),
                **reader.error(event.detail.get("root"), event.detail.get("reason", "")),
            },
        )


def _consensus(reader: HistoryReader) -> Iterator[HistoryEntry]:
    rows: list[Consensus | OutcomeConsensus] = []
    if reader.place is not None:
        steps = Consensus.objects.filter(trajectory=reader.trajectory).select_related("resolved_by")
        rows += reader.here(steps)
    if reader.place is None or reader.place == "everything":
        outcome = OutcomeConsensus.objects.filter(trajectory=reader.trajectory)
        rows += outcome.select_related("resolved_by")
    for row in rows:
        yield reader.entry(
            row.created_at,
            "resolved",
            Voice.ADJUDICATOR if row.resolved_by else None,
            row.resolved_by,
            step=row.step_id if isinstance(row, Consensus) else None,
            value=row.value,
            note=unescape(row.note),
            detail={"origin": row.kind, **reader.error(getattr(row, "root_id", None), row.reason)},
        )


def _corrections(reader: HistoryReader) -> Iterator[HistoryEntry]:
    """Corrections of the consensus by an audit."""
    done = {"audited__trajectory": reader.trajectory, "audited__state": AuditedState.DONE}
    rows = AuditRuling.objects.filter(**done).exclude(value=F("before")).select_related("ruled_by")
    for row in reader.here(rows):
        yield reader.entry(
            row.ruled_at,
            "corrected",
            Voice.ADJUDICATOR,
            row.ruled_by,
            step=row.step_id,
            value=row.value,
            note=unescape(row.note),
            detail={"previous": row.before},
        )


def _releases(reader: HistoryReader) -> Iterator[HistoryEntry]:
    """The releases that hold it, and what became of them."""
    rows = ReleaseRecord.objects.filter(
        release__project=reader.trajectory.project_id,
        subset=reader.trajectory.subset.name,
        record_id=reader.trajectory.record_id,
    ).select_related("release__created_by", "release__withdrawal__created_by")
    for row in rows.defer("body", "release__manifest", "release__signature"):
        release = row.release
        entry: dict[str, Any] = {"about": "whole", "detail": {"version": release.version}}
        yield reader.entry(
            release.created_at,
            "release.freeze",
            reader.voice_of(release.created_by),
            release.created_by,
            **entry,
        )
        withdrawal = getattr(release, "withdrawal", None)
        if withdrawal is not None:
            by = withdrawal.created_by
            yield reader.entry(withdrawal.created_at, "release.withdraw", reader.voice_of(by), by, **entry)
