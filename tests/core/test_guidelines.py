"""The default guidelines say, in both languages, what the label scheme and its reasons say."""

from __future__ import annotations

import re

import pytest

from annotation.core.guidelines import REASONS, cases, default_guideline, headings
from annotation.core.kinds import DECISIONS, STEPS, ProjectKind
from annotation.core.vocabulary import REASON_CODES, REASON_CODES_BY_CODE
from tests.label_scheme_cases import CASES, RULES, Case

WRITTEN = {"+1": 1, "0": 0, "−1": -1}
ROW = re.compile(r"^\| ([^|]+) \| (\+1|0|−1) \|$", re.M)
TEXTS = {"english": default_guideline("en"), "chinese": default_guideline("zh-hans")}


def rows(language: str) -> list[tuple[str, int]]:
    """The table of frequent cases: (what it says, the label)."""
    return [(words, WRITTEN[label]) for words, label in ROW.findall(TEXTS[language])]


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_guideline_decides_the_case_in_one_row(case: Case, language: str) -> None:
    found = [label for words, label in rows(language) if getattr(case, language) in words]
    assert found == [case.label]


@pytest.mark.parametrize("case", [case for case in CASES if case.reason], ids=lambda case: case.name)
def test_reason_of_the_case_is_one_for_its_label(case: Case) -> None:
    assert REASON_CODES_BY_CODE[case.reason].value == case.label


@pytest.mark.parametrize("case", [case for case in CASES if case.reason], ids=lambda case: case.name)
def test_reason_of_the_case_leads_to_its_row_in_both_languages(case: Case) -> None:
    found = cases(STEPS, case.reason)
    assert any(case.english in row for row in found) and any(case.chinese in row for row in found)


@pytest.mark.parametrize("kind", [STEPS, DECISIONS], ids=lambda kind: kind.name)
def test_reasons_lead_to_rows_of_their_own_label(kind: ProjectKind) -> None:
    for reason in REASON_CODES:
        for row in cases(kind, reason.code):
            written = [f"| {row} | {sign} |" for sign, value in WRITTEN.items() if value == reason.value]
            assert any(written[0] in default_guideline(language, kind) for language in ("en", "zh-hans"))
    assert {code for codes in REASONS[STEPS.name] for code in codes.split()} == set(REASON_CODES_BY_CODE)


@pytest.mark.parametrize("name", RULES)
def test_guideline_states_the_rule(name: str) -> None:
    english, chinese = RULES[name]
    assert english in flat(TEXTS["english"])
    assert chinese in TEXTS["chinese"]


def test_guideline_has_the_same_rows_and_sections_in_both_languages() -> None:
    assert [label for _words, label in rows("english")] == [label for _words, label in rows("chinese")]
    english, chinese = (re.findall(r"^#+", TEXTS[language], re.M) for language in TEXTS)
    assert english == chinese


@pytest.mark.parametrize("language", TEXTS)
def test_guideline_has_an_example_of_each_label_for_each_kind_of_task(language: str) -> None:
    table = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", TEXTS[language], re.M)
    header, *examples = table
    assert header[1:] == tuple(WRITTEN), "a column for each label"
    assert len(examples) == len({task for task, *_ in examples}) == 4
    written = [text for _task, *texts in examples for text in texts]
    assert len(set(written)) == 12 and min(map(len, written)) >= 10


def test_guideline_uses_the_short_texts_of_the_labels() -> None:
    short = ("correct and effective", "neutral or exploratory", "incorrect or harmful")
    meanings = re.findall(r"^\| \*\*(.+)\*\* \| ([a-z ]+): ", TEXTS["english"], re.M)
    assert meanings == list(zip(WRITTEN, short, strict=True))


def test_headings_name_the_topic_of_a_section_in_both_languages() -> None:
    assert headings()["propagation"] == ["Errors propagate", "错误会传播"]
    assert headings()["outcome"] == ["The outcome", "结果"]
    assert headings()["cases"] == ["Frequent cases", "常见情况"]


def test_guideline_of_a_language_without_one_is_english() -> None:
    assert default_guideline("fr") == default_guideline("") == TEXTS["english"]
    assert default_guideline("zh-CN") == TEXTS["chinese"]
