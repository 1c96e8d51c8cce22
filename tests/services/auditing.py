"""Ways to bring a project to where an audit of its labels is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.models import Assignment, AuditedTrajectory, LabelAudit, Project, User
from annotation.services import assign, label, label_audits
from annotation.services.label_audits.ruling import StepRuling
from tests import people
from tests.people import Cast

CENSUS = 60
"""So many draws that each of a few trajectories is among them."""


def begin(cast: Cast, draws: int = CENSUS, *, wished: float = 0.2, mixed: bool = True) -> LabelAudit:
    """An audit of what is resolved."""
    return label_audits.begin_audit(
        actor=cast.admin, project=cast.project, wished=wished, draws=draws, mixed=mixed
    )


def read(user: User, project: Project, values: int | Sequence[int] = 1, *, outcome: int = 1) -> Assignment:
    """Claim what comes next, which is a reading for an audit, label it whole and submit it."""
    claimed = assign.claim_next(actor=user, project=project)
    assert claimed.recheck_id is not None
    people.label_all(claimed, values, outcome=outcome, note="reader-canary")
    return label.submit(actor=user, assignment=claimed)


def decide(user: User, project: Project, values: Mapping[int | None, int]) -> AuditedTrajectory:
    """Take the next case of an audit and decide it, by message index (None: the outcome)."""
    case = label_audits.take_case(actor=user, project=project)
    rulings = {index: StepRuling(value, "because") for index, value in values.items()}
    return label_audits.decide_case(actor=user, audited=case, rulings=rulings)
