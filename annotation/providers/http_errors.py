"""Interpret a server's error: whether to ask again, and whether it concerns the whole run.

After the replies of OpenAI, Azure, DeepSeek, OpenRouter, vLLM, llama.cpp, Ollama, Together and others, which
agree on little more than the status.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import BadJson, parse_bytes
from annotation.outside.failures import Failed, key_refused, passing, redirected

from .base import Failure, FailureKind

_CREDIT: Final = re.compile(
    r"insufficient_quota|exceeded your current quota|insufficient[ _](balance|credits|funds)|billing"
)
_NO_MODEL: Final = re.compile(
    r"model[ _]?not[ _]?(found|exist)|no such model|unknown model|invalid model|not a valid model"
    r"|model\b.{0,120}\b(does not exist|not found|not exist|is not available|not supported|deployment)"
    r"|deploymentnotfound",
    re.DOTALL,
)
_TOO_LONG: Final = re.compile(
    r"context[ _](length|window|size)|maximum context|too many (input )?tokens|prompt is too long"
    r"|input (is )?too long|exceeds? the (model|available)"
)
_FILTERED: Final = re.compile(r"content[ _](filter|policy|management)|moderation|flagged|safety system")
_PARAMETER: Final = re.compile(
    r"unsupported_(parameter|value)|unrecognized request argument|unknown (parameter|field|name)"
    r"|extra (inputs|fields|forbidden)|does not support|not permitted"
)
_ANSWER_TOKENS: Final = re.compile(r"max_(completion_|output_|new_)?tokens|completion tokens|output tokens")
_NUMBER: Final = re.compile(r"(?<![\w.-])[0-9]{2,7}(?![\w.-]*[0-9a-z_])")
_NAMED: Final = re.compile(r"[a-z][a-z0-9_.]{0,60}")
LEAST_ANSWER: Final = 256
"""Tokens; a smaller number in a complaint is no limit of an answer that could hold labels."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """The error object of a reply. `text`: its codes and sentences in small letters, for matching."""

    message: str
    code: str
    param: str
    text: str

    @classmethod
    def read(cls, body: bytes) -> Complaint:
        """The complaint in any body; all empty for one that is not JSON, HTML for instance."""
        try:
            value = parse_bytes(body)
        except BadJson:
            return cls("", "", "", "")
        return cls.of(value)

    @classmethod
    def of(cls, value: Any) -> Complaint:
        """The complaint in a parsed body: `{"error": {…}}`, `{"error": "…"}`, `{"detail": …}` or the bare
        object."""
        error = value.get("error", value) if isinstance(value, Mapping) else value
        if not isinstance(error, Mapping):
            error = {"message": error if isinstance(error, str) else ""}
        message = next((error[key] for key in ("message", "detail", "msg") if error.get(key)), "")
        message = message if isinstance(message, str) else str(message)[:500]
        words = [str(error.get(key) or "") for key in ("code", "type", "param")]
        return cls(message[:500], words[0], words[2], " ".join((*words, message[:2000])).lower())

    def answer_limit(self, limit: int) -> int | None:
        """The most answer tokens that the server allows, when it refuses `limit` and names fewer."""
        if not _ANSWER_TOKENS.search(self.text) or "context_length" in self.text:
            return None
        numbers = [int(digits) for digits in _NUMBER.findall(self.text.replace(",", ""))]
        return max((number for number in numbers if LEAST_ANSWER <= number < limit), default=None)


@dataclass(frozen=True, slots=True)
class AskedModel:
    """The model and the environment variable with the key ("" for none) that sentences name."""

    model: str
    key_name: str


def refusal(status: int, complaint: Complaint, call: AskedModel) -> Failure:
    """The failure behind a reply with this status (not 2xx). `retry_after` is for the caller to add."""
    text = complaint.text

    def said(sentence: str) -> str:
        return _with_words(sentence, complaint)

    if 300 <= status < 400:
        return as_failure(redirected())
    if status in (402, 403, 429) and _CREDIT.search(text):
        return _run(FailureKind.NO_CREDIT, said(translatable("The account has no credit left.")))
    if status == 402:
        return _run(FailureKind.NO_CREDIT, said(translatable("The server demands payment first.")))
    if status in (400, 403) and _FILTERED.search(text):
        return _call(FailureKind.REFUSED, said(translatable("The server’s content filter declined.")))
    if status in (401, 403):
        return as_failure(key_refused(call.key_name, status))
    if status in (400, 404, 422) and _NO_MODEL.search(text):
        return _run(
            FailureKind.WRONG_MODEL,
            said(translatable("The server has no model “{model}”.", model=call.model)),
        )
    if status in (404, 405):
        return _run(
            FailureKind.WRONG_ADDRESS,
            translatable("The server has no chat completions at this address ({status}).", status=status),
        )
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(text)):
        return _call(FailureKind.TOO_LONG, said(translatable("The trajectory is too long for the model.")))
    if later := passing(status):
        return as_failure(replace(later, message=said(later.message)))
    if _PARAMETER.search(text):
        name = complaint.param.lower()
        sentence = (
            translatable("The server does not take the parameter “{name}”.", name=name)
            if _NAMED.fullmatch(name)
            else translatable("The server does not take the parameter.")
        )
        return _run(FailureKind.BAD_REQUEST, said(sentence))
    return _call(
        FailureKind.BAD_REQUEST,
        said(translatable("The server refused the request ({status}).", status=status)),
    )


def as_failure(failed: Failed) -> Failure:
    """The failure of a call to a judge whose server, or the way to it, failed so."""
    return Failure(
        kind=FailureKind(str(failed.kind)),
        permanent=failed.permanent,
        scope="run" if failed.every_call else "call",
        message=failed.message,
        retry_after=failed.retry_after,
    )


def _with_words(failure: str, complaint: Complaint) -> str:
    """The sentence, followed by the server's own words where it has any."""
    words = " ".join(complaint.message.split())
    if not words:
        return failure
    quoted = words[:200] + ("…" if len(words) > 200 else "")
    return translatable("{failure} The server says: {words}", failure=failure, words=quoted)


def _run(kind: FailureKind, message: str) -> Failure:
    return _failure(kind, message, permanent=True, scope="run")


def _call(kind: FailureKind, message: str) -> Failure:
    return _failure(kind, message, permanent=True, scope="call")


def _failure(kind: FailureKind, message: str, *, permanent: bool, scope: Literal["call", "run"]) -> Failure:
    return Failure(kind=kind, permanent=permanent, scope=scope, message=message)
