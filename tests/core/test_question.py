"""The part of a question that is its own."""

from __future__ import annotations

import pytest

from annotation.core.question import own_part

TELLS = "Answer the question. You may search as often as you need, and think before you do. Question: "


@pytest.mark.parametrize(
    ("question", "others", "own"),
    [
        (f"{TELLS}Who built it?", [f"{TELLS}Where is it?", f"{TELLS}What is it?"], "Who built it?"),
        # back to where the instructions end, though both go on alike
        (f"{TELLS}Which river?", [f"{TELLS}Which town?"], "Which river?"),
        (f"{TELLS}Who?", [f"{TELLS}Where?", f"{TELLS}When?", "Something else."], "Who?"),
        (f"{TELLS}Who?", [f"{TELLS}Where?", "Something else.", "And more."], f"{TELLS}Who?"),
        ("What is the capital of Peru?", ["What is the capital of Chile?"], "What is the capital of Peru?"),
        (f"{TELLS}Who?", [f"{TELLS}Who?"], "Who?"),
        (
            "The same words throughout, and no sentence that ends",
            ["The same words throughout, and no sentence"],
            "The same words throughout, and no sentence that ends",
        ),
        (f"{TELLS}Who?", [], f"{TELLS}Who?"),
        ("", [TELLS], ""),
    ],
)
def test_question_of_its_own_begins_where_others_differ(question: str, others: list[str], own: str) -> None:
    assert own_part(question, others) == own
