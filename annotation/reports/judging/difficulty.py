"""The difficulty of decisions: the share of right answers by judges, against people's consensus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.core.scoring import pairs
from annotation.models import Project

from ..releases.unlabelled_part import stacked_judges
from .stack import material


@dataclass(frozen=True, slots=True)
class Difficulties:
    """The share of right answers (`shares`, by the pk of the trajectory) on the decisions that are resolved
    and fit for use, that have a pair, and that some judge was asked about; and how many `judges` answered."""

    shares: Mapping[int, float]
    judges: int


def difficulties(project: Project) -> Difficulties:
    """Of the decisions of a project, by the judges that no label of people has trained. Five queries, and two
    for each judge."""
    data = material(project, judges=[judge.pk for judge in stacked_judges(project.pk)])
    shares = pairs.difficulty(data.known, [judge.predicted for judge in data.judges.values()])
    by_trajectory = zip(data.trajectory.tolist(), shares.tolist(), strict=True)
    return Difficulties({pk: share for pk, share in by_trajectory if share == share}, len(data.judges))
