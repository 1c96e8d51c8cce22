"""The guidelines that a new project starts with: for each kind one statement of the labels, in each language.

tests/label_scheme_cases.py holds what they must say, and what the reasons of core.vocabulary must say alike.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from annotation.core.kinds import DECISIONS, STEPS, ProjectKind

TOPICS: Final = ("labels", "cases", "examples", "judging", "propagation", "outcome", "notes")
"""The subjects of the sections of the default guidelines of steps, in their order, in every language; those
of other kinds have some of them, under the same headings."""
REASONS: Final = {
    STEPS.name: (
        *("as_asked", "as_asked", "correct_progress", "sound_exploration", "cross_check", "recovery"),
        *("needed_clarification", "honest_limit", "as_asked", "correct_answer"),
        *("exploratory", "failed_correction", "external_failure", "no_effect", "redundant", ""),
        *("repeated_ineffective", "repeated_ineffective", "superficial_correction", "factual_error"),
        *("misread_tool_output", "wrong_tool wrong_arguments", "fabrication", "policy_violation"),
        *("misread_task", "premature_stop", "unsafe_change", "builds_on_error"),
    ),
    DECISIONS.name: (
        *("correct_progress", "as_asked", "needed_clarification", "honest_limit", "correct_answer"),
        *("recovery", "correct_progress", "redundant", "", ""),
        *("wrong_tool wrong_arguments", "wrong_tool", "wrong_tool", "repeated_ineffective"),
        *("misread_tool_output", "fabrication", "policy_violation", "unsafe_change"),
    ),
}
"""For each row of a kind's table of cases, the codes of the reasons (core.vocabulary) that say the same."""
CASE: Final = re.compile(r"^\| ([^|]+) \| (?:\+1|0|−1) \|$", re.MULTILINE)
FOLDER: Final = Path(__file__).parent
ENGLISH: Final = "en"
CHINESE: Final = "zh_Hans"


def default_guideline(language: str, kind: ProjectKind = STEPS) -> str:
    """The text for a kind of project in a language, named as browsers and Django do ("zh-hans", "zh-CN");
    English where there is none."""
    return _text(kind, CHINESE if language.lower().startswith("zh") else ENGLISH)


@cache
def headings() -> dict[str, list[str]]:
    """Topic → what its section is called in each language. A project that rewrites its guidelines and keeps
    such a heading keeps the topic."""
    sections = [re.findall(r"^## (.+)$", _text(STEPS, name), re.MULTILINE) for name in (ENGLISH, CHINESE)]
    return {topic: list(names) for topic, *names in zip(TOPICS, *sections, strict=True)}


@cache
def cases(kind: ProjectKind, reason: str) -> tuple[str, ...]:
    """The cases that a reason is about, by the rows of the table of cases, in each language; none where no
    row is about it. A project that rewrites its guidelines and keeps such a row keeps the case."""
    return tuple(
        words
        for language in (ENGLISH, CHINESE)
        for words, reasons in zip(CASE.findall(_text(kind, language)), REASONS[kind.name], strict=True)
        if reason in reasons.split()
    )


@cache
def _text(kind: ProjectKind, language: str) -> str:
    return (FOLDER / kind.name / f"{language}.md").read_text(encoding="utf-8")
