"""A judge that answers by script, in this process: for what a run does with answers, not how they come."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from annotation.core.judging import Estimate, Judgement, Usage
from annotation.core.vocabulary import SuggestionItemState
from annotation.models import Judge, SuggestionItem, SuggestionRun
from annotation.policies import OPERATOR
from annotation.providers import Exchange, Failure, FailureKind, Hooks, Reply, Request
from annotation.services import suggest
from annotation.services.suggest import runner
from tests.people import Cast

URL = "http://judge.test/v1"
PRICE = Decimal("0.01")


def reply(request: Request, value: int | None = 1, *, cost: Decimal = PRICE, **more: Any) -> Reply:
    """A usable answer: one label for every step, but `more` of a Judgement."""
    steps = request.material.steps
    labels: dict[int, int | None] = dict.fromkeys(steps, value)
    judgement: dict[str, Any] = {
        "labels": labels,
        "reasons": dict.fromkeys(steps, "because"),
        "outcome": value,
        "outcome_reason": "so it ends",
        "problems": (),
        "missing": 0,
        "extra": 0,
        "invalid": 0,
        **more,
    }
    return Reply(
        judgement=Judgement(**judgement),
        usage=Usage(100, 20),
        cost=cost,
        prompt_version="v1",
        model="scripted",
        exchange=Exchange(
            request=b'{"model": "scripted"}', response=b"{}", status=200, attempts=1, seconds=0.01
        ),
    )


def failure(kind: FailureKind, *, permanent: bool = True, scope: Any = "call", **more: Any) -> Failure:
    """A failure that says “Broken.”."""
    return Failure(
        kind=kind,
        permanent=permanent,
        scope=scope,
        message="Broken.",
        exchange=Exchange(request=b"asked", response=b"<html>", status=500, attempts=2),
        **more,
    )


class Scripted:
    """A provider whose answers are made by `script`; it counts the calls for each trajectory."""

    def __init__(self, script: Callable[[Request], Any] = reply, *, price: Decimal = PRICE) -> None:
        self.script = script
        self.price = price
        self.hooks = Hooks()
        self.calls: Counter[str] = Counter()
        self.closed = False
        self._lock = threading.Lock()

    def judge(self, request: Request) -> Any:
        """What the script says."""
        self.hooks.admit()
        with self._lock:
            self.calls[request.reference] += 1
        return self.script(request)

    def estimate(self, material: Any) -> Estimate:
        """The price of one call."""
        return Estimate(100, 20, self.price, calls=1)

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def install(monkeypatch: pytest.MonkeyPatch, provider: Scripted) -> Scripted:
    """Have runs ask this provider."""

    def opened(_judge: Judge, hooks: Hooks) -> Scripted:
        provider.hooks = hooks
        return provider

    monkeypatch.setattr(runner, "open_provider", opened)
    return provider


def make_judge(cast: Cast, name: str = "Sage", **values: Any) -> Judge:
    """A judge that could be asked; `settings.JUDGE_URLS` must hold URL."""
    wanted: dict[str, Any] = {
        "model": "scripted",
        "base_url": URL,
        "price_input": Decimal(1),
        "price_output": Decimal(2),
        **values,
    }
    return suggest.create_judge(
        actor=OPERATOR, project=cast.project, name=name, kind="openai_compatible", **wanted
    )


def start(judge: Judge, **options: Any) -> SuggestionRun:
    """A run that waits to be done in this process."""
    return suggest.start_run(actor=OPERATOR, judge=judge, enqueue=False, **options)


def do(run: SuggestionRun, **options: Any) -> SuggestionRun:
    """Do a run to its end."""
    return suggest.run_suggestions(run_id=run.pk, **options)


def question_of(request: Request) -> int:
    """Which made record this is about (`Question 7?`)."""
    return int(request.material.question.removeprefix("Question ").removesuffix("?"))


def body_of(request: Request) -> str:
    """The material as text."""
    return json.dumps(list(request.material.messages))


def items(run: SuggestionRun) -> dict[str, int]:
    """How many of a run's trajectories are due, done and failed."""
    rows = SuggestionItem.objects.filter(run=run).values_list("state", flat=True)
    return {state.value: list(rows).count(state.value) for state in SuggestionItemState}
