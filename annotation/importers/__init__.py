"""The registry of trajectory formats. A new format is a new file here and one line in `FORMATS`.

A package that is installed beside Tristep can bring formats of its own: an entry point of the group
`tristep.formats` names a class that implements `Importer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import HEAD_BYTES, RecordError, describe_not_text
from annotation.core.kinds import STEPS, ProjectKind
from annotation.core.kinds import by_name as kind_called

from .agents.claude_code import ClaudeCode
from .agents.codex import Codex
from .agents.mini_swe_agent import MiniSweAgent
from .agents.openhands import OpenHands
from .agents.swe_agent import SweAgent
from .base import Importer, ReadContext
from .benchmarks.agentprocessbench import AgentProcessBench
from .benchmarks.atif import Atif
from .benchmarks.inspect_log import InspectLog
from .benchmarks.tau2_bench import Tau2Bench
from .benchmarks.tau_bench import TauBench
from .benchmarks.who_and_when import WhoAndWhen
from .chats.anthropic import Anthropic
from .chats.openai_chat import OpenAIChat
from .chats.openai_responses import OpenAIResponses
from .chats.sharegpt import ShareGPT
from .decisions.aptbench import AptBench
from .decisions.plan_rewardbench import PlanRewardBench
from .decisions.toolprmbench import ToolPrmBench
from .decisions.tristep_decision import TristepDecision
from .external_importers import with_others
from .parts.archive import is_zip
from .traces.langchain import LangChain
from .traces.langfuse import Langfuse
from .traces.mlflow import MLflow
from .traces.opentelemetry import OpenTelemetry
from .unsupported_formats import kind_not_read

__all__ = ["FORMATS", "HEAD_BYTES", "Importer", "ReadContext", "RecordError", "by_name", "kind_of", "sniff"]

LINES_LOOKED_AT: Final = 5
LAST_RESORT: Final = 0.5
"""The certainty of the format of plain chats, whose marks many other logs have too."""

OWN: Final[tuple[Importer, ...]] = (
    AgentProcessBench(),
    TristepDecision(),
    ToolPrmBench(),
    PlanRewardBench(),
    AptBench(),
    InspectLog(),
    Atif(),
    Anthropic(),
    ClaudeCode(),
    OpenAIResponses(),
    Codex(),
    LangChain(),
    SweAgent(),
    MiniSweAgent(),
    OpenHands(),
    OpenTelemetry(),
    MLflow(),
    Langfuse(),
    Tau2Bench(),
    TauBench(),
    WhoAndWhen(),
    ShareGPT(),
    OpenAIChat(),
)

FORMATS: Final[dict[str, Importer]] = {importer.name: importer for importer in with_others(OWN)}


def by_name(name: str) -> Importer:
    """The importer called `name`. Raises `Invalid`, listing the known names."""
    try:
        return FORMATS[name]
    except KeyError:
        raise Invalid(
            translatable(
                "Unknown format “{name}”; choose from {formats}.",
                name=name[:60],
                formats=", ".join(FORMATS),
            ),
            code="unknown_format",
            fields={"format": translatable("must be one of {choices}", choices=", ".join(FORMATS))},
        ) from None


def kind_of(importer: Importer) -> ProjectKind:
    """The kind of project that files of a format belong into: its `kind`, or steps where it says none."""
    return kind_called(getattr(importer, "kind", STEPS.name))


def sniff(head: bytes) -> Importer:
    """The importer for a file that begins with `head` (its first `HEAD_BYTES`).

    Raises `Invalid` when the file is empty, no UTF-8 text, or of no known format.
    """
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise Invalid(translatable("The file is empty."), code="empty_file")
    if is_zip(head):
        return _archived(head)
    if reason := describe_not_text(head):
        raise Invalid(translatable("The file cannot be read: {reason}.", reason=reason), code="not_text")
    for beginning in _beginnings(head):
        best = max(FORMATS.values(), key=lambda importer: importer.sniff(beginning))
        sure = best.sniff(beginning)
        if sure <= LAST_RESORT and (kind := kind_not_read(beginning)):
            raise Invalid(
                translatable("This is {kind}, a format that Tristep does not read.", kind=kind),
                code="unknown_format",
            )
        if sure > 0:
            return best
    if {"step_labels", "final_label"} <= json_head(head).keys:
        raise Invalid(
            translatable(
                "This is a file of labels or predictions, without messages; it is not a trajectory file."
            ),
            code="unknown_format",
        )
    raise Invalid(
        translatable(
            "The format was not recognised: the first record has no list of messages. "
            "The formats are: {formats}.",
            formats=", ".join(FORMATS),
        ),
        code="unknown_format",
    )


def _archived(head: bytes) -> Importer:
    """The format of which an archive is one log. Raises `Invalid` for any other archive."""
    best = max(FORMATS.values(), key=lambda importer: importer.sniff(head))
    if best.sniff(head) > 0:
        return best
    raise Invalid(
        translatable("The file cannot be read: {reason}.", reason=describe_not_text(head) or ""),
        code="not_text",
    )


def _beginnings(head: bytes) -> Iterator[bytes]:
    """The head, then what follows its first lines: one bad record must not hide the format of the others."""
    yield head
    for _ in range(LINES_LOOKED_AT):
        head = head.partition(b"\n")[2].lstrip()
        if not head:
            return
        yield head
