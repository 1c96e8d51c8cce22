"""The examples of the guidelines: resolved cases, told without names and without what leads back to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, OuterRef, Subquery

from annotation.core.text import unescape
from annotation.core.vocabulary import Role, TrajectoryState
from annotation.models import Consensus, Example, OutcomeConsensus, Project, User
from annotation.policies import roles, visible
from annotation.policies.examples import still_blind

SHOWN_OF_QUESTION = 400


@dataclass(frozen=True, slots=True)
class ShownExample:
    """One example. `number` is that of the step, from 1, None for a whole case; `steps` how many there are.

    What leads back is there for those who may: `trajectory` for admins, `adjudication` for them and for who
    decided the case; both may take the mark away. To them `hidden` says why annotators do not see it: "blind"
    while a run of its task is being labelled, "changed" while its consensus is another one, or none.
    """

    pk: int
    title: str
    text: str
    question: str
    excerpt: str
    number: int | None
    steps: int
    value: int
    origin: str
    reason: str
    created_at: datetime
    of: int
    trajectory: int | None = None
    adjudication: int | None = None
    message_index: int | None = None
    hidden: str = ""

    @property
    def mine(self) -> bool:
        """Whether the reader may take the mark away."""
        return self.adjudication is not None


def examples(*, actor: User, project: Project) -> list[ShownExample]:
    """The examples that a member may see, in the order in which they were marked. Two queries."""
    held = roles(actor, project)
    of_step = Consensus.objects.filter(step=OuterRef("step"))
    of_whole = OutcomeConsensus.objects.filter(trajectory=OuterRef("trajectory"))
    rows = visible(actor, Example.objects.filter(project=project)).annotate(
        blind=still_blind(),
        step_now=Subquery(of_step.values("value")),
        whole_now=Subquery(of_whole.values("value")),
        step_origin=Subquery(of_step.values("kind")),
        whole_origin=Subquery(of_whole.values("kind")),
        step_reason=Subquery(of_step.values("reason")),
        whole_reason=Subquery(of_whole.values("reason")),
        question=F("trajectory__task__question"),
    )
    rows = rows.select_related("trajectory", "adjudication", "step")
    shown = []
    for row in rows.order_by("pk"):
        part = "step" if row.step_id else "whole"
        resolved = row.trajectory.state == TrajectoryState.ADJUDICATED
        changed = not resolved or getattr(row, f"{part}_now") != row.value
        decided = row.adjudication.adjudicator_id == actor.pk and Role.ADJUDICATOR in held
        manages = Role.ADMIN in held or decided
        if changed and not manages:
            continue
        hidden = "changed" if changed else "blind" if row.blind else ""
        shown.append(
            ShownExample(
                pk=row.pk,
                title=unescape(row.title),
                text=unescape(row.text),
                question=_short(unescape(row.question)),
                excerpt=unescape(row.excerpt),
                number=row.step.ordinal + 1 if row.step else None,
                steps=row.trajectory.step_count,
                value=row.value,
                origin=getattr(row, f"{part}_origin") or "",
                reason=getattr(row, f"{part}_reason") or "",
                created_at=row.created_at,
                of=row.trajectory_id,
                trajectory=row.trajectory_id if Role.ADMIN in held else None,
                adjudication=row.adjudication_id if manages else None,
                message_index=row.step.message_index if row.step and manages else None,
                hidden=hidden if manages else "",
            )
        )
    return shown


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_OF_QUESTION else f"{text[:SHOWN_OF_QUESTION].rstrip()} …"
