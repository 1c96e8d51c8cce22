"""One's own case, who may have none, and what has none to be taken."""

from annotation.core.errors import Conflict, Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AdjudicationState, ExposureKind, TrajectoryState
from annotation.models import Adjudication, Assignment, Exposure, Trajectory, User
from annotation.policies import require


def refuse_barred(actor: User, trajectory: int) -> None:
    """Raise Denied to whoever has labelled a trajectory or had it to label, and (code "exposed") to whoever
    knows what became of the runs that it was derived from (`policies.deciding.barred`)."""
    if Assignment.stored.filter(trajectory=trajectory, annotator=actor).exists():
        raise Denied(
            translatable("You have labelled this trajectory yourself; another adjudicator must decide it.")
        )
    if Exposure.objects.filter(trajectory=trajectory, user=actor, kind=ExposureKind.SOURCE).exists():
        raise Denied(
            translatable(
                "You know what became of the runs that this decision is from; another adjudicator must "
                "decide it."
            ),
            code="exposed",
        )


def refusal(trajectory: Trajectory, active: Adjudication | None) -> Conflict | None:
    """The reason why nobody can take a trajectory; `active` is its case that was not handed back."""
    if active is not None and active.state == AdjudicationState.DECIDED:
        return Conflict(translatable("This case is already decided."), code="case_closed")
    if active is not None:
        return Conflict(translatable("Another adjudicator has this case."), code="case_taken")
    if trajectory.state != TrajectoryState.DISPUTED:
        return Conflict(translatable("This trajectory is not disputed."), code="not_disputed")
    return None


def own_open(actor: User, adjudication: Adjudication) -> Adjudication:
    """One's own case, locked, with its project. Raises Denied for anybody else's, Conflict when it is not
    open."""
    case = (
        Adjudication.objects.select_for_update(no_key=True, of=("self",))
        .select_related("project")
        .get(pk=adjudication.pk)
    )
    # whose case it is now, which may have changed since the caller read it
    require(actor, "adjudicate", case)
    if case.state != AdjudicationState.OPEN:
        raise Conflict(translatable("This case is no longer open."), code="case_closed")
    return case
