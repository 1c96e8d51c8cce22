"""A judge on a real server is asked the prompts of a release, and scored by what it writes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.core.asking.settings import PromptSettings
from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import (
    AuditEvent,
    JudgeAnswer,
    PredictionSet,
    PromptSet,
    Release,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)
from annotation.services import asking, evaluate, suggest
from tests.callers import token_of
from tests.fixtures.judges import do, make_imported_judge, make_judge, start
from tests.fixtures.questions import KEY
from tests.judge_server import Call, JudgeServer
from tests.people import Cast

pytestmark = pytest.mark.django_db
State = SuggestionRunState


@pytest.fixture
def server(settings: Any) -> Iterator[JudgeServer]:
    """A judge's server that the operator allows."""
    with JudgeServer() as server:
        settings.JUDGE_URLS = [server.url]
        yield server


def prompts(cast: Cast, frozen: Release, name: str = "few") -> PromptSet:
    options = PromptSettings.of(shots=1, split=0.5, seed=3)
    row = asking.make_prompts(actor=cast.admin, release=frozen, name=name, options=options, enqueue=False)
    return asking.run_prompts(set_id=row.pk)


def knows(call: Call) -> str:
    """The right answer of each prompt, as a model would go on."""
    text = call.body["messages"][-1]["content"]
    if text.endswith("["):
        return f"{KEY}]"
    options = text.rpartition("Options:")[2]
    letter = options.partition(f") {KEY}")[0][-1]
    return f"{letter}) because"


@pytest.mark.postgres
def test_judge_is_asked_what_is_for_testing_and_scored_by_what_it_writes(
    server: JudgeServer, asked_cast: Cast, asked_release: Release
) -> None:
    server.tell("http_500+ok", knows)
    row = prompts(asked_cast, asked_release)
    judge = make_judge(asked_cast, model="http_500+ok", base_url=server.url)
    run = start(judge, actor=asked_cast.admin, prompts=row)
    assert (run.progress_total, run.selection) == (6, {"prompts": "few"})

    run = do(run)

    assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 6, 0)
    assert run.cost > 0
    assert not Suggestion.stored.exists()
    tested = {
        line["prompt"]
        for line in map(json.loads, asking.prompt_lines(actor=asked_cast.admin, row=row))
        if line["split"] == "test"
    }
    assert {call.body["messages"][0]["content"] for call in server.seen} == tested
    client = Client()
    client.force_login(asked_cast.admin)
    page = client.get(f"/p/asked/runs/{run.pk}/").content.decode()
    assert '/p/asked/releases/1.0/prompts/few/">few</a>' in page and "Answered" in page
    assert all(len(call.body["messages"]) == 1 for call in server.seen)
    assert all("response_format" not in call.body for call in server.seen)

    scored = evaluate.score_run(run_id=run.pk)
    assert scored is not None and scored.created == 6
    made = PredictionSet.objects.get()
    assert (made.model, made.record_count, made.prompt_version) == ("Sage (few)", 6, "few")
    assert made.cost is not None and made.cost > 0 and made.created_by == asked_cast.admin
    assert evaluate.sweep_runs() == 0
    again = evaluate.score_run(run_id=run.pk)
    assert again is not None and (again.created, again.unchanged) == (0, 6)
    event = AuditEvent.objects.get(verb="suggestions.start")
    assert (event.detail["prompts"], event.detail["trajectories"]) == ("few", 6)


def test_run_over_prompts_is_started_by_the_api(
    asked_cast: Cast, asked_release: Release, judge_urls: None
) -> None:
    prompts(asked_cast, asked_release)
    judge = make_judge(asked_cast)
    client = Client(headers={"authorization": f"Bearer {token_of(asked_cast.admin)}"})

    def post(**said: Any) -> Any:
        return client.post("/api/v1/projects/asked/runs/", {"judge": judge.pk, **said}, "application/json")

    assert list(post(prompts="few").json()["error"]["fields"]) == ["release"]
    refused = post(prompts="few", release="1.0", limit=1)
    assert refused.json()["error"]["fields"] == {"limit": "Prompts are asked as they were made."}
    assert post(prompts="other", release="1.0").status_code == 404
    assert not SuggestionRun.objects.exists()

    begun = post(prompts="few", release="1.0")
    assert (begun.status_code, begun.json()["prompts"], begun.json()["release"]) == (201, "few", "1.0")
    watched = client.get(begun.headers["Location"]).json()
    assert (watched["prompts"], watched["progress"]["total"]) == ("few", 6)


def test_run_that_is_broken_off_goes_on_without_asking_twice(
    server: JudgeServer, asked_cast: Cast, asked_release: Release
) -> None:
    row = prompts(asked_cast, asked_release)
    judge = make_judge(asked_cast, model="ok", base_url=server.url, concurrency=1)
    run = start(judge, prompts=row)
    stopping = threading.Event()
    server.delay = 0.15  # longer than until what came in is stored

    def stop_after_some(now: suggest.RunTotals) -> None:
        stopping.set()

    run = do(run, progress=stop_after_some, stopping=stopping, interrupted=State.PAUSED)
    assert run.state == State.PAUSED
    before = JudgeAnswer.objects.count()
    assert before > 0
    suggest.resume_run(actor=asked_cast.admin, run=run, enqueue=False)
    run = do(run)
    assert (run.state, run.progress_done, server.total) == (State.FINISHED, 6, 6)


def test_empty_answer_is_an_empty_output_and_a_failure_none(
    server: JudgeServer, asked_cast: Cast, asked_release: Release
) -> None:
    row = prompts(asked_cast, asked_release)
    server.tell("ok", lambda call: "" if call.body["messages"][0]["content"].endswith("[") else "I think A)")
    run = do(start(make_judge(asked_cast, model="ok", base_url=server.url), prompts=row))
    assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 4, 2)
    scored = evaluate.score_run(run_id=run.pk)
    assert scored is not None and scored.created == 6


def test_finished_run_that_nobody_scored_is_swept(
    server: JudgeServer, asked_cast: Cast, asked_release: Release
) -> None:
    row = prompts(asked_cast, asked_release)
    run = do(start(make_judge(asked_cast, model="ok", base_url=server.url), prompts=row))
    assert evaluate.sweep_runs(now=timezone.now()) == 1
    assert PredictionSet.objects.get().created_by is run.created_by


def test_only_a_judge_on_a_server_of_the_project_can_be_asked_what_is_made(
    asked_cast: Cast, asked_release: Release, judge_urls: None
) -> None:
    row = prompts(asked_cast, asked_release)
    judge = make_judge(asked_cast)
    with pytest.raises(Denied):
        suggest.start_run(actor=asked_cast.judith, judge=judge, prompts=row)
    with pytest.raises(Invalid):
        start(make_imported_judge(asked_cast.project), prompts=row)
    PromptSet.objects.filter(pk=row.pk).update(state="running")
    row.refresh_from_db()
    with pytest.raises(Conflict) as refused:
        start(judge, prompts=row)
    assert refused.value.code == "not_made"
    assert not SuggestionRun.objects.exists()
    assert not SuggestionItem.objects.exists()
