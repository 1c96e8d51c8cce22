"""Make a project many times as large, with a few statements in place of an import of hours.

Each copy of a trajectory is a task, a trajectory, its content and its steps of their own, as if its record
had been imported once more with another query index; only the texts repeat. The queue is in an order of
chance.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, models, transaction

from annotation.models import Project, Step, Task, Trajectory, TrajectoryContent

AT_ONCE = 20_000  # trajectories in one transaction
# positions are 60 bits of chance; a copy's lies this much further on, the next copy's as much again
PLACES = 2**60
STRIDE = 7_046_029_254_386_353

COPIES = """WITH RECURSIVE copies(copy) AS (
    SELECT {first} UNION ALL SELECT copy + 1 FROM copies WHERE copy < {last}
)"""


def multiply(*, project: Project, times: int) -> dict[str, Any]:
    """Let a project have so many times the trajectories that were imported; how many it then has."""
    templates = Trajectory.objects.filter(project=project, live=True)
    size = templates.count()
    trajectories, tasks = _span(templates), _span(Task.objects.filter(subset__project=project))
    most = max(1, AT_ONCE // size)
    for first in range(1, times, most):
        copies = COPIES.format(first=first, last=min(times, first + most) - 1)
        with transaction.atomic():
            _copy(Task, copies, tasks, {"key": "t.key || '-' || copy"})
            _copy(
                Trajectory,
                copies,
                trajectories,
                {
                    "task_id": f"t.task_id + copy * {tasks[1]}",
                    "record_id": "t.record_id || '-' || copy",
                    "query_index": f"t.query_index + copy * {size}",
                    "position": f"(t.position + copy * {STRIDE}) % {PLACES}",
                },
            )
            of = {"trajectory_id": f"t.trajectory_id + copy * {trajectories[1]}"}
            _copy(TrajectoryContent, copies, trajectories, of)
            _copy(Step, copies, trajectories, of)
    _go_on_behind(Task, Trajectory)
    return {
        "trajectories": templates.count(),
        "steps": Step.objects.filter(trajectory__project=project).count(),
    }


def _span(rows: models.QuerySet[Any]) -> tuple[int, int]:
    """The first id of the rows, and by how much each copy's ids lie further on."""
    ends = rows.aggregate(first=models.Min("pk"), last=models.Max("pk"))
    return ends["first"], ends["last"] - ends["first"] + 1


def _copy(model: type[models.Model], copies: str, span: tuple[int, int], changed: dict[str, str]) -> None:
    """INSERT … SELECT the rows of the span once for each copy; columns that are not `changed` stay."""
    key = model._meta.pk.attname
    within = (
        "trajectory_id" if any(f.attname == "trajectory_id" for f in model._meta.concrete_fields) else key
    )
    columns = {
        field.attname: f"t.{field.attname}"
        for field in model._meta.concrete_fields
        if field.attname != key or within == key
    }
    if within == key and key not in changed:
        columns[key] = f"t.{key} + copy * {span[1]}"
    columns |= changed
    first, last = span[0], span[0] + span[1] - 1
    with connection.cursor() as cursor:
        cursor.execute(
            f"{copies} INSERT INTO {model._meta.db_table} ({', '.join(columns)})"
            f" SELECT {', '.join(columns.values())} FROM copies"
            f" CROSS JOIN {model._meta.db_table} t WHERE t.{within} BETWEEN {first} AND {last}"
        )


def _go_on_behind(*tables: type[models.Model]) -> None:
    """New rows get ids behind those that were given here; SQLite sees to that itself."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in tables:
                table = model._meta.db_table
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
                )
