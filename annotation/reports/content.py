"""Reading the stored content of a trajectory."""

import json
import zlib
from typing import Any

from annotation.models import Trajectory, TrajectoryContent


def content_of(trajectory: Trajectory) -> dict[str, Any]:
    """The parsed record (core.trajectory.TrajectoryDraft.content), texts as in the file. One query unless
    joined."""
    content: dict[str, Any] = json.loads(zlib.decompress(bytes(trajectory.content.content)))
    return content


def raw_of(trajectory: Trajectory) -> bytes:
    """The record as it came in, bytes. For those whose `field_access` has `raw` only: labels may stand
    in them."""
    row: TrajectoryContent = trajectory.content
    return zlib.decompress(bytes(row.raw))
