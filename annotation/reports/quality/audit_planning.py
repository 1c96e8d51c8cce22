"""The number of draws that an audit will take, before it begins."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from annotation import models as m
from annotation.core.audits.drawing import chances, heaviest
from annotation.core.audits.planning import draws_needed
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import RESOLVED
from annotation.policies import Actor, require

from ..judging.stack import expected_wrong

LITTLE: Final = 0.3
"""The true error that the second number of draws stands for, as a share of the wished bound."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """`draws`: how many prove the wished bound where nothing is wrong; `draws_with_errors`: where the share
    `error` of the steps is; None: more than can be drawn. `mixed`: what stacked judges doubt is drawn more
    often."""

    wished: float
    draws: int | None
    draws_with_errors: int | None
    error: float
    mixed: bool

    def as_json(self) -> dict[str, Any]:
        """All of it, by name."""
        return asdict(self)


def drawable(project: m.Project) -> dict[int, int]:
    """The steps of each trajectory that an audit can draw: of all that are resolved. One query."""
    resolved = m.Trajectory.objects.filter(project=project, live=True, state__in=RESOLVED).order_by("pk")
    return dict(resolved.values_list("pk", "step_count"))


def plan(*, viewer: Actor, project: m.Project, wished: float, mixed: bool = True) -> AuditPlan:
    """The draws that a bound takes, for admins. One query, and with `mixed`, which is as for `begin_audit`,
    those of the stack of judges. Raises Invalid for a share out of range."""
    require(viewer, "label_audit.change", project)
    if not 0.001 <= wished < 1:
        message = translatable("A share from 0.1 % to below 100 %.")
        raise Invalid(message, fields={"wished": message})
    steps = drawable(project)
    expected = expected_wrong(project) if mixed else {}
    mixed = any(expected.get(pk, 0) > 0 for pk in steps)
    heaviest_draw = heaviest(steps, chances(steps, expected)) if mixed else 1.0
    error = wished * LITTLE
    return AuditPlan(
        wished=wished,
        draws=draws_needed(wished, heaviest=heaviest_draw),
        draws_with_errors=draws_needed(wished, error=error, heaviest=heaviest_draw),
        error=error,
        mixed=mixed,
    )
