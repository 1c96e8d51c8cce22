"""A first error as its corrector reads it: the history, the wrong action, why it was wrong, and what other
runs did rightly at the same history."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, Final

from annotation.core.decisions.equality import history_digest, message_digest
from annotation.core.decisions.record import shown_message
from annotation.core.text import unescape
from annotation.core.trajectories.trajectory import Message, normalise
from annotation.core.vocabulary import RESOLVED
from annotation.models import Consensus, Correction, Step, Trajectory
from annotation.policies import FieldAccess, Viewer, field_access
from annotation.policies.corrections import is_first_error

from ..shared.transcripts import Transcript, transcript

MOST_RUNS: Final = 100
"""So many other runs of the task are looked through."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """A right action that other runs took at the same history: `step` is that of the first of them, and
    `runs` is how many they are."""

    step: Step
    message: dict[str, Any]
    runs: int


@dataclass(frozen=True, slots=True)
class CorrectionCase:
    """A correction and what its author may know.

    `shown` ends with the results of the wrong action; `wrong` is that action. `resolved` is the consensus of
    the step, None once it is no first error any more: then nothing is shown of why it was wrong, nor of
    siblings. `seen` are the trajectories (by pk) of which this tells the consensus.
    """

    correction: Correction
    access: FieldAccess
    shown: Transcript
    steps: list[Step]
    wrong: Message
    resolved: Consensus | None
    siblings: list[Sibling] = field(default_factory=list)
    seen: frozenset[int] = frozenset()

    @property
    def note(self) -> str:
        """The reason that was given with the consensus, as it was written."""
        return unescape(self.resolved.note) if self.resolved is not None else ""


def correction_case(*, actor: Viewer, correction: Correction) -> CorrectionCase:
    """A correction for its author, or for an admin. For services/noted_reads.py, which notes what is shown.

    `correction` comes with its step, and its trajectory's project, subset, task and content. At most eleven
    queries. Raises NotFound without access to the trajectory.
    """
    trajectory, index = correction.trajectory, correction.step.message_index
    access = field_access(actor, trajectory)
    read = transcript(trajectory=trajectory, access=access)
    steps = list(Step.objects.filter(trajectory=trajectory).order_by("message_index"))
    end = next((step.message_index for step in steps if step.message_index > index), len(read.messages))
    case = CorrectionCase(
        correction=correction,
        access=access,
        shown=replace(
            read,
            messages=read.messages[:end],
            results={at: call for at, call in read.results.items() if at < end},
            answer_text=None,
        ),
        steps=[step for step in steps if step.message_index <= index],
        wrong=read.messages[index],
        resolved=None,
    )
    if not is_first_error(correction):
        return case
    others = siblings(trajectory=trajectory, index=index)
    return replace(
        case,
        resolved=Consensus.objects.get(step=correction.step_id),
        siblings=others,
        seen=frozenset({trajectory.pk, *(one.step.trajectory_id for one in others)}),
    )


def siblings(*, trajectory: Trajectory, index: int) -> list[Sibling]:
    """Actions of other resolved runs of the task at the history before a message that are +1 wherever they
    were done; the first run's action first. Two queries; `trajectory` comes with its content."""
    content = trajectory.content.parsed()
    history = _history(content, index)
    wrong = message_digest(normalise([content["messages"][index]])[0])
    runs = Trajectory.objects.filter(task=trajectory.task_id, live=True, state__in=RESOLVED)
    others = {
        run.pk: message
        for run in runs.exclude(pk=trajectory.pk).select_related("content").order_by("pk")[:MOST_RUNS]
        if (message := _at(run.content.parsed(), index, history)) is not None
    }
    labels = Consensus.objects.filter(trajectory__in=others, step__message_index=index).select_related("step")
    done: dict[bytes, list[Consensus]] = defaultdict(list)
    for row in labels.order_by("trajectory_id"):
        done[message_digest(normalise([others[row.trajectory_id]])[0])].append(row)
    return [
        Sibling(rows[0].step, shown_message(others[rows[0].trajectory_id]), len(rows))
        for digest, rows in done.items()
        if digest != wrong and all(row.value == 1 for row in rows)
    ]


def _history(content: dict[str, Any], index: int) -> bytes:
    return history_digest(
        content.get("question") or "", content.get("tools") or [], content["messages"][:index]
    )


def _at(content: dict[str, Any], index: int, history: bytes) -> dict[str, Any] | None:
    """The message at an index, where what stands before it is this history; else None."""
    messages = content["messages"]
    if index >= len(messages) or _history(content, index) != history:
        return None
    message: dict[str, Any] = messages[index]
    return message
