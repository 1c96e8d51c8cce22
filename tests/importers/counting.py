"""The counts of a sample of another project, to be compared with those that were counted without our code."""

from pathlib import Path

from annotation.core.errors import Invalid
from annotation.core.trajectories.trajectory import TrajectoryDraft, normalise, step_indexes
from annotation.importers import FORMATS, HEAD_BYTES, ReadContext, sniff


def count_of(path: Path) -> tuple[str, dict[str, int], list[str]]:
    """(the format that it is taken for, its counts, what is wrong with it)."""
    with path.open("rb") as stream:
        try:
            name = sniff(stream.read(HEAD_BYTES)).name
        except Invalid as refusal:
            return "", {}, [refusal.message]
        stream.seek(0)
        found = list(FORMATS[name].read(stream, ReadContext(path.name)))
    drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    messages = [message for draft in drafts for message in normalise(draft.messages)]
    counts = {
        "trajectories": len(drafts),
        "steps": sum(len(step_indexes(draft.messages)) for draft in drafts),
        "calls": sum(len(message.tool_calls) for message in messages if message.role == "assistant"),
        "results": sum(message.role == "tool" for message in messages),
        "images": sum(part.kind == "image" for message in messages for part in message.parts),
    }
    return name, counts, [str(item) for item in found if not isinstance(item, TrajectoryDraft)]
