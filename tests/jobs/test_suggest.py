"""Runs of judges with a real worker, broker and chat-completions server, and all of them at their worst.

What does not depend on the worker's process, and what the next one does after a kill, is done in this
process: the start of a worker costs more than all that is asked of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from annotation.core.errors import Invalid
from annotation.core.vocabulary import SuggestionItemState, SuggestionRunState
from annotation.models import (
    Judge,
    JudgeAnswer,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import suggest
from annotation.services.suggest import background
from config.broker import Broker
from tests import people
from tests.fixtures.decisions import make_decisions_cast
from tests.fixtures.distractors import make_questions_cast
from tests.judge_server import JudgeServer
from tests.people import Cast
from tests.servers import Worker, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
State = SuggestionRunState
PATIENCE = 180.0
KEY = "TRISTEP_JUDGE_KEY_TEST"


@pytest.fixture
def judges() -> Iterator[JudgeServer]:
    with JudgeServer(delay=0.05, retry_after="0.1") as server:
        yield server


@pytest.fixture
def environment(
    judges: JudgeServer,
    process_environment: dict[str, str],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, str]:
    """Workers and this process may ask the server, with a key; workers reap every second."""
    settings.JUDGE_URLS = [judges.url]
    monkeypatch.setenv(KEY, "sk-of-the-tests")
    process_environment |= {
        "TRISTEP_JUDGE_URLS": judges.url,
        "TRISTEP_REAP_SECONDS": "1",
        KEY: "sk-of-the-tests",
    }
    return process_environment


@pytest.fixture
def begin(environment: dict[str, str]) -> Iterator[Callable[[SuggestionRun], None]]:
    """Does a run in this process, beside the test, as the job in a worker does."""
    background.ready()

    def beside(run: SuggestionRun) -> None:
        # one that waits may have been begun already, in the place of one that ended
        background.begin(run.pk)

    yield beside
    background.ask_to_stop()
    assert background.wait_until_stopped()
    background.ready()


def begun_anew(run: SuggestionRun) -> None:
    """What the reaper finds of a run whose worker was killed, once its lease is over."""
    SuggestionRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert suggest.reap() >= 1
    run.refresh_from_db()
    assert run.state == State.QUEUED


def records(how_many: int) -> list[dict[str, Any]]:
    return [people.make_record(n, question=f"Question {n}? [[id:tiny:{n}:0]]") for n in range(how_many)]


def make_judge(cast: Cast, server: JudgeServer, model: str = "ok", **values: Any) -> Judge:
    wanted = {"concurrency": 8, "timeout_seconds": 2, "key_name": KEY, **values}
    return suggest.create_judge(
        actor=OPERATOR,
        project=cast.project,
        name=model,
        kind="openai_compatible",
        model=model,
        base_url=server.url,
        **wanted,
    )


def start(judge: Judge) -> SuggestionRun:
    return suggest.start_run(actor=OPERATOR, judge=judge)


def reaches(run: SuggestionRun, *states: SuggestionRunState) -> SuggestionRun:
    def there() -> bool:
        run.refresh_from_db()
        return run.state in states and run.lease_until is None

    try:
        wait_for(there, f"the run to be {states}", seconds=PATIENCE)
    except TimeoutError as error:
        raise AssertionError(
            f"{run.state}: {run.stop_reason} {run.progress_done}/{run.progress_total}"
        ) from error
    return run


def has(run: SuggestionRun, how_many: int) -> None:
    wait_for(lambda: Suggestion.objects.filter(run=run).count() >= how_many, "suggestions", seconds=PATIENCE)


def stored(run: SuggestionRun) -> set[str]:
    return set(Suggestion.objects.filter(run=run).values_list("trajectory__record_id", flat=True))


def calls(server: JudgeServer, model: str = "ok") -> dict[str, int]:
    return {key: n for (asked, key), n in server.calls.items() if asked == model}


@pytest.mark.once
def test_run_of_a_killed_worker_does_not_ask_again_for_what_it_had_stored(
    environment: dict[str, str],
    worker_of: Any,
    begin: Callable[[SuggestionRun], None],
    judges: JudgeServer,
    cast: Cast,
    caplog: pytest.LogCaptureFixture,
) -> None:
    people.import_records(cast.project, records(200))
    run = start(make_judge(cast, judges))
    first = worker_of(environment)
    has(run, 40)
    first.kill()
    before = stored(run)
    assert 40 <= len(before) < 200
    run.refresh_from_db()
    assert run.state == State.RUNNING
    begun_anew(run)
    begin(run)
    reaches(run, State.FINISHED)

    assert (run.attempt, run.progress_done, run.progress_failed) == (2, 200, 0)
    assert Suggestion.objects.count() == len(stored(run)) == 200
    assert SuggestedLabel.objects.count() == 400
    counted = calls(judges)
    assert all(counted[record] == 1 for record in before), "what was stored was paid for once"
    assert max(counted.values()) <= 2
    assert sum(counted.values()) <= 240, "only what was in flight, or waited to be stored, was asked again"
    assert JudgeAnswer.objects.count() == run.calls == 200
    said = first.words() + caplog.text
    assert "Question" not in said and "sk-of" not in said


@pytest.mark.once
def test_run_is_paused_resumed_and_cancelled_while_it_runs(
    begin: Callable[[SuggestionRun], None], judges: JudgeServer, cast: Cast
) -> None:
    people.import_records(cast.project, records(120))
    judges.delay = 0.3  # nine seconds in all: what is asked for comes in the middle
    run = start(make_judge(cast, judges, concurrency=4))
    begin(run)
    has(run, 10)
    suggest.pause_run(actor=cast.admin, run=run)
    reaches(run, State.PAUSED)
    asked, done = judges.total, len(stored(run))
    assert done == asked < 120, "calls in flight were stored"
    wait_for(lambda: run.pk not in background._running, "the run to leave its place")
    assert judges.total == asked, "nothing is asked while it is paused"

    suggest.resume_run(actor=cast.admin, run=run)
    begin(run)
    has(run, done + 10)
    suggest.cancel_run(actor=cast.admin, run=run)
    reaches(run, State.CANCELLED)

    assert len(stored(run)) == judges.total == run.progress_done < 120
    judges.delay = 0
    rest = start(run.judge)
    assert rest.progress_total == 120 - run.progress_done
    begin(rest)
    reaches(rest, State.FINISHED)
    assert set(calls(judges).values()) == {1}


@pytest.mark.once
def test_import_does_not_wait_for_runs_and_a_worker_that_is_told_to_end_hands_them_on(
    environment: dict[str, str],
    worker_of: Any,
    begin: Callable[[SuggestionRun], None],
    judges: JudgeServer,
    cast: Cast,
) -> None:
    people.import_records(cast.project, records(60))
    judges.delay = 0.5
    worker = worker_of(environment, threads=1)
    runs = [start(make_judge(cast, judges, model, concurrency=1)) for model in ("one", "two", "three")]
    for run in runs:
        has(run, 1)
    assert worker.stop(), "a warm shutdown does not wait for a run of hours"
    for run in runs:
        reaches(run, State.QUEUED)
        assert 1 <= run.progress_done < 60
    judges.delay = 0.0
    for run in runs:
        begin(run)
    for run in runs:
        reaches(run, State.FINISHED)
    assert Suggestion.objects.count() == 180


@pytest.mark.once
def test_run_on_decisions_asks_in_both_orders_and_each_answer_of_a_judge_is_about_both(
    begin: Callable[[SuggestionRun], None], judges: JudgeServer
) -> None:
    cast = make_decisions_cast(4)
    judges.delay = 0
    judges.label("honest", lambda _, texts: {text: 1 if text.endswith("0.") else -1 for text in texts})
    judges.label("swayed", lambda _, texts: {text: -1 if at else 1 for at, text in enumerate(texts)})
    honest, swayed = (start(make_judge(cast, judges, model)) for model in ("honest", "swayed"))
    for run in (honest, swayed):
        begin(run)
        reaches(run, State.FINISHED)
        assert (run.calls, run.progress_done, run.labels_missing) == (4, 4, 0)

    assert judges.total == 16, "each in two orders"
    labels = SuggestedLabel.objects.order_by("step__message_index")
    assert [*labels.filter(suggestion__run=honest).values_list("value", flat=True)] == [1] * 4 + [-1] * 4
    assert honest.labels_order_dependent == 0 and swayed.labels_order_dependent == 8
    unsaid = labels.filter(suggestion__run=swayed)
    assert {*unsaid.values_list("value", flat=True)} == {None} and "in its reverse" in unsaid[0].reason
    problems = JudgeAnswer.objects.filter(run=swayed)[0].notes["problems"]
    assert {"kind": "order", "where": "actions.3", "found": "1, -1"} in problems
    with pytest.raises(Invalid, match="already has suggestions"):
        start(swayed.judge)  # asking again would tell the same


@pytest.mark.once
def test_run_invents_loses_and_doubles_nothing_whatever_the_server_does(
    begin: Callable[[SuggestionRun], None],
    judges: JudgeServer,
    cast: Cast,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    people.import_records(cast.project, records(3))
    judges.delay = 0.0
    mended = (
        "rate_limited+ok",
        "rate_limited_bare+ok",
        "http_500+ok",
        "reset+ok",
        "html+ok",
        "cut_envelope+ok",
        "timeout+ok",
        "drip+ok",
        "comments",
        "strings",
    )
    failing = {
        "truncated": "truncated",
        "shifted": "no_labels",
        "other_steps": "no_labels",
        "huge": "too_large",
        "prose": "not_json",
    }
    stopping = ("wrong_model", "expired_key", "no_credit")
    settings.JUDGE_RUNS = 20
    models = (*mended, *failing, "endless", "one_missing", *stopping)
    runs = {model: start(make_judge(cast, judges, model)) for model in models}
    for run in runs.values():
        begin(run)

    for model in mended:
        run = reaches(runs[model], State.FINISHED, State.STOPPED)
        assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 3, 0), model
    for model, kind in failing.items():
        run = reaches(runs[model], State.FINISHED, State.STOPPED)
        assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 0, 3), model
        kinds = SuggestionItem.objects.filter(run=run).values_list("failure", flat=True)
        assert set(kinds) == {kind}, model
        assert all(bytes(answer.response) for answer in JudgeAnswer.objects.filter(run=run)), model
    endless = reaches(runs["endless"], State.FINISHED, State.STOPPED)
    assert endless.progress_done == 0
    # whichever comes first: the limit of its size, or of its time
    ended = SuggestionItem.objects.filter(run=endless).values_list("failure", flat=True)
    assert set(ended) <= {"too_large", "timeout"} and len(ended) == 3
    partial = reaches(runs["one_missing"], State.FINISHED)
    assert partial.labels_missing == 3
    assert SuggestedLabel.objects.filter(suggestion__run=partial).count() == 3
    for model in stopping:
        run = reaches(runs[model], State.STOPPED)
        assert run.stop_reason.endswith(".") and "sk-of" not in run.stop_reason
        due = SuggestionItem.objects.filter(run=run, state=SuggestionItemState.DUE)
        assert due.count() == 3 and not Suggestion.objects.filter(run=run).exists()
    assert not SuggestedLabel.objects.exclude(value__in=(-1, 0, 1)).exists()
    assert "sk-of" not in caplog.text


@pytest.mark.once
def test_broker_that_restarts_in_mid_run_loses_nothing(
    environment: dict[str, str],
    celery_broker: Broker,
    worker_of: Any,
    judges: JudgeServer,
    cast: Cast,
) -> None:
    people.import_records(cast.project, records(60))
    worker_of(environment)
    run = start(make_judge(cast, judges, concurrency=2))
    has(run, 5)
    celery_broker.process.terminate()
    celery_broker.process.wait()
    other = start(make_judge(cast, judges, "one", concurrency=16))
    SuggestionRun.objects.filter(pk=other.pk).update(resend_at=timezone.now())
    reaches(run, State.FINISHED)
    celery_broker.process = celery_broker._start()
    reaches(other, State.FINISHED)

    assert set(calls(judges).values()) == set(calls(judges, "one").values()) == {1}
    assert Suggestion.objects.count() == 120


@pytest.mark.once
def test_run_that_writes_distractors_pays_for_each_question_once_though_its_worker_is_killed(
    environment: dict[str, str],
    worker_of: Any,
    begin: Callable[[SuggestionRun], None],
    judges: JudgeServer,
) -> None:
    cast, _ = make_questions_cast(60)
    run = suggest.start_run(actor=OPERATOR, judge=make_judge(cast, judges), options=4)
    first = worker_of(environment)
    more = Trajectory.objects.filter(live=True, step_count=4)
    wait_for(lambda: more.count() >= 10, "options", seconds=PATIENCE)
    first.kill()
    before = {key.removeprefix("task ") for key in more.values_list("task__key", flat=True)}
    assert 10 <= len(before) < 60
    begun_anew(run)
    begin(run)
    reaches(run, State.FINISHED)

    assert (run.progress_done, run.progress_failed, more.count()) == (60, 0, 60)
    assert run.distractors == {"added": 120, "refused": {"not_needed": 120}}
    asked = calls(judges)
    assert len(asked) == run.calls == 60 and {asked[key] for key in before} == {1}
    assert run.cost == JudgeAnswer.objects.filter(run=run).aggregate(cost=Sum("cost"))["cost"]


@pytest.fixture
def worker_of(celery_broker: Broker, tmp_path: Path) -> Iterator[Any]:
    """Starts workers that end with the test."""
    started: list[Worker] = []

    def begin(environment: dict[str, str], *, threads: int = 2) -> Worker:
        worker = Worker(environment, tmp_path / f"worker{len(started)}.log", threads=threads)
        started.append(worker)
        return worker

    yield begin
    for worker in started:
        worker.stop()
