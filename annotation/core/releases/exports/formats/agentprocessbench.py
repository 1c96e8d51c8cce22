"""The files of a release as they were frozen, in the AgentProcessBench shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from annotation.core.i18n import translatable
from annotation.core.releases.record_format import file_name

from .base import ExportFormat


def snippets(config: str, _split: str) -> Iterator[tuple[str, str]]:
    """Ways to load a subset's lines."""
    name = file_name(config)
    yield (
        "json",
        "import json\n\n"
        f'with open("{name}", encoding="utf-8") as lines:\n'
        "    records = [json.loads(line) for line in lines]",
    )
    yield (
        "datasets",
        "from datasets import load_dataset\n\n"
        f'records = load_dataset("json", data_files="{name}", split="train")',
    )


AGENTPROCESSBENCH: Final = ExportFormat(
    name="agentprocessbench", title=translatable("AgentProcessBench files"), snippets=snippets
)
