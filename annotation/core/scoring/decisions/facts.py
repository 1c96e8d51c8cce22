"""Facts of a release about its decisions besides labels, as arrays: the category of each, and what shows in
each option without reading it, by which a choice would be a shallow one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures.measure import IntArray
from annotation.core.i18n import Translatable, translatable
from annotation.core.scoring.questions.facts import QuestionFacts
from annotation.core.trajectories.messages import Message, normalise

MAKES_CALL: Final = "makes_call"
LONGER: Final = "longer"
POLICY_MODEL: Final = "policy_model:"
NO_CATEGORY: Final = -1

BoolArray = npt.NDArray[np.bool_]


def cue_title(name: str) -> str | Translatable:
    """The name of a shallow cue on pages."""
    if name.startswith(POLICY_MODEL):
        return translatable("Is of policy model {model}", model=name.removeprefix(POLICY_MODEL))
    return translatable("Makes a call") if name == MAKES_CALL else translatable("Is longer")


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """Of R decisions with S options together: `category` (R,), the place of each in `categories` or
    NO_CATEGORY, and `cues` by name, (S,): whether an option makes a call, its length, and of each policy
    model whether it did that. A shallow choice takes the option of which a cue is highest. `questions` says
    what is asked; None where that was not looked up."""

    categories: tuple[str, ...]
    category: IntArray
    cues: Mapping[str, IntArray]
    questions: QuestionFacts | None = None

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]]) -> DecisionFacts:
        """From what was kept of the records of a release (`record_facts`), in their order."""
        categories: dict[str, int] = {}
        category: list[int] = []
        shown: list[tuple[int, int, tuple[str, ...]]] = []
        asked: list[Mapping[str, Any]] = []
        for record in records:
            if record["question"] is not None:
                asked.append(record["question"])
            name = record["category"]
            category.append(categories.setdefault(name, len(categories)) if name else NO_CATEGORY)
            shown.extend(record["options"])
        cues = {
            MAKES_CALL: [int(calls > 0) for calls, _, _ in shown],
            LONGER: [characters for _, characters, _ in shown],
        }
        for model in sorted({model for _, _, models in shown for model in models}):
            cues[POLICY_MODEL + model] = [int(model in models) for _, _, models in shown]
        return cls(
            tuple(categories),
            np.array(category, dtype=np.int64),
            {name: np.array(values, dtype=np.int64) for name, values in cues.items()},
            QuestionFacts.of(asked) if asked else None,
        )

    def only(self, records: BoolArray, steps: BoolArray) -> DecisionFacts:
        """The facts of some records (R,), which have these steps (S,)."""
        cues = {name: values[steps] for name, values in self.cues.items()}
        questions = None if self.questions is None else self.questions.only(records, steps)
        return DecisionFacts(self.categories, self.category[records], cues, questions)

    def as_json(self) -> dict[str, Any]:
        """All of it, for `of_json`."""
        return {
            "categories": list(self.categories),
            "category": self.category.tolist(),
            "cues": {name: values.tolist() for name, values in self.cues.items()},
            "questions": None if self.questions is None else self.questions.as_json(),
        }

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> DecisionFacts:
        """The facts that `as_json` wrote."""
        cues = {name: np.array(values, dtype=np.int64) for name, values in kept["cues"].items()}
        asked = kept.get("questions")
        return cls(
            tuple(kept["categories"]),
            np.array(kept["category"], dtype=np.int64),
            cues,
            None if asked is None else QuestionFacts.of_json(asked),
        )


def record_facts(
    record: Mapping[str, Any], question_of: Callable[[Mapping[str, Any]], Any] | None
) -> dict[str, Any] | None:
    """The facts of a record of a release for `DecisionFacts.of`; None for one that is no decision."""
    details = record.get("decision")
    if details is None:
        return None
    origins = details.get("options") or {}
    messages = normalise(record["messages"])
    return {
        "category": details.get("category") or "",
        "question": None if question_of is None else question_of(record),
        "options": [
            _shown(messages[index], (origins.get(str(index)) or {}).get("steps", ()))
            for index in sorted(map(int, record["step_labels"]))
        ],
    }


def _shown(message: Message, steps: Iterable[Mapping[str, Any]]) -> tuple[int, int, tuple[str, ...]]:
    """The number of calls of an option, its characters, and the policy models that did it (none of one that
    people or judges wrote)."""
    # what is written as a call into the text was not made
    calls = sum(call.origin == "tool_calls" for call in message.tool_calls)
    written = sum(len(call.name) + len(call.arguments_raw) for call in message.tool_calls)
    models = tuple(sorted({step["policy_model"] for step in steps if step["policy_model"]}))
    return calls, len(message.content) + written, models
