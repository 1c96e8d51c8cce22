"""The kinds of projects: each says all that the others say, and what it lacks is refused in a sentence."""

from __future__ import annotations

import pytest

from annotation.core import kinds
from annotation.core.errors import Conflict, Invalid
from annotation.core.guidelines import default_guideline
from annotation.core.kinds import DECISIONS, KINDS, STEPS, Feature, ProjectKind
from annotation.core.vocabulary import VALUES

OF_ALTERNATIVES = {Feature.PAIRS, Feature.JUDGES_FIRST}


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_kind_gives_every_label_a_meaning_and_has_guidelines_in_both_languages(kind: ProjectKind) -> None:
    for words in (kind.steps, kind.outcomes):
        assert set(words) == set(VALUES) and len(set(words.values())) == len(VALUES)
    english, chinese = default_guideline("en", kind), default_guideline("zh-hans", kind)
    for text in (english, chinese):
        assert [text.count(f"| **{sign}** |") for sign in ("+1", "0", "−1")] == [2, 2, 2]
    assert english.count("\n|") == chinese.count("\n|")
    assert all(words in english for words in kind.steps.values())


def test_feature_of_alternatives_and_features_of_a_sequence_belong_to_one_kind_each() -> None:
    assert DECISIONS.features == OF_ALTERNATIVES
    assert STEPS.features == set(Feature) - OF_ALTERNATIVES


@pytest.mark.parametrize("feature", Feature)
def test_kind_refuses_what_it_lacks_in_one_sentence(feature: Feature) -> None:
    has, lacks = (DECISIONS, STEPS) if feature in OF_ALTERNATIVES else (STEPS, DECISIONS)
    has.require(feature)
    with pytest.raises(Conflict) as refused:
        lacks.require(feature)
    assert refused.value.code == "not_of_this_kind"
    assert f"project of {lacks.name}" in refused.value.message


def test_file_of_another_kind_is_refused() -> None:
    kinds.refuse_other(DECISIONS, DECISIONS)
    with pytest.raises(Invalid, match="belong into a project of the kind “steps”"):
        kinds.refuse_other(DECISIONS, STEPS)
    with pytest.raises(Invalid, match="belong into a project of the kind “decisions”"):
        kinds.refuse_other(STEPS, DECISIONS)
    with pytest.raises(Invalid, match="steps, decisions"):
        kinds.by_name("questions")
