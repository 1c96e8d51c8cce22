"""Texts beside the messages of a trajectory: question, description, reference answer, hints, tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotation.core.trajectories import tool_schema
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering.allowance import BESIDE_BYTES, PER_TEXT, PER_VALUE, TOOLS_BYTES, Allowance, bytes_of
from frontend.rendering.blocks import StructureBlock, TextBlock, laid_out, value_block
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.step_costs import run_cost_text

ANSWERS: Final = ("answer", "target", "targets", "final_answer")
"""The fields of a reference answer that are shown first."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Something from the record as named blocks; a single one has no name. `cut`: that is not all of it."""

    named: tuple[tuple[str, TextBlock | StructureBlock], ...] = ()
    cut: bool = False

    def __bool__(self) -> bool:
        return self.cut or bool(self.named)


def beside(transcript: Transcript) -> dict[str, Any]:
    """The context of the templates that show a trajectory's task."""
    offered = transcript.offered_tools()
    shown = tools(offered)
    return {
        "question": question(transcript.question),
        "description": facts(transcript.task_description),
        "reference": facts(transcript.reference_answer),
        **hints_and_source(transcript.hints),
        "tools": shown,
        "tools_left_out": len(offered) - len(shown),
        "cost": run_cost_text(transcript),
    }


def question(text: str) -> TextBlock:
    """The question of a task, or its beginning."""
    block = TextBlock(escape_control_chars(text), foldable=True)
    return Allowance(BESIDE_BYTES).text(block) or block


def facts(value: Any) -> Facts:
    """Something from the record (reference answer, hints …), as much of it as may be drawn."""
    allowance = Allowance(BESIDE_BYTES)
    shown = []
    for name, held in _named(value):
        if not allowance.spend(PER_VALUE + bytes_of(name)):
            break
        block = allowance.block(value_block(held))
        if block is None:
            break
        shown.append((escape_control_chars(name), block))
    return Facts(tuple(shown), allowance.cut)


def _named(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        named = [(str(name), one) for name, one in value.items() if one not in (None, "", [], {})]
        return sorted(named, key=lambda pair: pair[0] not in ANSWERS)
    return [] if value in (None, "", []) else [("", value)]


def hints_and_source(hints: Mapping[str, Any] | None) -> dict[str, Facts]:
    """The hints of a record beside its run, as blocks: the source that it was converted from (`source`), and
    the rest."""
    rest = dict(hints or {})
    source = rest.pop("source", None) if isinstance(rest.get("source_steps"), dict) else None
    if not isinstance(source, dict):
        return {"hints": facts(hints), "source": Facts()}
    steps = rest.pop("source_steps")
    return {"hints": facts(rest), "source": facts({**source, "source_steps": steps})}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the agent had. `raw`: the entry laid out, when it has no parameters to be shown by name."""

    name: str
    description: str
    parameters: tuple[tool_schema.Parameter, ...]
    raw: str

    @property
    def size(self) -> int:
        """About how many bytes of HTML it takes."""
        texts = [self.name, self.description, self.raw]
        choices = 0
        for one in self.parameters:
            texts += [one.name, one.type, one.description, *one.choices, one.default]
            choices += len(one.choices)
        return PER_TEXT * (1 + len(self.parameters)) + PER_VALUE * choices + sum(map(bytes_of, texts))


def tools(offered: Sequence[tool_schema.Tool]) -> list[Tool]:
    """Tools for reading, as many as may be drawn."""
    allowance = Allowance(TOOLS_BYTES)
    described = []
    for tool in offered:
        shown = Tool(
            name=escape_control_chars(tool.name),
            description=escape_control_chars(tool.description),
            parameters=tool.parameters,
            raw="" if tool.parameters or isinstance(tool.spec, str) else laid_out(tool.schema or tool.spec),
        )
        if not allowance.spend(shown.size):
            break
        described.append(shown)
    return described
