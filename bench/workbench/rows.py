"""The workbench bench in the product's own process: projects to label, and what is stored afterwards."""

from __future__ import annotations

from typing import Any

from bench import inside


def prepare(slug: str, path: str) -> dict[str, Any]:
    """A project with the trajectories of a file, with carry_forward where its name ends with "carry"."""
    from annotation.models import Project
    from annotation.policies import OPERATOR
    from annotation.services import projects

    inside.start(slug)
    if slug.endswith("carry"):
        project = Project.objects.get(slug=slug)
        projects.update_project(actor=OPERATOR, project=project, values={"carry_forward": True})
    return inside.import_file(slug, path)


def stored(slug: str) -> dict[str, Any]:
    """The stored labels, by record: {"state", "labels": {message index: [value, source]}, "outcome"}."""
    from annotation.models import Assignment, Label, OutcomeLabel

    found: dict[str, Any] = {}
    by_assignment: dict[int, dict[str, Any]] = {}
    assignments = Assignment.objects.filter(project__slug=slug).select_related("trajectory")
    for assignment in assignments:
        entry: dict[str, Any] = {"state": assignment.state, "labels": {}, "outcome": None}
        found[assignment.trajectory.record_id] = by_assignment[assignment.pk] = entry
    labels = Label.objects.filter(assignment__in=by_assignment).select_related("step")
    for label in labels:
        entry = by_assignment[label.assignment_id]
        entry["labels"][str(label.step.message_index)] = [label.value, label.source]
    for outcome in OutcomeLabel.objects.filter(assignment__in=by_assignment):
        by_assignment[outcome.assignment_id]["outcome"] = outcome.value
    return found
