"""Starting points of a project: a title, what it is for, and the settings that differ from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .i18n import translatable
from .vocabulary import SuggestionPolicy


@dataclass(frozen=True, slots=True)
class ProjectTemplate:
    """A starting point; `settings` are names and values as `Project` has them."""

    title: str
    purpose: str
    settings: Mapping[str, Any] = field(default_factory=dict)


TEMPLATES: Final[Mapping[str, ProjectTemplate]] = {
    "benchmark": ProjectTemplate(
        translatable("Benchmark"),
        translatable("two blind annotators, disputes adjudicated, a share checked again"),
    ),
    "gold": ProjectTemplate(
        translatable("Gold standard"),
        translatable("three blind annotators without the reference answer, more checked again"),
        {
            "annotators_per_trajectory": 3,
            "retest_percent": 10,
            "suggestion_policy": SuggestionPolicy.NEVER.value,
            "show_reference_answer": False,
        },
    ),
    "triage": ProjectTemplate(
        translatable("Quick look"),
        translatable("one annotator, nothing labelled twice: no agreement can be computed"),
        {
            "annotators_per_trajectory": 1,
            "claim_limit": 5,
            "retest_percent": 0,
        },
    ),
    "assisted": ProjectTemplate(
        translatable("Assisted labelling"),
        translatable("judges’ suggestions are always shown: faster, and no label is blind"),
        {
            "suggestion_policy": SuggestionPolicy.ALWAYS.value,
            "retest_percent": 0,
        },
    ),
}
DEFAULT_TEMPLATE: Final = "benchmark"
