"""What people see of what others said of a trajectory: each of these asks the policies, notes the exposure,
and only then answers.

Pages and the API get others' labels, records as they came in and raw answers from here alone.
tests/test_permission_matrix.py walks every address as everybody, and holds what was shown against what was
noted.
"""

from __future__ import annotations

from collections.abc import Iterable

from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import ExposureKind, Role, TrajectoryState
from annotation.models import Adjudication, Exposure, JudgeAnswer, Step, Trajectory, User
from annotation.policies import field_access, roles, visible
from annotation.reports import cases, runs

from . import exposures


def costs_the_claim(*, actor: User, trajectory: Trajectory) -> bool:
    """Whether seeing its labels would take from this person the right to claim a trajectory: then they are
    asked first. At most two queries."""
    if trajectory.state != TrajectoryState.LABELLING or Role.ANNOTATOR not in roles(
        actor, trajectory.project
    ):
        return False
    seen = Exposure.objects.filter(trajectory=trajectory, user=actor, kind=ExposureKind.LABEL)
    return not visible(actor, seen).exists()


def inspection(*, actor: User, trajectory: Trajectory) -> cases.SideBySide:
    """Everybody's labels, drafts included, the consensus, and what judges suggest. For admins who are not
    labelling the trajectory; Denied for anybody else."""
    shown = cases.inspection(actor=actor, trajectory=trajectory)
    exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.LABEL)
    _suggestions(actor, trajectory, [item.step for item in (*shown.steps, shown.outcome) if item.told])
    return shown


def case(*, actor: User, adjudication: Adjudication) -> cases.SideBySide:
    """A case with the labels of "A" and "B", to its adjudicator, or to an admin. Denied for anybody else.

    `adjudication` comes with its trajectory's project, subset and task.
    """
    shown = cases.case(actor=actor, adjudication=adjudication)
    exposures.expose(user=actor, trajectory=adjudication.trajectory, kind=ExposureKind.LABEL)
    return shown


def record(*, actor: User, trajectory: Trajectory) -> bytes:
    """The record exactly as it came in, with the labels that may stand in it. For admins who are not
    labelling the trajectory; Denied for anybody else."""
    if not field_access(actor, trajectory).raw:
        raise Denied(translatable("The record as it came in is for admins only."))
    exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.LABEL)
    return trajectory.content.raw_bytes()


def judge_answer(*, actor: User, answer: JudgeAnswer) -> runs.Audit:
    """One call of a judge as it went over the wire: whatever it says may be about every step and the outcome.

    `answer` comes through policies.visible, with its trajectory.
    """
    steps = Step.objects.filter(trajectory=answer.trajectory).order_by()
    _suggestions(actor, answer.trajectory, (*steps, None))
    return runs.audit(answer)


def _suggestions(actor: User, trajectory: Trajectory, steps: Iterable[Step | None]) -> None:
    """Note that a person has seen what judges say of these steps (None: of the outcome)."""
    seen = [(trajectory.pk, step.pk if step is not None else None) for step in steps]
    exposures.note(user=actor, kind=ExposureKind.SUGGESTION, seen=seen)
