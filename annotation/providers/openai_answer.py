"""Read a chat completion: its envelope, what was charged, and the judgement in the model's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import BadJson, parse_bytes
from annotation.core.judging import ParsedAnswer, Prompt, Usage, cost, estimate_tokens
from annotation.core.judging.settings import JudgeSettings
from annotation.outside.redaction import Redactor
from annotation.outside.sending import ReceivedReply

from .base import Failure, FailureKind, Reply
from .http_errors import AskedModel, Complaint, refusal


@dataclass(frozen=True, slots=True)
class _Choice:
    """The first choice of a completion. `text`: its content, "" for none."""

    text: str
    finish_reason: str
    refusal: str
    model: str
    usage: Usage


class Answers:
    """Reads the replies of one judge."""

    def __init__(self, settings: JudgeSettings, redact: Redactor, call: AskedModel) -> None:
        self._price = settings.price
        self._redact = redact
        self._asked = call

    def read(self, received: ReceivedReply, prompt: Prompt, limit: int) -> Reply | Failure:
        """The judgement in a reply with a status of 2xx, or the failure it amounts to. `limit`: the answer
        tokens that it was allowed."""
        if received.headers.get("content-type", "").startswith("text/event-stream"):
            message = translatable("The server sends a stream of events, although it was not asked for one.")
            return _failure(FailureKind.NOT_JSON, message, permanent=True)
        try:
            envelope = parse_bytes(received.body)
        except BadJson:
            # said without its words, which may judge the steps: they are in the raw answer alone
            return _failure(FailureKind.NOT_JSON, translatable("The server’s reply is not JSON."))
        if not isinstance(envelope, Mapping):
            return _failure(
                FailureKind.NOT_JSON, translatable("The server’s reply is not a chat completion.")
            )
        choice = _first(envelope.get("choices"))
        if choice is None:
            return self._without_choice(envelope)
        return self._outcome(self._choice(envelope, choice, prompt), prompt, limit)

    def _without_choice(self, envelope: Mapping[str, Any]) -> Failure:
        """A reply of 200 without choices; some servers pass another server's error on like that."""
        if envelope.get("error"):
            complaint = Complaint.of(envelope)
            status = int(complaint.code) if complaint.code.isascii() and complaint.code.isdigit() else 500
            return refusal(status if 400 <= status < 600 else 500, complaint, self._asked)
        return _failure(
            FailureKind.NO_ANSWER, translatable("The server’s reply contains no answer (no choices).")
        )

    def _choice(self, envelope: Mapping[str, Any], choice: Mapping[str, Any], prompt: Prompt) -> _Choice:
        message = choice.get("message")
        message = message if isinstance(message, Mapping) else {}
        text = self._redact.text(_content(message.get("content")))
        usage = Usage.read(
            envelope.get("usage"),
            prompt_estimate=prompt.estimated_tokens,
            answer_estimate=estimate_tokens(text),
        )
        refused = _text(message.get("refusal"))
        return _Choice(text, _text(choice.get("finish_reason")), refused, _text(envelope.get("model")), usage)

    def _outcome(self, choice: _Choice, prompt: Prompt, limit: int) -> Reply | Failure:
        charged = cost(choice.usage, self._price)
        if choice.refusal or choice.finish_reason == "content_filter":
            failure = _failure(
                FailureKind.REFUSED, translatable("The model declined to answer."), permanent=True
            )
            return replace(failure, usage=choice.usage, cost=charged)
        cut_off = choice.finish_reason == "length"
        if not choice.text.strip() and not cut_off:
            message = translatable("The model’s answer has no content.")
            failure = _failure(FailureKind.NO_ANSWER, message, permanent=True)
            return replace(failure, usage=choice.usage, cost=charged)
        judgement = self._clean(prompt.read(choice.text, prompt.step_indexes, cut_off=cut_off))
        if judgement.unusable is None:
            return Reply(
                judgement=judgement,
                usage=choice.usage,
                cost=charged,
                prompt_version=prompt.version,
                model=self._redact.text(choice.model)[:200],
                finish_reason=self._redact.text(choice.finish_reason)[:40],
                clipped=prompt.clipped,
            )
        kind = FailureKind(judgement.unusable.kind)
        why: str = judgement.unusable.message
        if cut_off and kind is FailureKind.TRUNCATED:
            why = translatable(
                "{failure} The limit of {limit} answer tokens was reached.",
                failure=why,
                limit=f"{limit:,}",
            )
        failure = _failure(kind, why, permanent=True)
        return replace(failure, judgement=judgement, usage=choice.usage, cost=charged)

    def _clean(self, judgement: ParsedAnswer) -> ParsedAnswer:
        """Reasons, findings and actions without the key, in case the model's JSON spelled it in escapes."""
        redact = self._redact.text
        return replace(
            judgement,
            reasons={index: redact(reason) for index, reason in judgement.reasons.items()},
            outcome_reason=redact(judgement.outcome_reason),
            problems=tuple(replace(it, found=redact(it.found)) for it in judgement.problems),
            text=redact(judgement.text),
            proposals=tuple(it and it.mapped(redact) for it in judgement.proposals),
        )


def _first(choices: Any) -> Mapping[str, Any] | None:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _content(content: Any) -> str:
    """The text of a message: a string, or the text parts of a list, as some servers send it."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "".join(part for part in parts if isinstance(part, str))
    return _text(content)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _failure(kind: FailureKind, message: str, *, permanent: bool = False) -> Failure:
    return Failure(kind=kind, permanent=permanent, scope="call", message=message)
