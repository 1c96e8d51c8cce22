"""The error graphs of a trajectory side by side: as each annotator says now, and as the consensus has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.core.error_graph import ErrorChain, Judged, errors
from annotation.core.resolution import resolve, sound_roots
from annotation.models import Step

from .side_by_side import SideBySide, SideBySideItem


@dataclass(frozen=True, slots=True)
class NumberedError:
    """One error by the numbers that people see (from 1): where it began (None: nobody says, or they differ),
    its reason code, and the steps that are its consequences."""

    root: int | None
    reason: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ErrorGraph:
    """The errors as one side has them: an annotator's letter, and the name where it may be seen; the letter
    is empty for the consensus, so far or as it is resolved."""

    letter: str
    name: str
    errors: tuple[NumberedError, ...]


def error_graphs(shown: SideBySide) -> list[ErrorGraph]:
    """The graphs of all annotators, and of the consensus. No query."""
    numbers = {item.step.message_index: item.step.ordinal + 1 for item in shown.steps if item.step}
    made = [
        ErrorGraph(side.letter, side.name, _numbered(_of_annotator(shown.steps, place), numbers))
        for place, side in enumerate(shown.sides)
    ]
    if shown.sides:
        made.append(ErrorGraph("", "", _numbered(_of_consensus(shown.steps), numbers)))
    return made


def consensus_errors(shown: SideBySide) -> tuple[NumberedError, ...]:
    """The errors of the consensus so far. No query."""
    return next((graph.errors for graph in error_graphs(shown) if not graph.letter), ())


def _of_annotator(items: Iterable[SideBySideItem], place: int) -> Iterable[tuple[Step, Judged]]:
    return [(item.step, item.labels[place].says.judged) for item in items if item.step is not None]


def _of_consensus(items: Iterable[SideBySideItem]) -> Iterable[tuple[Step, Judged]]:
    """The consensus; while a case is open, the provisional one of all that is agreed and decided so far."""
    steps = {item.step.pk: (item.step, item) for item in items if item.step is not None}
    resolutions = {
        pk: resolve(item.positions, item.decision.ruling() if item.decision is not None else None)
        for pk, (_step, item) in steps.items()
        if item.resolved is None
    }
    sound = sound_roots({pk: resolution for pk, resolution in resolutions.items() if resolution is not None})
    for pk, (step, item) in steps.items():
        if item.resolved is not None:
            yield step, item.resolved.judged
        elif (resolution := sound.get(pk)) is not None:
            root = steps[resolution.root][0].message_index if resolution.root is not None else None
            yield step, Judged(resolution.value, root, resolution.reason)


def _numbered(labels: Iterable[tuple[Step, Judged]], numbers: dict[int, int]) -> tuple[NumberedError, ...]:
    chains: tuple[ErrorChain, ...] = errors((step.message_index, judged) for step, judged in labels)
    return tuple(
        NumberedError(
            root=numbers[error.root] if error.root is not None else None,
            reason=error.reason,
            members=tuple(numbers[step] for step in error.members),
        )
        for error in chains
    )
