"""A project that has been labelled already, made by a few statements instead of a million requests.

Both annotators have submitted the first share of the queue: every step labelled, the history written, three
trajectories of ten disputed, the others resolved. The rows are those that the services would have written.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from annotation.models import (
    Assignment,
    Consensus,
    Label,
    LabelEvent,
    Membership,
    OutcomeConsensus,
    OutcomeLabel,
    Project,
    SaveOperation,
    Step,
    Trajectory,
    User,
)

ANNOTATORS = ("ann", "ben")

# One step of four is −1, one of thirteen of the others 0; where there is a dispute slot 1 differs at first.
VALUE = """CASE WHEN {t}.id % 10 < 3 AND {a}.slot = 1 AND {s}.ordinal = 0 THEN 0
    WHEN {s}.id % 4 = 0 THEN -1 WHEN {s}.id % 13 = 0 THEN 0 ELSE 1 END"""


def label(*, project: Project, share: float) -> dict[str, Any]:
    """Fill a project; how many trajectories and labels it then has."""
    total = Trajectory.objects.filter(project=project, live=True).count()
    wanted = round(total * share)
    if wanted:
        with transaction.atomic():
            _assignments(project, wanted)
            _labels(project)
            _history(project)
            _settle(project)
        _statistics()
    return {
        "trajectories": total,
        "labelled": wanted,
        "labels": Label.objects.filter(assignment__project=project).count(),
    }


def _run(statement: str, **values: Any) -> None:
    tables = {
        model.__name__: model._meta.db_table
        for model in (
            Assignment,
            Consensus,
            Label,
            LabelEvent,
            OutcomeConsensus,
            OutcomeLabel,
            SaveOperation,
            Step,
            Trajectory,
        )
    }
    for name in sorted(tables, key=len, reverse=True):
        statement = statement.replace(f"<{name}>", tables[name])
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("%", "%%").replace("%%(", "%("), values)


def _assignments(project: Project, wanted: int) -> None:
    for slot, name in enumerate(ANNOTATORS):
        _run(
            """INSERT INTO <Assignment> (project_id, trajectory_id, annotator_id, slot, state,
                guideline_version, return_reason, imported, claimed_at, submitted_at)
            SELECT project_id, id, %(user)s, %(slot)s, 'submitted', 1, '', FALSE, %(now)s, %(now)s
            FROM <Trajectory> WHERE project_id = %(project)s AND live ORDER BY position LIMIT %(wanted)s""",
            user=User.objects.get(username=name).pk,
            slot=slot,
            now=timezone.now(),
            project=project.pk,
            wanted=wanted,
        )


def _labels(project: Project) -> None:
    value = VALUE.format(t="t", a="a", s="s")
    _run(
        f"""INSERT INTO <Label> (assignment_id, step_id, value, unsure, flagged, note, reason, version,
            updated_at, source, root_id, root_pinned, closes)
        SELECT a.id, s.id, {value}, FALSE, FALSE, '', '', 1, %(now)s, 'explicit',
            CASE WHEN {value} = -1 THEN s.id END, FALSE, ''
        FROM <Assignment> a JOIN <Trajectory> t ON t.id = a.trajectory_id
            JOIN <Step> s ON s.trajectory_id = t.id
        WHERE a.project_id = %(project)s""",
        now=timezone.now(),
        project=project.pk,
    )
    _run(
        """INSERT INTO <OutcomeLabel>
            (assignment_id, value, unsure, flagged, note, reason, version, updated_at)
        SELECT id, CASE WHEN trajectory_id % 3 = 0 THEN -1 ELSE 1 END, FALSE, FALSE, '', '', 1, %(now)s
        FROM <Assignment> WHERE project_id = %(project)s""",
        now=timezone.now(),
        project=project.pk,
    )


def _history(project: Project) -> None:
    """One event and one operation a label: the browser saves each press at once."""
    common = {"now": timezone.now(), "project": project.pk}
    _run(
        """INSERT INTO <LabelEvent> (assignment_id, step_id, op_id, kind, value, source, version, detail,
            created_at)
        SELECT l.assignment_id, l.step_id, 'op-' || l.step_id, 'save', l.value, 'explicit', 1, '{}', %(now)s
        FROM <Label> l JOIN <Assignment> a ON a.id = l.assignment_id WHERE a.project_id = %(project)s""",
        **common,
    )
    _run(
        """INSERT INTO <SaveOperation> (assignment_id, op_id, digest, results, created_at)
        SELECT l.assignment_id, 'op-' || l.step_id, %(digest)s, '[]', %(now)s
        FROM <Label> l JOIN <Assignment> a ON a.id = l.assignment_id WHERE a.project_id = %(project)s""",
        digest="0" * 64,
        **common,
    )


def _settle(project: Project) -> None:
    common = {"now": timezone.now(), "project": project.pk}
    _run(
        """UPDATE <Trajectory> SET free_slots = 0,
            state = CASE WHEN id % 10 < 3 THEN 'disputed' ELSE 'unanimous' END
        WHERE id IN (SELECT trajectory_id FROM <Assignment> WHERE project_id = %(project)s)""",
        project=project.pk,
    )
    _run(
        """INSERT INTO <Consensus> (trajectory_id, step_id, value, kind, created_at)
        SELECT t.id, l.step_id, l.value, 'unanimous', %(now)s
        FROM <Trajectory> t JOIN <Assignment> a ON a.trajectory_id = t.id
            JOIN <Label> l ON l.assignment_id = a.id
        WHERE t.project_id = %(project)s AND t.state = 'unanimous' AND a.slot = 0""",
        **common,
    )
    _run(
        """INSERT INTO <OutcomeConsensus> (trajectory_id, value, kind, created_at)
        SELECT t.id, o.value, 'unanimous', %(now)s
        FROM <Trajectory> t JOIN <Assignment> a ON a.trajectory_id = t.id
            JOIN <OutcomeLabel> o ON o.assignment_id = a.id
        WHERE t.project_id = %(project)s AND t.state = 'unanimous' AND a.slot = 0""",
        **common,
    )
    last = Trajectory.objects.filter(project=project, live=True, free_slots=0).order_by("-position").first()
    if last is not None:
        Membership.objects.filter(project=project, is_annotator=True).update(claim_cursor=last.position)


def _statistics() -> None:
    """PostgreSQL gathers statistics by itself within a minute or so; the bench does not wait for that."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
