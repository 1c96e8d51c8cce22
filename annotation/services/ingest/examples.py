"""Put the twelve training examples of the default guidelines into a project (fixtures/training)."""

import json
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils.translation import get_language

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.kinds import STEPS, refuse_other
from annotation.models import ImportFile, Invitation, Project, Trajectory, User
from annotation.policies import Actor, require

from .. import projects, training
from .receive import receive_file

SUBSET: Final = "training"
FOLDER: Final = Path(settings.BASE_DIR) / "fixtures" / "training"
LANGUAGES: Final = ("en", "zh-hans")
FORMAT: Final = "agentprocessbench"


def example_lines(language: str) -> list[bytes]:
    """The records with their keys, as published, reasons, and explanations in a language, named as browsers
    and Django do ("zh-CN"); in English where there are none."""
    name = LANGUAGES[1] if language.lower().startswith("zh") else LANGUAGES[0]
    records = (FOLDER / "trajectories.jsonl").read_bytes().splitlines()
    texts = (FOLDER / f"{name}.jsonl").read_bytes().splitlines()
    reasons = (FOLDER / "reasons.jsonl").read_bytes().splitlines()
    return [_joined(*lines) for lines in zip(records, texts, reasons, strict=True)]


def _joined(record: bytes, text: bytes, reasons: bytes) -> bytes:
    """The bytes of a record stay as they were published; what is ours comes before its last brace."""
    ours = {
        "explanations": json.loads(text)["explanations"],
        "step_reasons": json.loads(reasons)["step_reasons"],
    }
    more = json.dumps(ours, ensure_ascii=False).removeprefix("{")
    return b"%s, %s" % (record.rstrip().removesuffix(b"}"), more.encode())


@transaction.atomic
def add_examples(*, actor: Actor, project: Project, language: str = "", enqueue: bool = True) -> ImportFile:
    """Import the examples into the training subset `training`, made when missing: the import, queued.

    `language` is that of the explanations; empty: the actor's. Once more it changes nothing. With `enqueue`
    False the caller runs it (`run_import`). Raises Invalid for a project of another kind, Conflict when
    what is in `training` is there to be labelled.
    """
    require(actor, "training.change", project)
    refuse_other(project.of_kind, STEPS)
    subset = projects.ensure_subset(actor=actor, project=project, name=SUBSET)
    if not subset.training and Trajectory.objects.filter(subset=subset, live=True).exists():
        raise Conflict(
            translatable("What is in this project’s subset “{name}” is there to be labelled.", name=SUBSET),
            code="subset_in_use",
        )
    training.mark_training(actor=actor, subset=subset)
    spoken = language or (actor.language if isinstance(actor, User) else "") or get_language() or ""
    return receive_file(
        actor=actor,
        project=project,
        subset=SUBSET,
        filename="training-examples.jsonl",
        chunks=(line + b"\n" for line in example_lines(spoken)),
        format=FORMAT,
        enqueue=enqueue,
    )


@transaction.atomic
def start_with_examples(*, actor: Actor, **details: Any) -> tuple[Project, list[tuple[Invitation, str]]]:
    """Start a project as `projects.start_project` does, with the examples on their way into it."""
    project, invited = projects.start_project(actor=actor, **details)
    add_examples(actor=actor, project=project)
    return project, invited
