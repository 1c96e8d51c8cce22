"""Repeated questions of a run: only for missing labels, whoever left them out."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.errors import Invalid
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import Judge, JudgeAnswer, SuggestedLabel, Suggestion, Trajectory
from annotation.policies import OPERATOR
from annotation.providers import FailureKind, Request
from annotation.reports.judging.estimates import estimate
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import suggest
from annotation.services.suggest import pending_items
from tests import people
from tests.fixtures.judges import (
    PRICE,
    Scripted,
    do,
    failure,
    install,
    items,
    make_judge,
    question_of,
    reply,
    start,
)
from tests.people import Cast
from tests.suggesting import suggest as suggests

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("judge_urls")]
State = SuggestionRunState


def half_said(request: Request) -> Any:
    """A script: the first half of the steps is labelled; what has labels already is not labelled again."""
    asked = [index for index in request.material.steps if index not in request.earlier]
    if request.earlier:
        return reply(request, labels=dict.fromkeys(asked, 0), reasons={}, outcome=-1)
    labels: dict[int, int | None] = dict.fromkeys(asked)
    labels[asked[0]] = -1
    missing = len(asked) - 1
    said = reply(request, labels=labels, reasons={asked[0]: "first"}, outcome=None, missing=missing)
    return replace(said, rest=failure(FailureKind.SERVER_ERROR, permanent=False))


@pytest.mark.parametrize("again", ["retry", "new run"])
def test_labels_of_one_part_are_kept_when_another_fails_and_only_the_rest_is_asked_again(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    (row,) = people.import_records(cast.project, 1)
    provider = install(monkeypatch, Scripted(half_said))
    judge = make_judge(cast)
    whole = estimate(viewer=OPERATOR, judge=judge)
    run = do(start(judge))

    assert items(run)["failed"] == 1 and (run.labels_missing, run.progress_failed) == (1, 1)
    suggestion = Suggestion.objects.get(trajectory=row)
    said = suggestion.labels.order_by("step").values_list("step__message_index", "value", "reason")
    assert list(said) == [(2, -1, "first")] and suggestion.missing == 1
    answer = JudgeAnswer.objects.get()
    assert (answer.failure, answer.message, suggestion.answer) == ("server_error", "Broken.", answer)

    rest = estimate(viewer=OPERATOR, judge=judge)
    assert rest.trajectories == 1 and 0 < rest.tokens_out < whole.tokens_out
    first = run
    if again == "retry":
        assert suggest.retry_failed(actor=cast.admin, run=run) == 1
    else:
        run = start(judge)
        assert (run.progress_total, run.labels_missing) == (1, 1)
    run = do(run)
    suggestion.refresh_from_db()
    assert suggestion.run == first
    assert list(said.all()) == [(2, -1, "first"), (4, 0, "")]
    assert (suggestion.missing, suggestion.outcome, run.labels_missing) == (0, -1, 0)
    calls = 2 if again == "retry" else 1
    assert (run.progress_done, run.progress_failed, run.calls) == (1, 0, calls)
    assert provider.calls == {str(row.pk): 2} and run.cost == calls * Decimal("0.01")
    with pytest.raises(Invalid, match="already has suggestions"):
        start(judge)


@pytest.mark.postgres
def test_outcome_that_an_answer_left_out_is_not_paid_for_again_and_one_that_was_broken_off_is(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 3)
    broken = {1}

    def script(request: Request) -> Any:
        said = reply(request, outcome=None)
        if question_of(request) in broken:
            return replace(said, rest=failure(FailureKind.REFUSED))
        return said

    provider = install(monkeypatch, Scripted(script))
    judge = make_judge(cast)
    first = do(start(judge, selection=RunSelection(limit=2)))
    assert items(first) == {"due": 0, "done": 1, "failed": 1}
    second = start(judge)
    assert second.progress_total == 2, "what was broken off, and what is new"
    broken.clear()
    # the rest is estimated as such, so that a small budget is enough for it
    second.budget = PRICE + PRICE / 10
    second.save()
    provider.script = lambda request: reply(
        request, outcome=None, cost=PRICE / (10 if request.earlier else 1)
    )
    assert do(second).state == State.FINISHED and items(second)["done"] == 2
    with pytest.raises(Invalid, match="already has suggestions"):
        start(judge)
    assert Suggestion.objects.filter(outcome=None, missing=0).count() == 3
    # nor does a retry ask again about what another run has brought since
    with pytest.raises(Invalid, match="already has suggestions"):
        suggest.retry_failed(actor=cast.admin, run=first)
    assert sorted(provider.calls.values()) == [1, 1, 2]


def test_steps_with_an_invalid_label_are_counted_as_such_when_a_suggestion_is_completed(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 1)
    said: list[dict[str, Any]] = [
        {"labels": {2: None, 4: None}, "missing": 1, "invalid": 1},  # of 4 it said “good”
        {"labels": {2: None, 4: 1}, "missing": 1},
        {"labels": {2: 0}},
    ]
    install(monkeypatch, Scripted(lambda request: reply(request, **said.pop(0))))
    judge, counted = make_judge(cast), []
    for _ in range(3):
        fitted = timezone.now()
        Judge.objects.update(recalibrate=True, recalibrated_at=fitted)
        run = do(start(judge))
        judge.refresh_from_db()
        assert judge.recalibrated_at == (None if counted else fitted), (
            "what is completed is recalibrated again"
        )
        suggestion = Suggestion.objects.get()
        assert (run.labels_missing, run.labels_invalid) == (suggestion.missing, suggestion.invalid)
        counted.append((suggestion.missing, suggestion.invalid))
    assert counted == [(1, 1), (1, 0), (0, 0)] and SuggestedLabel.objects.count() == 2


def test_loader_asks_for_earlier_labels_only_where_there_are_some(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_items, "LOADED_AT_ONCE", 2)
    people.import_records(cast.project, 4)
    judge = make_judge(cast)
    run = start(judge)
    asked = []
    for begun in (False, True):
        if begun:
            suggests(judge, Trajectory.objects.earliest("pk"), [1, None], outcome=None)
        with CaptureQueriesContext(connection) as queries:
            loader = pending_items.ItemLoader(run)
            earlier = []
            while loader.peek() is not None:
                earlier.append(loader.pop().earlier)
        asked.append(len(queries))
        assert earlier == [{2: 1} if begun else {}, {}, {}, {}]
    # the guideline, what was begun, and three loads; then the labels of what was begun
    assert asked == [5, 6]


@pytest.mark.postgres
def test_server_that_wants_a_wait_in_mid_trajectory_loses_no_label(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 1)

    def script(request: Request) -> Any:
        said = half_said(request)
        wait = failure(FailureKind.RATE_LIMITED, permanent=False, retry_after=0.0)
        return replace(said, rest=wait) if said.rest is not None else said

    install(monkeypatch, Scripted(script))
    run = do(start(make_judge(cast)))
    assert (run.state, run.attempt, run.progress_done, run.labels_missing) == (State.FINISHED, 2, 1, 0)
    assert list(SuggestedLabel.objects.order_by("step").values_list("value", flat=True)) == [-1, 0]
