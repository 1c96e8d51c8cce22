"""Labels that stood in imported files, as the suggestions of a judge: on request, and never as a person's."""

import io
import json
from collections.abc import Iterator
from typing import Any

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import unescape
from annotation.core.trajectories.trajectory import SourceLabel
from annotation.core.vocabulary import VALUES
from annotation.models import ImportFile, Trajectory
from annotation.policies import Actor, require

from .import_file import SuggestionImport, import_suggestions

OWN = "tristep"
MISTAKE = "mistake_step"
OUTCOME_WORDS = {"C": 1, "I": -1, "P": 0, "N": 0, "PASS": 1, "FAIL": -1, "correct": 1, "incorrect": -1}
"""Outcomes by scores in words: Inspect's letters, and words that several programs use."""


def suggest_source_labels(*, actor: Actor, source: ImportFile, judge_name: str) -> SuggestionImport:
    """Store what a published import's file said of steps and outcomes as what a judge of this name suggests.

    Of a step counts only what says in so many words whether it was right: labels of ours, and Who&When's
    mistake. Of an outcome also a score of 1 (right) or 0 (wrong), true, false, and words that say as much.
    Where a file says several things of one message, the first that can be read counts. Raises Invalid when
    nothing of it is a label, else as `import_suggestions`.
    """
    require(actor, "judges.change", source.project)
    lines = b"".join(_lines(source))
    if not lines:
        raise Invalid(translatable("No trajectory of this import has a label or a score that can be read."))
    return import_suggestions(
        actor=actor,
        project=source.project,
        judge_name=judge_name,
        stream=io.BytesIO(lines),
        filename=source.filename,
        subset=source.target.name,
    )


def has_source_labels(*, source: ImportFile) -> bool:
    """Whether any trajectory of an import has labels that stood in the file. One query."""
    labelled = Trajectory.objects.filter(source=source, live=True, content__source_labels__isnull=False)
    return labelled.exists()


def _lines(source: ImportFile) -> Iterator[bytes]:
    """Lines of a prediction file (docs/formats.md, "Label and prediction files")."""
    rows = Trajectory.objects.filter(source=source, live=True, content__source_labels__isnull=False)
    for row in rows.select_related("content").iterator(chunk_size=200):
        line = label_line(row.content.labels_of_source())
        if line:
            yield json.dumps({"record_id": unescape(row.record_id), **line}).encode() + b"\n"


def label_line(labels: tuple[SourceLabel, ...]) -> dict[str, Any]:
    """The labels of one trajectory as the keys of a prediction line; empty when none can be read."""
    steps: dict[str, int] = {}
    reasons: dict[str, str] = {}
    outcome: int | None = None
    comments = []
    for label in labels:
        value = _value(label)
        if value is None:
            continue
        if label.message is None:
            outcome = value if outcome is None else outcome
            comments.append(f"{label.name}: {label.reason}" if label.reason else label.name)
        elif str(label.message) not in steps:
            steps[str(label.message)] = value
            reasons[str(label.message)] = label.reason
    if not steps and outcome is None:
        return {}
    return {
        "step_labels": steps,
        "final_label": outcome,
        "explanations": {index: reason for index, reason in reasons.items() if reason},
        "comment": "\n".join(comments),
    }


def _value(label: SourceLabel) -> int | None:
    """The value on our scale, or `None` for what cannot be read as one."""
    value, number = label.value, isinstance(label.value, int | float)
    if label.name.startswith(OWN) or label.name == MISTAKE:
        on_scale = number and not isinstance(value, bool) and value in VALUES
        return int(value) if on_scale else None
    if label.message is not None:
        return None  # a score of a step may mean anything: relevance, cost, tone
    if isinstance(value, str):
        return OUTCOME_WORDS.get(value.strip())
    return {1: 1, 0: -1, -1: -1}.get(value) if number else None
