"""The prompts of a release, made again from its records and the options of a set."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from annotation.core.asking.drawing import Drawn, drawn_of_json
from annotation.core.asking.making import ANY, Mark, Marked, PromptLine, PromptMaking
from annotation.core.errors import Conflict, NotFound
from annotation.core.i18n import translatable
from annotation.core.vocabulary import PromptSetState
from annotation.models import PromptSet, Release, ReleaseRecord, Trajectory

from ..shared.frozen_trajectories import frozen_trajectories
from ..shared.release_labels import parsed_record

READ_AT_ONCE: Final = 100


def reader(
    release: Release, on_read: Callable[[int], None] = lambda _n: None
) -> Callable[[Collection[int] | None], Iterator[tuple[int, dict[str, Any]]]]:
    """Reads records of a release with their ordinals, in order and in the memory of a hundred; `on_read` is
    told of so many each time. Between two readings of the database no cursor is open, so that others may
    write. Raises Conflict on a damaged one."""

    def read(ordinals: Collection[int] | None) -> Iterator[tuple[int, dict[str, Any]]]:
        rows = ReleaseRecord.objects.filter(release=release).order_by("ordinal")
        if ordinals is None:
            at = 0
            while part := list(rows.filter(ordinal__gte=at)[:READ_AT_ONCE]):
                yield from _parsed(part)
                on_read(len(part))
                at = part[-1].ordinal + 1
            return
        wanted = sorted(ordinals)
        for start in range(0, len(wanted), READ_AT_ONCE):
            yield from _parsed(list(rows.filter(ordinal__in=wanted[start : start + READ_AT_ONCE])))

    return read


def _parsed(rows: list[ReleaseRecord]) -> Iterator[tuple[int, dict[str, Any]]]:
    for row in rows:
        yield row.ordinal, parsed_record(row.record_id, row.body)


def made_again(row: PromptSet) -> PromptMaking:
    """The prompts of a set that was made, which comes with its release. Raises Conflict where it is not made
    (yet)."""
    if row.state != PromptSetState.MADE:
        raise Conflict(translatable("These prompts are not made yet."), code="not_made")
    return PromptMaking(
        reader(row.release),
        row.parsed_settings,
        drawn=drawn_of_json(json.loads(row.drawn)),
        marked=Marked.unpacked(bytes(row.marked)),
    )


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """One prompt of a set, the `number`-th of `total` (from 1), and the examples in it."""

    line: PromptLine
    number: int
    total: int
    examples: tuple[Drawn, ...]


def preview(row: PromptSet, number: int, *, wanted: Mark = ANY) -> PromptPreview | None:
    """The `number`-th prompt of those that have these marks; None where there are none. Raises NotFound for
    a number that there is not."""
    making = made_again(row)
    ordinals = making.marked.having(wanted)
    if not ordinals:
        return None
    if not 1 <= number <= len(ordinals):
        raise NotFound(translatable("There is no such prompt."))
    (line,) = making.lines([ordinals[number - 1]])
    return PromptPreview(line, number, len(ordinals), making.shown(line.asked))


def asked_trajectories(row: PromptSet) -> list[int]:
    """The trajectories, by pk, of the prompts of a set that are for testing, in the order of the release;
    without those whose content is another by now. Raises Conflict on a damaged record."""
    frozen = frozen_trajectories(row.release)
    by_ordinal = {ordinal: pk for pk, ordinal in frozen.place.items() if pk in frozen.live}
    return [by_ordinal[at] for at in made_again(row).marked.having(Mark.TEST) if at in by_ordinal]


def records_of(row: PromptSet, trajectories: Collection[int]) -> dict[int, int]:
    """The ordinals of their records in the release, by the pks of trajectories. Two queries."""
    names = {
        pk: (subset, record_id)
        for pk, subset, record_id in Trajectory.objects.filter(pk__in=trajectories).values_list(
            "pk", "subset__name", "record_id"
        )
    }
    rows = ReleaseRecord.objects.filter(
        release=row.release, record_id__in={record_id for _subset, record_id in names.values()}
    )
    ordinals = {
        (subset, record_id): ordinal
        for subset, record_id, ordinal in rows.values_list("subset", "record_id", "ordinal")
    }
    return {pk: ordinals[name] for pk, name in names.items() if name in ordinals}


def prompts_of(row: PromptSet, trajectories: Collection[int]) -> dict[int, str]:
    """The prompts of some trajectories, by pk. Raises Conflict on a damaged record."""
    places = records_of(row, trajectories)
    lines = {line.ordinal: line for line in made_again(row).lines(list(places.values()))}
    return {
        pk: prompt.text for pk, ordinal in places.items() if (prompt := lines[ordinal].prompt) is not None
    }
