"""Ways to bring a project to where annotators are dealt gold."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any
from unittest.mock import patch

from annotation.core.rechecks import sampling
from annotation.core.vocabulary import RecheckKind
from annotation.models import Assignment, Project, Subset, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import assign, bulk, label, projects, training
from tests import people
from tests.fixtures.chance import Drawn
from tests.people import Cast

KEY = (1, -1)
"""The key of the two steps of gold: right, and wrong."""


def keyed_records(queries: Iterable[int], key: Sequence[int] = KEY, **changes: Any) -> list[dict[str, Any]]:
    """Records that bring their key; the outcome's is that of the last step."""
    brought = {"step_labels": {"2": key[0], "4": key[1]}, "final_label": key[1]}
    return [people.make_record(query, **brought, **changes) for query in queries]


def keyed(
    project: Project, records: Iterable[Mapping[str, Any]], *, subset: str = "keys"
) -> list[Trajectory]:
    """These records as training items."""
    people.import_records(project, records, subset=subset)
    keys = Subset.objects.get(project=project, name=subset)
    training.mark_training(actor=OPERATOR, subset=keys)
    rows = Trajectory.objects.filter(subset=keys, training=True)
    return list(rows.select_related("subset", "copy_of", "project", "task"))


def import_queue(project: Project, records: int, *, subset: str = "tiny", first: int = 100) -> None:
    """So many records to be labelled, with even numbers."""
    made = [people.make_record(query) for query in range(first, first + 2 * records, 2)]
    people.import_records(project, made, subset=subset)


class _Roomy(Drawn):
    """Draws ids again until `free` of those between them are left, or half of what can be."""

    free = 1

    def sample(self, population: Sequence[int], k: int, **_options: Any) -> list[int]:  # type: ignore[override]
        """`k` of them, all as likely."""
        between = min(self.free, (len(population) - k + 1) // 2)
        while max(chosen := super().sample(population, k)) - min(chosen) < k - 1 + between:
            pass
        return chosen


@contextmanager
def room_for(gold: int) -> Iterator[None]:
    """What is imported meanwhile leaves room for so much gold, also where it is little."""
    roomy = type("Roomy", (_Roomy,), {"free": gold})
    with patch.object(bulk, "SPARE", 1), patch.object(secrets, "SystemRandom", roomy):
        yield


def golden(
    cast: Cast, *, records: int = 30, gold: int = 10, percent: int = 30, key: Sequence[int] = KEY
) -> list[Trajectory]:
    """A queue of so many trajectories, with gold among what is claimed of it; the gold. Between the ids of
    the queue there is more room than in the product, where gold is fewer; numbers of records of gold stand
    between those of the queue."""
    with room_for(gold):
        import_queue(cast.project, records)
    odd = range(101, 101 + 2 * records, 2)
    items = keyed(cast.project, keyed_records((odd[at * records // gold] for at in range(gold)), key))
    subset = Subset.objects.get(project=cast.project, name="tiny")
    made = training.make_gold(actor=cast.admin, project=cast.project, trajectories=items, subset=subset)
    assert not made.refused
    gold_is_dealt(cast.project, percent)
    return made.done


def gold_is_dealt(project: Project, percent: int) -> None:
    """The project's setting, and a seed that deals alike in every run."""
    projects.update_project(actor=OPERATOR, project=project, values={"gold_percent": percent})
    Project.objects.filter(pk=project.pk).update(recheck_seed=11)
    project.refresh_from_db()


def deal_next(user: int, project: Project, last: int, *, gold: bool) -> None:
    """Let the next claim of somebody (pk), whose newest assignment has the pk `last`, bring gold, or none:
    the project gets the first seed that draws so."""
    share = project.gold_percent / sampling.PERCENT
    draws = ((sampling.fraction(seed, "gold", user, last) < share, seed) for seed in count())
    Project.objects.filter(pk=project.pk).update(
        recheck_seed=next(seed for one, seed in draws if one == gold)
    )


def is_gold(assignment: Assignment) -> bool:
    """Whether somebody was dealt gold."""
    return assignment.recheck is not None and assignment.recheck.kind == RecheckKind.GOLD


def until_gold(user: User, project: Project) -> Assignment:
    """Claim until it is gold; what came before stays open."""
    while not is_gold(claimed := assign.claim_next(actor=user, project=project)):
        pass
    return claimed


def label_as(claimed: Assignment, *, right: bool = True) -> Assignment:
    """Label a claim as in the key of all gold, or none of it so, and submit it."""
    values = KEY if right else [-value for value in KEY]
    people.label_all(claimed, values, outcome=values[-1])
    return label.submit(actor=claimed.annotator, assignment=claimed)
