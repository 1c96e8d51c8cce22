"""Train the baseline at the beginning of every run; the model is kept in memory only.

A judge is one training. From its first suggestion on, its later runs train on exactly the same labels again
(the resolved ones of that time), and end with a sentence when that is not possible any more. What has been
resolved since is for another baseline judge, so that all suggestions of a judge can be told from one model.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from annotation.core.baseline.features import VERSION, step_features
from annotation.core.baseline.training import METHOD, TrainingExample, digest, task_of, train
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.judging import JudgeInput
from annotation.core.label_files import LabelLine, read_label_lines
from annotation.core.seed import SEED
from annotation.core.text import escape
from annotation.importers import ReadContext, RecordError, by_name
from annotation.models import Consensus, Judge, OutcomeConsensus, Suggestion, SuggestionRun, TrajectoryContent
from annotation.policies import OPERATOR
from annotation.providers import Hooks, Stopped
from annotation.providers.baseline import Baseline

from .. import audit

FEWEST_STEPS: Final = 30
FEWEST_TASKS: Final = 5
"""With fewer labelled steps, or of fewer tasks, the demo release is what it is trained on."""
LOADED_AT_ONCE: Final = 20
DEMO: Final = Path(settings.BASE_DIR) / "fixtures" / "demo"
NO_TRAJECTORIES: Final = ("adjudications", "drafts")

Alive = Callable[[], None]


def open_baseline(run: SuggestionRun, hooks: Hooks, alive: Alive = lambda: None) -> Baseline:
    """The judge of a run, trained. `alive` is called all along (seconds), and may raise.

    Writes what it was trained on, and its figures, into the judge's details. Raises Invalid when the judge
    has suggestions already and what it was trained on is not there any more, or is different, or the method
    was another; Stopped when another worker was first.
    """
    judge = run.judge
    fixed = judge.details if Suggestion.objects.filter(judge=judge).exists() else {}
    if fixed and fixed.get("method") != METHOD:
        raise Invalid(
            translatable(
                "An earlier version of Tristep trained this baseline, and its model cannot be made again; "
                "add another baseline for the remaining trajectories."
            ),
            code="training_changed",
        )
    source, until, examples = _examples(judge, fixed, alive)
    seed = fixed.get("seed", SEED)
    checksum = digest(examples, seed=seed)
    if fixed and fixed.get("digest") != checksum:
        raise _changed()
    trained, figures = train(examples, seed=seed, alive=alive)
    if not fixed:
        about = {
            "trained_on": source,
            "until": None if until is None else until.isoformat(),
            "n_steps": sum(len(example.labels) for example in examples),
            "n_trajectories": len(examples),
            "n_tasks": len({example.task for example in examples}),
            "seed": seed,
            "features_version": VERSION,
            "method": METHOD,
            "digest": checksum,
        }
        _write_down(run, about | figures)
    return Baseline(trained, _tasks(run), hooks)


def _changed() -> Invalid:
    return Invalid(
        translatable(
            "The labels this baseline was trained on have changed since its first suggestions; add "
            "another baseline for the remaining trajectories."
        ),
        code="training_changed",
    )


@transaction.atomic
def _write_down(run: SuggestionRun, details: dict[str, Any]) -> None:
    judge = Judge.objects.select_for_update(no_key=True).get(pk=run.judge_id)
    if Suggestion.objects.filter(judge=judge).exists():
        # another worker has taken the run meanwhile, and its training stands
        raise Stopped
    Judge.objects.filter(pk=judge.pk).update(details=details)
    run.judge.details = details
    audit.record(
        actor=run.created_by or OPERATOR,
        verb="judge.train",
        project=run.project,
        obj=judge,
        trained_on=details["trained_on"],
        steps=details["n_steps"],
        digest=details["digest"],
    )


def _tasks(run: SuggestionRun) -> dict[str, str]:
    rows = run.items.order_by().values_list(
        "trajectory_id", "trajectory__task_id", "trajectory__task__question"
    )
    return {str(pk): task_of(question, f"task {task}") for pk, task, question in rows.iterator()}


# ── What it is trained on ─────────────────
def _examples(
    judge: Judge, fixed: dict[str, Any], alive: Alive
) -> tuple[str, datetime | None, list[TrainingExample]]:
    """The source of the examples ("consensus", "demo"), until when that was resolved, and the examples."""
    if fixed.get("trained_on") == "demo":
        return "demo", None, demo_examples(alive)
    # what is resolved while they are being read is left for another judge
    until = parse_datetime(fixed["until"]) if fixed else timezone.now()
    assert until is not None
    examples = list(_resolved(judge, until, alive))
    enough = sum(len(example.labels) for example in examples) >= FEWEST_STEPS
    if fixed and not examples:
        raise _changed()
    if fixed or (enough and len({example.task for example in examples}) >= FEWEST_TASKS):
        return "consensus", until, examples
    return "demo", None, demo_examples(alive)


def _resolved(judge: Judge, until: datetime, alive: Alive) -> Iterator[TrainingExample]:
    """The live trajectories of the project that were resolved by then, in their order; one in memory at a
    time."""
    resolved = OutcomeConsensus.objects.filter(
        trajectory__project=judge.project_id, trajectory__live=True, created_at__lte=until
    )
    outcomes = dict(resolved.order_by("trajectory_id").values_list("trajectory_id", "value"))
    pks = list(outcomes)
    for start in range(0, len(pks), LOADED_AT_ONCE):
        part = pks[start : start + LOADED_AT_ONCE]
        labels: dict[int, dict[int, int]] = {pk: {} for pk in part}
        rows = Consensus.objects.filter(trajectory__in=part, created_at__lte=until).order_by()
        for pk, index, value in rows.values_list("trajectory_id", "step__message_index", "value"):
            labels[pk][index] = value
        contents = (
            TrajectoryContent.objects.filter(trajectory__in=part)
            .order_by("trajectory_id")
            .select_related("trajectory__task")
            .only("content", "trajectory__task__question")
        )
        for content in contents:
            alive()
            pk, task = content.trajectory_id, content.trajectory.task
            material = JudgeInput.of(content.parsed())
            if set(material.steps) - labels[pk].keys():
                # its case was opened again a moment ago
                continue
            yield _example(material, task_of(task.question, f"task {task.pk}"), labels[pk], outcomes[pk])


def _example(material: JudgeInput, task: str, labels: dict[int, int], outcome: int) -> TrainingExample:
    return TrainingExample(
        task=task,
        features=step_features(material),
        labels=tuple(labels[index] for index in material.steps),
        outcome=outcome,
    )


def demo_examples(alive: Alive = lambda: None) -> list[TrainingExample]:
    """The demo release, from its files: what both annotators labelled alike, or an adjudicator decided."""
    resolved = dict(_demo_consensus())
    examples = []
    for path in sorted(DEMO.glob("*.jsonl")):
        if path.stem in NO_TRAJECTORIES:
            continue
        with path.open("rb") as stream:
            for draft in by_name("agentprocessbench").read(stream, ReadContext(filename=path.name)):
                alive()
                if isinstance(draft, RecordError) or draft.record_id not in resolved:
                    continue
                labels, outcome = resolved[draft.record_id]
                task = task_of(escape(draft.question), f"demo {draft.task_key}")
                examples.append(_example(JudgeInput.of(draft.content()), task, labels, outcome))
    return examples


def _demo_consensus() -> Iterator[tuple[str, tuple[dict[int, int], int]]]:
    first, second = (_lines(path) for path in sorted((DEMO / "labels").glob("*.jsonl")))
    decided = {
        line["record_id"]: line
        for line in map(json.loads, (DEMO / "adjudications.jsonl").read_text(encoding="utf-8").splitlines())
    }
    for record, own in first.items():
        other = second.get(record)
        if other is None:
            continue
        final = decided.get(record, {})
        outcome = own.final_label if own.final_label == other.final_label else final.get("final_label")
        steps = {
            index: value
            if value == other.step_labels.get(index)
            else final.get("step_labels", {}).get(str(index))
            for index, value in own.step_labels.items()
        }
        if outcome is not None and None not in steps.values():
            yield record, ({index: value for index, value in steps.items() if value is not None}, outcome)


def _lines(path: Path) -> dict[str, LabelLine]:
    with path.open("rb") as stream:
        return read_label_lines(stream, path.name).lines
