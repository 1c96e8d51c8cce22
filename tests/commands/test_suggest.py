"""`suggest` and `import_suggestions`, as the operator calls them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.vocabulary import SuggestionRunState
from annotation.models import AuditEvent, Suggestion, SuggestionRun
from annotation.policies import OPERATOR
from annotation.providers import FailureKind
from annotation.services import suggest
from tests import people
from tests.fixtures.judges import Scripted, failure, install, make_judge, question_of, reply
from tests.judge_server import JudgeServer
from tests.people import Cast

from .calling import fails, run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("judge_urls")]


@pytest.fixture
def server(settings: Any) -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        settings.JUDGE_URLS = [running.url]
        yield running


def test_suggest_asks_a_real_server_and_says_what_came_of_it(cast: Cast, server: JudgeServer) -> None:
    people.import_records(cast.project, 5)
    make_judge(cast, model="ok", base_url=server.url)

    said = run("suggest", "bench", "--judge", "Sage", "--limit", "3")

    assert said.out == ""
    assert "Sage: 3 of 3 trajectories suggested, 0 failed" in said.err
    assert run("suggest", "bench", "--judge", "Sage").err.count("2 of 2 trajectories") == 1
    assert Suggestion.objects.count() == server.total == 5
    assert AuditEvent.objects.filter(verb="suggestions.start", actor=None).count() == 2
    assert "Nothing to do" in fails("suggest", "bench", "--judge", "Sage").out


def test_estimate_asks_nobody(cast: Cast, server: JudgeServer) -> None:
    people.import_records(cast.project, 5)
    make_judge(cast, model="ok", base_url=server.url)

    said = run("suggest", "bench", "--judge", "Sage", "--estimate")

    assert "5 trajectories, about" in said.err and "0 clipped" in said.err
    assert server.total == 0 and not SuggestionRun.objects.exists()


def test_failures_are_named_and_a_run_that_stopped_is_an_error(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 3)
    make_judge(cast)
    install(
        monkeypatch,
        Scripted(lambda r: reply(r) if question_of(r) else failure(FailureKind.NO_LABELS)),
    )
    said = run("suggest", "bench", "--judge", "Sage")
    assert "no_labels: 1, for example: Broken." in said.err
    assert "2 of 3 trajectories suggested, 1 failed" in said.err

    install(monkeypatch, Scripted(lambda r: failure(FailureKind.WRONG_MODEL, scope="run")))
    assert fails("suggest", "bench", "--judge", "Sage").out.endswith("Broken.")


def test_budget_ends_it(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 5)
    make_judge(cast)
    install(monkeypatch, Scripted())
    said = fails("suggest", "bench", "--judge", "Sage", "--budget", "0.03")
    assert "over_budget; 3 of 5" in said.out
    assert "--budget x" in fails("suggest", "bench", "--judge", "Sage", "--budget", "x").out


def test_suggest_goes_on_with_what_was_broken_off(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 3)
    judge = make_judge(cast)
    install(monkeypatch, Scripted())
    begun = suggest.start_run(actor=OPERATOR, judge=judge, enqueue=False)
    SuggestionRun.objects.update(
        state=SuggestionRunState.RUNNING, attempt=1, lease_until=timezone.now() + timedelta(seconds=9)
    )
    assert "at work already" in fails("suggest", "bench", "--judge", "Sage").out
    SuggestionRun.objects.update(lease_until=timezone.now() - timedelta(seconds=9))

    said = run("suggest", "bench", "--judge", "Sage")

    assert f"going on with run {begun.pk}" in said.err and "3 of 3" in said.err
    assert SuggestionRun.objects.get().attempt == 2


def test_suggest_enqueue_leaves_the_work_to_a_worker(cast: Cast) -> None:
    people.import_records(cast.project, 3)
    make_judge(cast)
    assert "is queued" in run("suggest", "bench", "--judge", "Sage", "--enqueue").err
    assert SuggestionRun.objects.get().state == SuggestionRunState.QUEUED


def test_suggest_refuses_names_that_do_not_exist_in_one_sentence(cast: Cast) -> None:
    assert "no project" in fails("suggest", "nope", "--judge", "Sage").out
    assert "no judge" in fails("suggest", "bench", "--judge", "Sage").out
    assert "no file" in fails("import_suggestions", "bench", "nope.jsonl", "--judge", "Sage").out


def test_import_suggestions_says_what_it_stored_and_what_was_missing(cast: Cast, tmp_path: Path) -> None:
    people.import_records(cast.project, 2)
    path = tmp_path / "sage.jsonl"
    lines: list[dict[str, Any]] = [
        {"record_id": "tiny:0:0", "step_labels": {"2": 1, "4": None}, "final_label": 1},
        {
            "record_id": "tiny:1:0",
            "step_labels": {"2": None},
            "final_label": 0,
            "comment": "llm_annotate_failed",
        },
    ]
    path.write_text("\n".join(map(json.dumps, lines)))

    said = run("import_suggestions", "bench", path, "--judge", "Sage", "--subset", "tiny")

    assert said.err.strip() == (
        "sage.jsonl: 2 trajectories suggested by Sage (1 step), 0 unchanged, "
        "3 missing labels, 1 failed judgement."
    )
    assert (
        "0 trajectories suggested by Sage (0 steps), 2 unchanged"
        in run("import_suggestions", "bench", path, "--judge", "Sage").err
    )
    path.write_text(json.dumps({**lines[0], "record_id": "x"}))
    refused = fails("import_suggestions", "bench", path, "--judge", "Sage")
    assert "nothing was imported" in refused.out and '"x" is not in this project' in refused.err
