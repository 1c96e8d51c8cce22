"""Finding the trajectories and steps that a label or prediction file names by record id."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import BinaryIO, NamedTuple, TypeVar

from annotation.core.i18n import translatable
from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import IN_SEVERAL, LabelFile, LabelLine, excerpt, read_label_lines
from annotation.core.text import escape, unescape
from annotation.models import Project, Step, Trajectory

LOOKUP = 500
NOT_HERE = translatable("{record} is not in this project")

T = TypeVar("T")


class StepKey(NamedTuple):
    """The fields of a step for an import. Files have millions of them: no model instances."""

    pk: int
    message_index: int
    after_user_turn: bool


def read_file(stream: BinaryIO, filename: str) -> LabelFile:
    """The lines of a file and its errors; a file that says nothing at all is an error too."""
    file = read_label_lines(stream, filename)
    refuse_nothing(file.lines, file.errors)
    return file


def refuse_nothing(lines: Collection[object] | int, errors: FileErrors) -> None:
    """A file that says nothing at all is an error of it."""
    if not lines and not errors:
        errors.add(RecordError(errors.filename, 1, "", translatable("there is no label line in this file")))


def find_trajectories(project: Project, subset: str, record_ids: Iterable[str]) -> dict[str, int | None]:
    """The live trajectories of these record ids: pks, or None where several subsets have the record.

    Looks in the subset of that name, or in all when it is empty. A record that is not found has no entry.
    """
    live = Trajectory.objects.filter(project=project, live=True)
    if subset:
        live = live.filter(subset__name=subset)
    matches: dict[str, int | None] = {}
    for part in chunks(escape(record_id) for record_id in record_ids):
        rows = live.filter(record_id__in=part).order_by()
        for pk, stored_as in rows.values_list("pk", "record_id"):
            record_id = unescape(stored_as)
            matches[record_id] = None if record_id in matches else pk
    return matches


def matched_lines(
    lines: Iterable[LabelLine], matches: Mapping[str, int | None], errors: FileErrors
) -> Iterator[tuple[LabelLine, int]]:
    """Each line with the pk that `find_trajectories` found for it; other lines become errors of the file."""
    for line in lines:
        pk = matches.get(line.record_id)
        if pk is not None:
            yield line, pk
            continue
        several = line.record_id in matches
        problem = IN_SEVERAL if several else NOT_HERE
        errors.add(record_error(line, problem, errors.filename))


def record_error(line: LabelLine, problem: str, filename: str, **values: object) -> RecordError:
    """An error of a line's record: `problem` is a pattern with {record} and the other `values` in it."""
    reason = translatable(problem, record=excerpt(line.record_id), **values)
    return RecordError(filename, line.line, "record_id", reason)


def steps_of(trajectories: Iterable[int]) -> dict[int, dict[int, StepKey]]:
    """The steps of each trajectory (pk) by message index, in order."""
    pks = list(trajectories)
    steps: dict[int, dict[int, StepKey]] = {pk: {} for pk in pks}
    for part in chunks(pks):
        rows = Step.objects.filter(trajectory__in=part).order_by("trajectory_id", "message_index")
        for trajectory, *row in rows.values_list("trajectory_id", *StepKey._fields):
            step = StepKey(*row)
            steps[trajectory][step.message_index] = step
    return steps


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """The items, as many at a time as one query asks for."""
    waiting = iter(items)
    while few := list(islice(waiting, LOOKUP)):
        yield few
