"""A judge on the misbehaving server, and a trajectory for it."""

from __future__ import annotations

import random
import time
from decimal import Decimal
from typing import Any

from annotation.core.judging import JudgeInput
from annotation.core.judging.settings import JudgeSettings
from annotation.outside import OperatorRules
from annotation.providers import Failure, Hooks, Reply, Request, create
from tests.judge_server import JudgeServer

KEY = "sk-canary-4f9b2c7d1e"


def material(record: str = "r", more: str = "") -> JudgeInput:
    messages = [
        {"role": "user", "content": f"[[id:{record}]] Do it."},
        {"role": "assistant", "content": "Trying."},
        {"role": "tool", "content": f"done {more}"},
        {"role": "assistant", "content": "It is done."},
    ]
    return JudgeInput(question="Do it.", messages=messages)


class Judge:
    """One judge with its waits written down; small waits are waited out, backoff is not."""

    def __init__(self, server: JudgeServer, model: str, *, attempts: int = 2, **more: Any) -> None:
        self.waits: list[float] = []
        settings = {
            "base_url": server.url,
            "model": model,
            "key_name": "ACME_API_KEY",
            "timeout_seconds": 15.0,
            "price_input": Decimal(1),
            "price_output": Decimal(10),
            "concurrency": 8,
            **more,
        }
        hooks = Hooks(sleep=self.sleep, rng=random.Random(3), attempts=attempts)
        self.provider = create(
            "openai_compatible",
            JudgeSettings.of(settings),
            environ={"ACME_API_KEY": KEY},
            operator=OperatorRules([server.url], ["ACME_API_KEY"]),
            hooks=hooks,
        )

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        time.sleep(min(seconds, 0.2))

    def ask(self, given: JudgeInput | None = None) -> Reply | Failure:
        return self.provider.judge(Request(given or material()))

    def ask_for_the_rest(self, given: JudgeInput, earlier: dict[int, int]) -> Reply:
        found = self.provider.judge(Request(given, earlier=earlier))
        assert isinstance(found, Reply), found
        return found

    def reply(self, given: JudgeInput | None = None) -> Reply:
        found = self.ask(given)
        assert isinstance(found, Reply), found
        return found

    def failure(self, given: JudgeInput | None = None) -> Failure:
        found = self.ask(given)
        assert isinstance(found, Failure), found
        return found
