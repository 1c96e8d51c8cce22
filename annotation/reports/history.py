"""Everything that ever happened to a step, by whom: one view of the histories that services append to.

Who may not see names sees letters. Annotators see what they did themselves; what is said in a discussion that
is open to them; and everything else once its case is resolved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotation.core.text import unescape
from annotation.core.vocabulary import AdjudicationState, AssignmentState, Voice
from annotation.models import (
    Adjudication,
    Assignment,
    CaseEvent,
    Comment,
    Consensus,
    Discussion,
    LabelEvent,
    OutcomeConsensus,
    Revision,
    Step,
    Trajectory,
    User,
)
from annotation.policies import field_access

from .letters import letters


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened: when, what, by whom (`voice` and an annotator's letter, the name where it may
    be seen), the value it was about, and what was written with it."""

    at: datetime
    kind: str
    voice: Voice | None = None
    letter: str = ""
    name: str = ""
    own: bool = False
    value: int | None = None
    note: str = ""
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Who reads, and how much: `all_labels` the events of others' labels, `talk` what is said in the
    discussion, `case` what happened in the case."""

    user: User
    names: bool
    all_labels: bool
    talk: bool
    case: bool
    letters: dict[int, str]

    def entry(self, at: datetime, kind: str, voice: Voice | None, person: User | None, **more: Any) -> Entry:
        """An entry, by a person as this reader may know them."""
        letter = self.letters.get(person.pk, "") if person is not None and voice is Voice.ANNOTATOR else ""
        name = str(person) if person is not None and self.names else ""
        own = person is not None and person.pk == self.user.pk
        return Entry(at, kind, voice, letter, name, own, **more)


def history(*, actor: User, trajectory: Trajectory, step: Step | None) -> tuple[list[Entry], bool]:
    """What happened to a step, or with None to the outcome and the whole, the oldest first; and whether it
    tells of others' labels. A constant number of queries.

    `trajectory` comes with its project, subset and task.
    """
    access = field_access(actor, trajectory)
    resolved = access.discussed and access.consensus
    talk = access.others_labels or access.discussed
    reader = _Reader(
        user=actor,
        names=access.names,
        all_labels=access.others_labels or resolved,
        talk=talk,
        case=access.others_labels or resolved,
        # a letter of one's own alone tells that there is a case
        letters=_letters(trajectory) if talk else {},
    )
    found = [*_label_events(reader, trajectory, step)]
    if reader.talk:
        found += _discussion(reader, trajectory, step)
    if reader.case:
        found += _case(reader, trajectory, step, consensus=access.consensus)
    return sorted(found, key=lambda one: one.at), reader.talk


def _letters(trajectory: Trajectory) -> dict[int, str]:
    seed = Discussion.objects.filter(trajectory=trajectory).values_list("letter_seed", flat=True).first()
    if seed is None:
        cases = Adjudication.objects.filter(trajectory=trajectory).exclude(state=AdjudicationState.RELEASED)
        seed = cases.values_list("letter_seed", flat=True).first()
    if seed is None:
        return {}
    submitted = Assignment.objects.filter(trajectory=trajectory, state=AssignmentState.SUBMITTED)
    return letters(seed, trajectory.pk, submitted.order_by().values_list("annotator", flat=True))


def _label_events(reader: _Reader, trajectory: Trajectory, step: Step | None) -> Iterator[Entry]:
    events = LabelEvent.objects.filter(assignment__trajectory=trajectory, step=step)
    if not reader.all_labels:
        events = events.filter(assignment__annotator=reader.user)
    elif not reader.names:
        events = events.filter(assignment__state=AssignmentState.SUBMITTED)
    for event in events.select_related("assignment__annotator"):
        person = event.assignment.annotator
        yield reader.entry(event.created_at, event.kind, Voice.ANNOTATOR, person, value=event.value)


def _discussion(reader: _Reader, trajectory: Trajectory, step: Step | None) -> Iterator[Entry]:
    for said in Comment.objects.filter(discussion__trajectory=trajectory, step=step).select_related("author"):
        retracted = said.retracted_at is not None
        text = "" if retracted else unescape(said.text)
        kind = "retracted" if retracted else "comment"
        yield reader.entry(said.created_at, kind, Voice(said.voice), said.author, note=text)
    changes = Revision.objects.filter(assignment__trajectory=trajectory, step=step)
    for one in changes.select_related("assignment__annotator"):
        yield reader.entry(
            one.created_at,
            "revision",
            Voice.ANNOTATOR,
            one.assignment.annotator,
            value=one.value,
            note=unescape(one.note),
            detail={"previous": one.previous, "reason": one.reason},
        )


def _case(reader: _Reader, trajectory: Trajectory, step: Step | None, *, consensus: bool) -> Iterator[Entry]:
    events = CaseEvent.objects.filter(adjudication__trajectory=trajectory, step=step).select_related("actor")
    for event in events:
        yield reader.entry(
            event.created_at,
            event.kind,
            Voice.ADJUDICATOR,
            event.actor,
            value=event.value,
            note=unescape(event.note),
            detail={key: event.detail.get(key) for key in ("origin", "reason")},
        )
    if not consensus:
        return
    row: Consensus | OutcomeConsensus | None = (
        OutcomeConsensus.objects.filter(trajectory=trajectory).select_related("resolved_by").first()
        if step is None
        else Consensus.objects.filter(step=step).select_related("resolved_by").first()
    )
    if row is not None:
        voice = Voice.ADJUDICATOR if row.resolved_by else None
        detail = {"origin": row.kind, "reason": row.reason}
        yield reader.entry(
            row.created_at,
            "resolved",
            voice,
            row.resolved_by,
            value=row.value,
            note=unescape(row.note),
            detail=detail,
        )
