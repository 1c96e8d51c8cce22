"""Make a project that is already labelled, with a few statements instead of a million requests.

Both annotators have submitted the first share of the queue: every step labelled, the history written, three
trajectories of ten disputed, the others resolved. The rows are those that the services would have written.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone

from annotation.core.vocabulary import SETTLED
from annotation.models import (
    Assignment,
    Consensus,
    Dispute,
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
from annotation.services import pairing
from annotation.services.batched_writes import in_blocks, parts

ANNOTATORS = ("ann", "ben")
DISPUTED = 3  # trajectories of ten
PAIRED_AT_ONCE = 10

# One step of four is −1, one of thirteen of the others 0; where there is a dispute slot 1 differs at first.
VALUE = """CASE WHEN t.id % 10 < %(disputed)s AND a.slot = 1 AND s.ordinal = 0 THEN 0
    WHEN s.id % 4 = 0 THEN -1 WHEN s.id % 13 = 0 THEN 0 ELSE 1 END"""

ASSIGNMENTS = f"{Assignment._meta.db_table} a"
TRAJECTORIES = f"{Trajectory._meta.db_table} t"
STEPS = f"{Step._meta.db_table} s"
LABELS = f"{Label._meta.db_table} l"
OUTCOMES = f"{OutcomeLabel._meta.db_table} o"


def label(*, project: Project, share: float, unanimous: bool = False) -> dict[str, Any]:
    """Fill a project; how many trajectories and labels it then has. `unanimous`: without any dispute."""
    disputed = 0 if unanimous else DISPUTED
    total = Trajectory.objects.filter(project=project, live=True).count()
    wanted = round(total * share)
    if wanted:
        with transaction.atomic():
            _assignments(project, wanted)
            _labels(project, disputed)
            _settle(project, disputed)
        settled = project.trajectories.filter(state__in=SETTLED).values_list("pk", flat=True)
        in_blocks(parts(list(settled), weight=lambda _: 1, most=PAIRED_AT_ONCE), pairing.write)
        _statistics()
    return {
        "trajectories": total,
        "labelled": wanted,
        "labels": Label.objects.filter(assignment__project=project).count(),
    }


def _insert(model: type[models.Model], columns: dict[str, str], source: str, **values: Any) -> None:
    """INSERT … SELECT: `columns` are expressions over `source`; those not named get the model's defaults."""
    values["now"] = timezone.now()
    chosen = dict(columns)
    for field in model._meta.concrete_fields:
        name = field.attname
        if name in chosen or field.null or isinstance(field, models.AutoField):
            continue
        if isinstance(field, models.DateTimeField):
            chosen[name] = "%(now)s"
        else:
            chosen[name] = f"%({name})s"
            values[name] = field.get_db_prep_save(field.get_default(), connection)
    names, expressions = ", ".join(chosen), ", ".join(chosen.values())
    _run(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {expressions} {source}", values)


def _run(statement: str, values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("% ", "%% "), values)


def _assignments(project: Project, wanted: int) -> None:
    for slot, name in enumerate(ANNOTATORS):
        _insert(
            Assignment,
            {
                "project_id": "t.project_id",
                "trajectory_id": "t.id",
                "annotator_id": "%(user)s",
                "slot": "%(slot)s",
                "state": "'submitted'",
                "submitted_at": "%(now)s",
            },
            f"FROM {TRAJECTORIES} WHERE t.project_id = %(project)s AND t.live"
            " ORDER BY t.position LIMIT %(wanted)s",
            user=User.objects.get(username=name).pk,
            slot=slot,
            project=project.pk,
            wanted=wanted,
        )


def _labels(project: Project, disputed: int) -> None:
    """Labels, outcomes, and one event and one operation a label: the browser saves each press at once."""
    _insert(
        Label,
        {
            "assignment_id": "a.id",
            "step_id": "s.id",
            "value": VALUE,
            "source": "'explicit'",
            "root_id": f"CASE WHEN ({VALUE}) = -1 THEN s.id END",
        },
        f"FROM {ASSIGNMENTS} JOIN {TRAJECTORIES} ON t.id = a.trajectory_id"
        f" JOIN {STEPS} ON s.trajectory_id = t.id WHERE a.project_id = %(project)s",
        project=project.pk,
        disputed=disputed,
    )
    _insert(
        OutcomeLabel,
        {"assignment_id": "a.id", "value": "CASE WHEN a.trajectory_id % 3 = 0 THEN -1 ELSE 1 END"},
        f"FROM {ASSIGNMENTS} WHERE a.project_id = %(project)s",
        project=project.pk,
    )
    of_labels = f"FROM {LABELS} JOIN {ASSIGNMENTS} ON a.id = l.assignment_id WHERE a.project_id = %(project)s"
    press = {"assignment_id": "l.assignment_id", "op_id": "'op-' || l.step_id"}
    event = {"step_id": "l.step_id", "kind": "'save'", "value": "l.value", "source": "l.source"}
    _insert(LabelEvent, press | event, of_labels, project=project.pk)
    _insert(SaveOperation, press, of_labels, project=project.pk)


def _settle(project: Project, disputed: int) -> None:
    _run(
        f"""UPDATE {Trajectory._meta.db_table} SET free_slots = 0,
            state = CASE WHEN id % 10 < %(disputed)s THEN 'disputed' ELSE 'unanimous' END
        WHERE id IN (SELECT trajectory_id FROM {Assignment._meta.db_table} WHERE project_id = %(project)s)""",
        {"project": project.pk, "disputed": disputed},
    )
    _insert(
        Dispute,
        {
            "trajectory_id": "t.id",
            "project_id": "t.project_id",
            "subset_id": "t.subset_id",
            "disputed_steps": "1",
            "sign_flips": "0",
            "neutral_boundaries": "1",
            "first_error": "t.id % 4 = 0",
            "outcome": "t.id < 0",
        },
        f"FROM {TRAJECTORIES} WHERE t.project_id = %(project)s AND t.state = 'disputed'",
        project=project.pk,
    )
    resolved = "WHERE t.project_id = %(project)s AND t.state = 'unanimous' AND a.slot = 0"
    of = f"FROM {TRAJECTORIES} JOIN {ASSIGNMENTS} ON a.trajectory_id = t.id JOIN"
    _insert(
        Consensus,
        {"trajectory_id": "t.id", "step_id": "l.step_id", "value": "l.value", "kind": "'unanimous'"},
        f"{of} {LABELS} ON l.assignment_id = a.id {resolved}",
        project=project.pk,
    )
    _insert(
        OutcomeConsensus,
        {"trajectory_id": "t.id", "value": "o.value", "kind": "'unanimous'"},
        f"{of} {OUTCOMES} ON o.assignment_id = a.id {resolved}",
        project=project.pk,
    )
    last = Trajectory.objects.filter(project=project, live=True, free_slots=0).order_by("-position").first()
    if last is not None:
        Membership.objects.filter(project=project, is_annotator=True).update(claim_cursor=last.position)


def _statistics() -> None:
    """PostgreSQL gathers statistics by itself within a minute or so; the bench does not wait for that."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
