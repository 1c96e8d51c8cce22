"""One's own case, and who may have none."""

from annotation.core.errors import Conflict, Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AdjudicationState
from annotation.models import Adjudication, Assignment, User
from annotation.policies import require


def has_labelled(user: User, trajectory: int) -> bool:
    """Whether somebody has labelled a trajectory, or had it to label."""
    return Assignment.stored.filter(trajectory=trajectory, annotator=user).exists()


def refuse_annotators(actor: User, trajectory: int) -> None:
    """Raise Denied to whoever has labelled a trajectory, or had it to label."""
    if has_labelled(actor, trajectory):
        raise Denied(
            translatable("You have labelled this trajectory yourself; another adjudicator must decide it.")
        )


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
