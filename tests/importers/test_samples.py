"""Every sample of another project: the format that it is taken for, which no other claims as surely."""

from pathlib import Path

import pytest

from annotation.core.errors import Invalid
from annotation.importers import FORMATS, HEAD_BYTES, sniff

READ = {
    "atif": "atif",
    "claude_agent_sdk": "anthropic",
    "claude_code": "claude_code",
    "codex": "codex",
    "inspect": "inspect",
    "langchain": "langchain",
    "langfuse": "langfuse",
    "mini_swe_agent": "mini_swe_agent",
    "mlflow": "mlflow",
    "openai_chat_logs": "openai_chat",
    "openai_responses": "openai_responses",
    "openhands": "openhands",
    "openinference": "opentelemetry",
    "otel_genai": "opentelemetry",
    "phoenix_rest": "opentelemetry",
    "sharegpt": "sharegpt",
    "swe_agent_traj": "swe_agent",
    "tau2_results": "tau2_bench",
    "tau_bench_v1": "tau_bench",
    "who_and_when": "who_and_when",
}
NOT_READ = {"adk", "autogen", "bfcl_results", "gemini", "pydantic_ai", "smolagents", "tooltalk"}


@pytest.mark.published
def test_samples_are_taken_for_their_own_format_and_by_no_other(published: Path) -> None:
    folders = [path for path in (published / "formats").iterdir() if path.is_dir()]
    assert {path.name for path in folders} == READ.keys() | NOT_READ
    for path in (file for folder in folders for file in folder.iterdir()):
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        sure = {name: importer.sniff(head) for name, importer in FORMATS.items()}
        own = READ.get(path.parent.name)
        if own is None:
            with pytest.raises(Invalid):
                sniff(head)
            continue
        assert sniff(head).name == own, path
        others = max(value for name, value in sure.items() if name != own)
        assert sure[own] > others, (path, sure)
