"""Keep with each trajectory how far its judges disagree, because lists sort by it."""

from collections import defaultdict
from collections.abc import Collection

from annotation.models import Trajectory
from annotation.reports.influence.triage import scores_of


def renew_doubt(trajectories: Collection[int]) -> None:
    """Called when suggestions of these trajectories have become live: two queries, and one for each value.

    The caller holds the transaction in which they did, or calls it once more after a kill.
    """
    scores = scores_of(trajectories) if trajectories else {}
    by_value: dict[float | None, list[int]] = defaultdict(list)
    for pk in trajectories:
        by_value[scores.get(pk)].append(pk)
    for value, of_it in by_value.items():
        Trajectory.objects.filter(pk__in=of_it).exclude(doubt=value).update(doubt=value)
