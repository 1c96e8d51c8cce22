"""The kinds of projects: each says all that the others say, and what it lacks is refused in a sentence."""

from __future__ import annotations

import pytest

from annotation.core import kinds
from annotation.core.default_guideline import default_guideline
from annotation.core.errors import Conflict, Invalid
from annotation.core.kinds import DECISIONS, KINDS, STEPS, Feature, ProjectKind
from annotation.core.vocabulary import VALUES


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_kind_gives_every_label_a_meaning_and_has_guidelines_in_both_languages(kind: ProjectKind) -> None:
    for words in (kind.steps, kind.outcomes):
        assert set(words) == set(VALUES) and len(set(words.values())) == len(VALUES)
    english, chinese = default_guideline("en", kind), default_guideline("zh-hans", kind)
    for text in (english, chinese):
        assert [text.count(f"| **{sign}** |") for sign in ("+1", "0", "−1")] == [2, 2, 2]
    assert english.count("\n|") == chinese.count("\n|")
    assert all(words in english for words in kind.steps.values())


def test_decisions_lack_what_needs_steps_in_a_sequence() -> None:
    assert DECISIONS.features == set()
    assert STEPS.features == set(Feature)


@pytest.mark.parametrize("feature", Feature)
def test_kind_refuses_what_it_lacks_in_one_sentence(feature: Feature) -> None:
    STEPS.require(feature)
    with pytest.raises(Conflict) as refused:
        DECISIONS.require(feature)
    assert refused.value.code == "not_of_this_kind"
    assert "project of decisions" in refused.value.message


def test_file_of_another_kind_is_refused() -> None:
    kinds.refuse_other(DECISIONS, DECISIONS)
    with pytest.raises(Invalid, match="belong into a project of the kind “steps”"):
        kinds.refuse_other(DECISIONS, STEPS)
    with pytest.raises(Invalid, match="belong into a project of the kind “decisions”"):
        kinds.refuse_other(STEPS, DECISIONS)
    with pytest.raises(Invalid, match="steps, decisions"):
        kinds.by_name("questions")
