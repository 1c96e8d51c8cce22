"""Any server that speaks OpenAI’s chat completions: OpenAI, DeepSeek, OpenRouter, vLLM, Ollama …"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.judging import CostEstimate, Prompt, TooLong, build
from annotation.core.judging.distractors import build_distractors, expected_distractors
from annotation.core.judging.plain_prompt import expected_text, plain_prompt
from annotation.core.judging.prompt_parts import expected, plan
from annotation.core.judging.prompts import in_both_orders, template
from annotation.core.judging.settings import JudgeSettings
from annotation.outside import OperatorRules
from annotation.outside.sending import ReceivedReply
from annotation.outside.server import LONGEST_WAIT, OutsideServer, Patience
from annotation.outside.waiting import retry_after

from .asking import ask_in_orders, ask_in_parts
from .base import Exchange, Failure, FailureKind, Hooks, Reply, Request
from .http_errors import AskedModel, Complaint, as_failure, refusal
from .openai_answer import Answers

KIND: Final = "openai_compatible"
_LOWER: Final = {"json_schema": "json_object", "json_object": "none"}
_FORMAT_WORDS: Final = (
    "response_format",
    "json_schema",
    "json_object",
    "structured output",
    "guided",
    "grammar",
)
_MAX_ADAPTATIONS: Final = 4
_MAX_HOLDS: Final = 5


def create(
    settings: JudgeSettings, *, environ: Mapping[str, str], operator: OperatorRules, hooks: Hooks
) -> OpenAICompatible:
    """The judge with these settings, its key taken from `environ`. Raises `Invalid`."""
    key = operator.check(settings.base_url, settings.key_name, environ)
    template(settings.prompt_version)  # raises when there is none of this version
    patience = Patience(
        attempts=hooks.attempts,
        seconds=settings.timeout_seconds,
        sleep=hooks.sleep,
        clock=hooks.clock,
        now=hooks.now,
        rng=hooks.rng,
    )
    server = OutsideServer(
        settings.base_url,
        key=key,
        key_name=settings.key_name,
        networks=operator.networks,
        patience=patience,
    )
    return OpenAICompatible(settings, server, hooks)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The features that a server was found to understand. `structured`: how it is asked for JSON; `limit`:
    the most answer tokens that it allows, once it has refused more."""

    structured: str
    tokens: str = "max_tokens"
    limit: int | None = None

    def after(self, complaint: Complaint, limit: int) -> Dialect | None:
        """The dialect to try after a call for `limit` answer tokens was refused with `complaint`; `None`: it
        is not about that."""
        if (allowed := complaint.answer_limit(limit)) is not None:
            return replace(self, limit=allowed)
        if self.tokens == "max_tokens" and "max_completion_tokens" in complaint.text:
            return replace(self, tokens="max_completion_tokens")
        if self.structured in _LOWER and any(word in complaint.text for word in _FORMAT_WORDS):
            return replace(self, structured=_LOWER[self.structured])
        return None


class OpenAICompatible:
    """See `Provider`. Threads share its waits and what it learned about its server."""

    def __init__(self, settings: JudgeSettings, server: OutsideServer, hooks: Hooks) -> None:
        self._settings = settings
        self._hooks = hooks
        self._server = server
        self._redact = server.redact
        self._asked = AskedModel(settings.model, settings.key_name)
        self._answers = Answers(settings, server.redact, self._asked)
        self._waits = server.waits
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(settings.concurrency)  # should more threads than that call
        self._adapts = settings.structured_output == "auto"
        self._dialect = Dialect("json_schema" if self._adapts else settings.structured_output)

    def __repr__(self) -> str:
        return f"OpenAICompatible({self._settings.model!r} at {self._settings.base_url!r})"

    @property
    def structured(self) -> str:
        """The form of asking the server for JSON at present: json_schema, json_object or none."""
        return self._dialect.structured

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def estimate(self, request: Request) -> CostEstimate:
        """Tokens and cost of the calls about one trajectory, on the high side; none when it is too long."""
        if request.prompt is not None:
            return expected_text(self._settings, request.prompt)
        if request.writing is not None:
            return expected_distractors(self._settings, request.material, request.writing)[0]
        steps = request.material.open_steps(request.earlier)
        return expected(self._settings, request.material, steps=steps)[0]

    def judge(self, request: Request) -> Reply | Failure:
        """Ask, in parts where one answer cannot hold all labels, until every step has one; about a decision
        in both orders."""
        settings, material, server = self._settings, request.material, self._dialect.limit
        if request.prompt is not None or request.writing is not None:
            try:
                prompt = self._one_prompt(request)
            except TooLong as error:
                return _too_long(error)
            return self._ask(prompt, settings.answer_limit)
        steps = material.open_steps(request.earlier)
        try:
            planned = plan(settings, material, steps=steps, server_limit=server)
        except TooLong as error:
            return _too_long(error)
        if in_both_orders(settings.prompt_version):
            prompts = {prompt.step_indexes: prompt for prompt in planned.prompts}
            return ask_in_orders(planned.parts, lambda order: self._ask(prompts[order], planned.limit))

        def ask(part: tuple[int, ...], earlier: Mapping[int, int]) -> Reply | Failure:
            version = settings.prompt_version
            try:
                prompt = build(version, material, planned.budget, steps=part, earlier=earlier)
            except TooLong as error:
                return _too_long(error)
            return self._ask(prompt, planned.limit)

        def limit() -> int:
            return min(planned.limit, self._dialect.limit or planned.limit)

        return ask_in_parts(planned.parts, request.earlier, ask, limit)

    def _one_prompt(self, request: Request) -> Prompt:
        """The prompt of a request for something else than labels. Raises `TooLong`."""
        if request.prompt is not None:
            return plain_prompt(self._settings, request.prompt)
        assert request.writing is not None
        budget = self._settings.context_tokens - self._settings.answer_limit
        return build_distractors(request.material, request.writing, budget)

    def _ask(self, prompt: Prompt, limit: int) -> Reply | Failure:
        """Ask until there is an answer, a failure that will not pass, or no attempt left."""
        started = self._hooks.clock()
        sent, failures, adaptations = 0, 0, 0
        while True:
            dialect = self._dialect
            max_tokens = min(limit, dialect.limit or limit)
            body = self._body(prompt, dialect, max_tokens)
            if (held := self._held()) is not None:
                return self._kept(held, body, ReceivedReply(None, {}, b""), sent, started)
            self._hooks.admit()
            sent += 1
            with self._slots:
                received = self._server.send("POST", "/chat/completions", body)
            outcome = self._outcome(received, prompt, dialect, max_tokens)
            if isinstance(outcome, Dialect):
                adaptations += 1
                if adaptations <= _MAX_ADAPTATIONS:
                    continue
                outcome = self._refusal(received)
            if isinstance(outcome, Reply):
                return self._kept(outcome, body, received, sent, started)
            failures += 1
            pause = self._pause(outcome, failures)
            if pause is None:
                return self._kept(outcome, body, received, sent, started)
            if pause:
                self._hooks.sleep(pause)

    def _body(self, prompt: Prompt, dialect: Dialect, limit: int) -> bytes:
        settings = self._settings
        body: dict[str, Any] = {
            **(settings.extra or {}),
            "model": settings.model,
            "messages": [
                {"role": role, "content": text}
                for role, text in (("system", prompt.system), ("user", prompt.user))
                if text
            ],
            dialect.tokens: limit,
        }
        sampling = {name: getattr(settings, name) for name in ("temperature", "top_p", "seed")}
        if prompt.version and in_both_orders(prompt.version):
            # what differs between the orders is then due to the order
            sampling["temperature"] = 0
        body |= {name: value for name, value in sampling.items() if value is not None}
        if not prompt.schema:
            pass  # the answer is any text
        elif dialect.structured == "json_schema":
            schema = {"name": "judgement", "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif dialect.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")

    def _held(self) -> Failure | None:
        """Wait while the server has asked everybody to; a failure when that is longer than we wait."""
        for _ in range(_MAX_HOLDS):
            left = self._waits.left()
            if left <= 0:
                break
            if left > LONGEST_WAIT * 1.25:
                return Failure(
                    kind=FailureKind.RATE_LIMITED,
                    permanent=False,
                    scope="call",
                    message=translatable(
                        "The server accepts no calls for another {seconds} seconds.", seconds=f"{left:,.0f}"
                    ),
                    retry_after=left,
                )
            self._hooks.sleep(left)
        return None

    def _outcome(
        self, received: ReceivedReply, prompt: Prompt, dialect: Dialect, limit: int
    ) -> Reply | Failure | Dialect:
        if received.failure is not None:
            return as_failure(received.failure)
        if received.status is not None and 200 <= received.status < 300:
            return self._answers.read(received, prompt, limit)
        if received.status in (400, 422):
            learned = dialect.after(Complaint.read(received.body), limit)
            if learned is not None and (self._adapts or learned.structured == dialect.structured):
                with self._lock:
                    if self._dialect == dialect:
                        self._dialect = learned
                return learned
        return self._refusal(received)

    def _refusal(self, received: ReceivedReply) -> Failure:
        failure = refusal(received.status or 0, Complaint.read(received.body), self._asked)
        if failure.permanent:
            return failure
        wait = retry_after(received.headers, self._hooks.now())
        if wait is not None and wait > 0:
            self._waits.hold(wait)
        return replace(failure, retry_after=wait)

    def _pause(self, failure: Failure, failures: int) -> float | None:
        """Seconds to wait before the next attempt; `None`: there is to be none."""
        if failure.permanent or failures >= self._hooks.attempts:
            return None
        if failure.retry_after is None:
            return self._waits.backoff(failures - 1)
        if failure.retry_after > LONGEST_WAIT:
            return None
        return 0.0  # all threads hold back until then, before their next attempt

    def _kept(
        self, outcome: Reply | Failure, body: bytes, received: ReceivedReply, sent: int, started: float
    ) -> Reply | Failure:
        """`outcome` with what was sent and received, keys taken out, and a message that holds none."""
        exchange = Exchange(
            request=self._redact.data(body) if sent else b"",
            response=self._redact.data(received.body),
            status=received.status,
            attempts=sent,
            seconds=max(self._hooks.clock() - started, 0.0),
        )
        if isinstance(outcome, Failure):
            return replace(outcome, exchange=exchange, message=self._redact.text(outcome.message))
        return replace(outcome, exchange=exchange)


def _too_long(error: TooLong) -> Failure:
    return Failure(kind=FailureKind.TOO_LONG, permanent=True, scope="call", message=error.message)


__all__ = ["KIND", "Dialect", "OpenAICompatible", "create"]
