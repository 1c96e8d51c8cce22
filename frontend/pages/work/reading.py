"""The reading view of a trajectory: the task beside it, its messages laid out, its tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from annotation.core import default_guideline
from annotation.models import Guideline, Project, Step, Trajectory
from annotation.reports.shared.transcripts import Transcript
from frontend.rendering import markdown, transcript
from frontend.rendering.identity import title_of


def reading(trajectory: Trajectory, read: Transcript, steps: Sequence[Step]) -> dict[str, Any]:
    """The context of `workbench/task.html` and of the run beside it."""
    return {
        "trajectory": trajectory,
        "record_id": title_of(trajectory.record_id, read.question),
        "messages": transcript.lay_out(read, steps),
        "question": transcript.TextBlock(transcript.escape_control_chars(read.question), foldable=True),
        "description": transcript.facts(read.task_description),
        "reference": transcript.facts(read.reference_answer),
        **transcript.hints_and_source(read.hints),
        "tools": transcript.tools(read),
    }


def guidelines_of(project: Project) -> dict[str, Any]:
    """The guidelines in force, for their dialog. One query."""
    return guidelines_shown(Guideline.objects.filter(project=project).order_by("-version").first())


def guidelines_shown(found: Guideline | None) -> dict[str, Any]:
    """The context of `workbench/reading_dialogs.html`."""
    return {
        "guidelines": markdown.render(found.text) if found is not None and found.text else "",
        "guideline_headings": json.dumps(default_guideline.headings(), ensure_ascii=False),
        "guideline_version": found.version if found is not None else None,
    }
