"""The guidelines that a new project starts with: for each kind one statement of the labels, in each language.

tests/label_scheme_cases.py holds what they must say, and what the reasons of core.vocabulary must say alike.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from annotation.core.kinds import STEPS, ProjectKind

TOPICS: Final = ("labels", "cases", "examples", "judging", "propagation", "outcome", "notes")
"""The subjects of the sections of the default guidelines of steps, in their order, in every language; those
of other kinds have some of them, under the same headings."""
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
def _text(kind: ProjectKind, language: str) -> str:
    return (FOLDER / kind.name / f"{language}.md").read_text(encoding="utf-8")
