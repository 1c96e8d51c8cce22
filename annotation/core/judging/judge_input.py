"""The input of a judge: task, tools and messages of one trajectory, and nothing else."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.core.trajectories.trajectory import step_indexes


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """One trajectory as a judge sees it. `messages` and `tools` are raw, as in the record.

    Labels, rewards, the policy model's name and every other hint of the record are not part of it.
    `reference_answer` is `None` unless the judge is to see it; `guidelines` are the project's own rules
    ("" for none).
    """

    question: str
    messages: Sequence[Any]
    tools: Sequence[Any] = ()
    task_description: Any = None
    reference_answer: Any = None
    guidelines: str = ""
    steps: tuple[int, ...] = field(init=False)
    """The message indexes of the steps, in order."""

    def __post_init__(self) -> None:
        steps = step_indexes(message if isinstance(message, Mapping) else {} for message in self.messages)
        object.__setattr__(self, "steps", tuple(steps))

    def open_steps(self, labelled: Container[int]) -> tuple[int, ...]:
        """The steps to ask about when `labelled` have labels: the others, or the last one where all have,
        since only the outcome is missing then."""
        return tuple(index for index in self.steps if index not in labelled) or self.steps[-1:]

    @classmethod
    def of(
        cls, content: Mapping[str, Any], *, guidelines: str = "", with_reference: bool = False
    ) -> JudgeInput:
        """From a trajectory's stored content (`TrajectoryDraft.content`)."""
        return cls(
            question=content.get("question") or "",
            messages=content["messages"],
            tools=content.get("tools") or (),
            task_description=content.get("task_description"),
            reference_answer=content.get("reference_answer") if with_reference else None,
            guidelines=guidelines,
        )
