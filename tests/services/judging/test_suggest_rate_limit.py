"""A judge's rate limit: one for all workers, kept in the database, without a burst after a crash."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.vocabulary import SuggestionRunState
from annotation.models import Judge
from annotation.providers import Request, Stopped
from annotation.services.suggest.rate_limit import RateLimiter, reserve
from tests import people
from tests.fixtures.judges import URL, Scripted, do, install, make_judge, reply, start
from tests.people import Cast

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def judge(cast: Cast, judge_urls: None) -> Judge:
    """120 calls a minute: one every half second."""
    return make_judge(cast, rate_per_minute=120)


def ahead(moments: list[Any]) -> list[float]:
    return [(moment - NOW).total_seconds() for moment in moments]


def test_rate_limit_spaces_moments_evenly_and_each_is_nobody_elses(judge: Judge) -> None:
    assert ahead(reserve(judge, 1, now=NOW)) == [0.0]
    stale = Judge.objects.get()
    assert ahead(reserve(judge, 5, now=NOW)) == [0.5]
    assert reserve(stale, 5, now=NOW) == [], "a second ahead is taken, whoever asks"
    assert ahead(reserve(stale, 5, now=NOW + timedelta(seconds=1))) == [1.0, 1.5]


@pytest.mark.postgres
def test_worker_that_takes_over_goes_on_where_the_moments_ended(judge: Judge) -> None:
    reserve(judge, 2, now=NOW)

    assert ahead(reserve(Judge.objects.get(), 9, now=NOW + timedelta(seconds=0.1))) == [1.0]


def test_rate_limit_does_not_make_up_for_time_that_nobody_used(judge: Judge) -> None:
    reserve(judge, 2, now=NOW)

    assert ahead(reserve(judge, 9, now=NOW + timedelta(minutes=5))) == [300.0, 300.5]


def test_rate_limit_is_not_stopped_for_ever_by_a_clock_that_was_wrong(judge: Judge) -> None:
    Judge.objects.update(next_call_at=NOW + timedelta(days=9))

    assert ahead(reserve(judge, 1, now=NOW)) == [0.0]


def test_rate_limit_that_is_slow_lets_calls_through_one_by_one(judge: Judge) -> None:
    judge.rate_per_minute = 2
    assert ahead(reserve(judge, 9, now=NOW)) == [0.0]
    assert reserve(judge, 9, now=NOW + timedelta(seconds=20)) == []
    assert ahead(reserve(judge, 9, now=NOW + timedelta(seconds=29.5))) == [30.0]


def test_run_keeps_to_the_limit_and_every_attempt_counts(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.conf import settings

    monkeypatch.setattr(settings, "JUDGE_URLS", [URL])
    people.import_records(cast.project, 6)
    begun: list[float] = []
    provider = Scripted()

    def script(request: Request) -> Any:
        begun.append(time.monotonic())
        provider.hooks.admit()
        begun.append(time.monotonic())
        return reply(request)

    provider.script = script
    install(monkeypatch, provider)
    run = do(start(make_judge(cast, rate_per_minute=1_200, concurrency=6)))

    assert run.state == SuggestionRunState.FINISHED
    assert len(begun) == 12
    # the first may begin late on a busy machine; without a limit all of it takes a few milliseconds
    assert max(begun) - min(begun) >= 0.4, "twelve attempts, fifty milliseconds apart"


def test_rate_limit_lets_whoever_waits_go_when_the_run_ends(judge: Judge) -> None:
    halt = threading.Event()
    pace = RateLimiter(judge, halt)
    threading.Timer(0.05, halt.set).start()

    with pytest.raises(Stopped):
        pace.admit()
    with pytest.raises(Stopped):
        pace.admit()
