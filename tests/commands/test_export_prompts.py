"""export_release --prompts"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from annotation.models import PromptSet, Release
from tests.commands.calling import fails, run

pytestmark = pytest.mark.django_db


def test_prompts_are_made_once_and_written_with_the_same_bytes(
    asked_release: Release, tmp_path: Path
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("看下面。{{examples}}\n{{history}}\n{{options}}\n答案：", encoding="utf-8")
    for name in ("one", "two"):
        said = run(
            *("export_release", "asked", "1.0", "--prompts", "few", "--output", tmp_path / name),
            *("--shots", "1", "--split", "0.5", "--seed", "7", "--template", f"tiny={own}"),
        )
        assert "12 prompts written to" in said.err
    one, two = ((tmp_path / name / "prompts.jsonl").read_bytes() for name in ("one", "two"))
    assert one == two
    assert f"SHA-256 {hashlib.sha256(one).hexdigest()}." in said.err
    lines = [json.loads(line) for line in one.splitlines()]
    assert {line["prompt"].startswith("看下面。") for line in lines if line["subset"] == "tiny"} == {True}
    assert {line["prompt"][-4:] for line in lines if line["subset"] == "tiny"} == {"答案：("}
    assert PromptSet.objects.count() == 1
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["prompts.jsonl"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--shots", "6"], "from 0 to 5"),
        (["--split", "2"], "between 0 and 1"),
        (["--seed", "x"], "whole number"),
        (["--template", "tiny"], "SUBSET=FILE"),
        (["--template", "tiny=nowhere.txt"], "There is no file"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    asked_release: Release, tmp_path: Path, more: list[str], why: str
) -> None:
    said = fails("export_release", "asked", "1.0", "--prompts", "p", "--output", tmp_path / "p", *more)
    assert why in said.out
    assert not PromptSet.objects.exists()
