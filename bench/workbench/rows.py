"""The workbench bench in the product's own process: projects to label, and what is stored afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def prepare(
    folder: Path,
    start: Callable[[str], dict[str, Any]],
    import_file: Callable[[str, Path], dict[str, Any]],
) -> dict[str, Any]:
    """A project for each `NAME.jsonl` in the folder, with carry_forward where the name ends with "carry"."""
    from annotation.models import Project
    from annotation.policies import OPERATOR
    from annotation.services import projects

    made = {}
    for path in sorted(folder.glob("*.jsonl")):
        start(path.stem)
        project = Project.objects.get(slug=path.stem)
        if path.stem.endswith("carry"):
            projects.update_project(actor=OPERATOR, project=project, values={"carry_forward": True})
        made[path.stem] = import_file(path.stem, path)["trajectories"]
    return made


def stored(slug: str) -> dict[str, Any]:
    """What is in the database, by record: {"state", "labels": {message index: [value, source]}, "outcome",
    "events": [[message index, value, source, kind], …] of steps, in the order in which they were made}."""
    from annotation.models import Assignment, Label, LabelEvent, OutcomeLabel

    found: dict[str, Any] = {}
    by_assignment: dict[int, dict[str, Any]] = {}
    assignments = Assignment.objects.filter(project__slug=slug).select_related("trajectory")
    for assignment in assignments:
        entry: dict[str, Any] = {"state": assignment.state, "labels": {}, "outcome": None, "events": []}
        found[assignment.trajectory.record_id] = by_assignment[assignment.pk] = entry
    labels = Label.objects.filter(assignment__in=by_assignment).select_related("step")
    for label in labels:
        entry = by_assignment[label.assignment_id]
        entry["labels"][str(label.step.message_index)] = [label.value, label.source]
    for outcome in OutcomeLabel.objects.filter(assignment__in=by_assignment):
        by_assignment[outcome.assignment_id]["outcome"] = outcome.value
    events = LabelEvent.objects.filter(assignment__in=by_assignment, step__isnull=False)
    for event in events.select_related("step"):
        index = event.step.message_index if event.step else None
        by_assignment[event.assignment_id]["events"].append([index, event.value, event.source, event.kind])
    return found
