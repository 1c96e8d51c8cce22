"""Read the prompts of a release: as a file, and one by one.

Their examples show what is right in tasks outside the test split. So whoever reads them is noted as knowing
the consensus of these trajectories, as with every export; of what is tested they say nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from annotation.core.asking.drawing import Drawn
from annotation.core.asking.making import ANY, Mark, PromptMaking, line_bytes
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.core.vocabulary import AssignmentState, ExposureKind
from annotation.models import Assignment, PromptSet, Release, ReleaseRecord, Trajectory, User
from annotation.policies import Actor, require
from annotation.reports.releases.prompts import PromptPreview, made_again, preview

from .. import audit, exposures


def prompt_lines(*, actor: Actor, row: PromptSet) -> Iterator[bytes]:
    """The file of a set of prompts, line by line in the memory of a few records: each time the same bytes.

    Permission is asked at once, and what the examples tell is noted. Raises Conflict for a set that is not
    made; and in place of the last line where the bytes are not those that were made.
    """
    require(actor, "release.view", row.release)
    making = made_again(row)
    _note(actor, row.release, [one for drawn in making.drawn.values() for one in drawn])
    audit.record(
        actor=actor,
        verb="prompts.export",
        project=row.release.project,
        obj=row,
        release=row.release.version,
        name=row.name,
    )
    return _lines(row, making)


def _lines(row: PromptSet, making: PromptMaking) -> Iterator[bytes]:
    digest, held = hashlib.sha256(), b""
    for line in making.lines():
        if not (data := line_bytes(line)):
            continue
        if held:
            yield held
        digest.update(data)
        held = data
    if digest.hexdigest() != row.digest:
        raise Conflict(
            translatable("These prompts do not come out as they were made; make them anew."), code="damaged"
        )
    yield held


def shown_prompt(*, actor: User, row: PromptSet, number: int, wanted: Mark = ANY) -> PromptPreview | None:
    """The `number`-th prompt of a set (from 1), of those that have these marks; None where there are none.
    What its examples tell is noted.

    Raises NotFound for a number that there is not, and Conflict (code "labelling") to whoever is labelling
    one of its examples at present.
    """
    require(actor, "release.view", row.release)
    shown = preview(row, number, wanted=wanted)
    if shown is not None:
        seen = _trajectories(row.release, shown.examples)
        own = Assignment.stored.filter(trajectory__in=seen, annotator=actor, state=AssignmentState.OPEN)
        if own.exists():
            raise Conflict(
                translatable("You are labelling an example of this prompt; submit it first."),
                code="labelling",
            )
        exposures.expose_all(user=actor, trajectories=seen, kind=ExposureKind.CONSENSUS)
    return shown


def _note(actor: Actor, release: Release, examples: Collection[Drawn]) -> None:
    if isinstance(actor, User):
        seen = _trajectories(release, examples)
        exposures.expose_all(user=actor, trajectories=seen, kind=ExposureKind.CONSENSUS)


def _trajectories(release: Release, examples: Collection[Drawn]) -> list[int]:
    """The live trajectories of these examples, by pk. Two queries."""
    rows = ReleaseRecord.objects.filter(release=release, ordinal__in={one.ordinal for one in examples})
    names = set(rows.values_list("subset", "record_id"))
    live = Trajectory.objects.filter(
        project=release.project_id,
        live=True,
        record_id__in={escape(one.record_id) for one in examples},
    ).values_list("pk", "subset__name", "record_id")
    return [pk for pk, subset, record_id in live if (subset, record_id) in names]
