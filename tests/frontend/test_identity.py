"""Names of records, and their origins."""

import pytest

from frontend.rendering.beside import Facts, hints_and_source
from frontend.rendering.identity import title_of


def test_where_a_record_was_converted_from_stands_apart_from_its_hints() -> None:
    converted = {"reward": 1, "source": {"format": "atif", "left_out": []}, "source_steps": {"1": "a"}}
    shown = hints_and_source(converted)
    assert [name for name, _ in shown["hints"].named] == ["reward"]
    assert [name for name, _ in shown["source"].named] == ["format", "source_steps"]
    own = hints_and_source({"source": {"kind": "web"}})
    assert ([name for name, _ in own["hints"].named], own["source"]) == (["source"], Facts())
    assert hints_and_source(None) == {"hints": Facts(), "source": Facts()}


@pytest.mark.parametrize(
    ("record_id", "question", "title"),
    [
        ("task:7", "Who?", "task:7"),
        ("0123456789ab" + "c" * 52, " Who\nis it? ", "Who is it?"),
        ("0123456789ab" + "c" * 52, "\x00" + "q" * 200, "␀" + "q" * 79 + "…"),
        ("sha256:0123456789ab" + "c" * 52, "", "0123456789ab…"),
        ("0123456789AB" + "c" * 52, "Who?", "0123456789AB" + "c" * 52),
    ],
)
def test_record_that_is_known_by_a_checksum_is_called_by_its_question(
    record_id: str, question: str, title: str
) -> None:
    assert title_of(record_id, question) == title
