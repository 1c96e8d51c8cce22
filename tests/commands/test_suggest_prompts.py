"""suggest --prompts"""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import PredictionSet, Release
from tests.commands.calling import fails, run
from tests.fixtures.judges import make_judge
from tests.judge_server import JudgeServer
from tests.people import Cast

pytestmark = pytest.mark.django_db


def test_judge_is_asked_prompts_and_scored(
    asked_cast: Cast, asked_release: Release, settings: Any, tmp_path: Any
) -> None:
    run("export_release", "asked", "1.0", "--prompts", "few", "--output", tmp_path, "--split", "0.5")
    asked = ("suggest", "asked", "--judge", "Sage", "--release", "1.0", "--prompts")
    with JudgeServer() as server:
        settings.JUDGE_URLS = [server.url]
        make_judge(asked_cast, model="ok", base_url=server.url)
        assert "has no prompts" in fails(*asked, "other").out
        assert "--release alone" in fails(*asked, "few", "--limit", "1").out
        assert run(*asked, "few", "--estimate").err.startswith("6 prompts, ")
        assert server.total == 0
        said = run(*asked, "few")
    assert "Scored as Sage (few)." in said.err
    assert PredictionSet.objects.get().record_count == server.total == 6
