"""Reading one record or several with a format of ours, for tests."""

import io
import json
from typing import Any

from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers import FORMATS, ReadContext, RecordError

CHAT = [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A."}]
RECORD: dict[str, Any] = {
    "data_source": "s",
    "query_index": 0,
    "sample_index": 1,
    "question": "Q?",
    "messages": CHAT,
    "step_labels": {"1": 1},
    "final_label": 1,
}


def read(
    name: str, *records: Any, models: dict[int, str] | None = None, limit: int = 1 << 20
) -> list[TrajectoryDraft | RecordError]:
    text = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    context = ReadContext("f.jsonl", models or {}, limit)
    return list(FORMATS[name].read(io.BytesIO(text.encode("utf-8", "surrogatepass")), context))


def draft(name: str, record: Any, **options: Any) -> TrajectoryDraft:
    found = read(name, record, **options)
    assert len(found) == 1
    assert isinstance(found[0], TrajectoryDraft), found[0]
    return found[0]


def apb(**changes: Any) -> TrajectoryDraft:
    return draft("agentprocessbench", {**RECORD, **changes})


def chat(**changes: Any) -> TrajectoryDraft:
    return draft("openai_chat", {"messages": CHAT, **changes})


def errors(name: str, *records: Any) -> list[str]:
    return [
        str(item).removeprefix("f.jsonl:") for item in read(name, *records) if isinstance(item, RecordError)
    ]


def apb_errors(**changes: Any) -> list[str]:
    return errors("agentprocessbench", {k: v for k, v in {**RECORD, **changes}.items() if v is not ...})
