"""Rechecks cannot be told from other trajectories: not by what a person is sent of those that they hold, nor
by a classifier that is trained on every number in it and on how it follows the one before.

With places in the order of the import, which is how queues began, the same classifier finds them all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_predict

from annotation.core.rechecks import sampling
from annotation.models import Assignment, Membership, Project, Recheck, Trajectory
from annotation.services import assign, projects
from tests.callers import PlainClient
from tests.fixtures.chance import drawn
from tests.people import Cast, import_records, make_record
from tests.services.long_writes import import_labels
from tests.services.rechecking import audit_everything, retests_are_asked

pytestmark = pytest.mark.slow

RECORDS, RESOLVED, SERVED = 120, 60, 60
SOME, FEW = 38, 16
# made anew for each answer: tokens, times, and checksums of what is labelled
ANEW = re.compile(
    r'name="(?:csrfmiddlewaretoken|claim_key)"\s+value="[^"]*"'
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z?|\b[0-9a-f]{64}\b"
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SORTS = ("queue", "-queue", "record", "state", "-state", "annotators", "-annotators", "-steps")
# the first and the last have no other before or after them
INNER = slice(1, -1)
CHANCE, CHANCE_OF_MANY = 4, 5
"""Standard deviations that a classifier, or the best of some hundred numbers, stays below by chance."""


def import_order(**what: Any) -> int:
    """Places as they were before chance gave them."""
    return int(what["record"].split(":")[1])


def serve(
    cast: Cast, place: Callable[..., int], patch: pytest.MonkeyPatch, *, served: int = SERVED
) -> list[Assignment]:
    """What cleo is given, in order: between trajectories from the queue those of its first half, which ann
    and ben have labelled alike. Numbers have the same length everywhere."""
    patch.setattr(sampling, "place", place)
    Project.objects.filter(pk=cast.project.pk).update(recheck_seed=11, claim_limit=SERVED)
    cast.project.refresh_from_db()
    retests_are_asked(cast.project, 0)
    import_records(cast.project, [make_record(query) for query in range(100, 100 + RECORDS)])
    queue = list(Trajectory.objects.filter(project=cast.project).order_by("position")[:RESOLVED])
    for who in ("ann", "ben"):
        import_labels(cast, queue, who)
    audit_everything(cast.project)
    assert Recheck.objects.filter(annotator=cast.cleo).count() == RESOLVED
    return [assign.claim_next(actor=cast.cleo, project=cast.project) for _ in range(served)]


def read(client: PlainClient, url: str) -> str:
    """An answer without what is made anew for each."""
    answer: Any = client.get(url)
    whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return f"{answer.status_code} {ANEW.sub('', whole.decode())}"


def in_pages(cast: Cast, turns: Iterable[Assignment]) -> list[list[str]]:
    """Of each trajectory that cleo holds, the pages and answers of the API that are about it."""
    client = PlainClient(cast.cleo)
    found = []
    for turn in turns:
        at = f"/api/v1/trajectories/{turn.trajectory_id}/"
        urls = (
            *(f"/assignments/{turn.pk}/", f"/api/v1/assignments/{turn.pk}/"),
            *(f"{at}judgements/?reveal=true", f"{at}history/"),
            f"/p/{cast.project.slug}/trajectories/{turn.trajectory_id}/",
        )
        found.append([read(client, url) for url in urls])
    return found


def in_lists(cast: Cast, turns: Iterable[Assignment]) -> list[list[str]]:
    """Of each its line in each list of admins, with its number among those of the others."""
    client = PlainClient(cast.cleo)
    slug = cast.project.slug
    queries = (
        *(f"sort={sort}" for sort in SORTS),
        *("state=labelling", "state=unanimous", f"annotator={cast.cleo.username}"),
    )
    lists = [
        [
            line
            for line in read(client, f"/p/{slug}/trajectories/export/?{query}").splitlines()
            if line.startswith("tiny:")
        ]
        for query in queries
    ]
    rows = read(client, f"/api/v1/projects/{slug}/trajectories/?page_size=200")
    lists.append(re.findall(r'\{"id":.*?"step_count":\d+\}', rows))
    return [
        [
            " ".join(
                f"{number} {line}" for number, line in enumerate(lines) if turn.trajectory.record_id in line
            )
            for lines in lists
        ]
        for turn in turns
    ]


def assert_one_shape_each(bodies: list[list[str]]) -> None:
    """Of each page, all that is sent is the same but for numbers."""
    shapes = [Counter(NUMBER.sub("#", one) for one in texts) for texts in zip(*bodies, strict=True)]
    assert [len(shape) for shape in shapes] == [1] * len(shapes), [
        shape for shape in shapes if len(shape) > 1
    ]


def numbers(bodies: list[list[str]]) -> np.ndarray:
    """Every number in them, and by how much it differs from that of the one before: (served, numbers)."""
    rows = np.array([[float(one) for body in texts for one in NUMBER.findall(body)] for texts in bodies])
    steps = np.diff(rows, axis=0, prepend=rows[:1])
    both = np.hstack([rows, steps, np.sign(steps)])
    return np.unique(both[:, both.std(axis=0) > 0], axis=1)


def surprise(score: np.ndarray, recheck: np.ndarray) -> float:
    """How far a score sets rechecks above others, in standard deviations of chance (Mann–Whitney)."""
    yes, no = int(recheck.sum()), int((~recheck).sum())
    wins = rankdata(score)[recheck].sum() - yes * (yes + 1) / 2
    return float((wins - yes * no / 2) / np.sqrt(yes * no * (yes + no + 1) / 12))


def trained(rows: np.ndarray, recheck: np.ndarray) -> float:
    """The same of what a classifier says of those that it was not trained on."""
    trees = ExtraTreesClassifier(100, min_samples_leaf=2, random_state=1)
    return surprise(cross_val_predict(trees, rows, recheck, cv=5, method="predict_proba")[:, 1], recheck)


def as_admin(cast: Cast) -> None:
    """Cleo administers the project too."""
    mine = Membership.objects.get(project=cast.project, user=cast.cleo)
    projects.set_roles(
        actor=cast.admin, membership=mine, is_annotator=True, is_adjudicator=False, is_admin=True
    )


def test_rechecks_are_told_by_nothing_that_their_annotator_is_sent(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What she is sent as an annotator alone, every number included, is told apart in
    tests/services/training/test_gold_told_apart.py too: here the shapes of some show."""
    turns = serve(cast, drawn, monkeypatch, served=SOME)
    recheck = np.array([turn.recheck_id is not None for turn in turns])[INNER]
    assert 8 <= recheck.sum() <= len(recheck) - 8
    some = [*np.flatnonzero(recheck)[: FEW // 2], *np.flatnonzero(~recheck)[: FEW // 2]]
    few = in_pages(cast, [turns[INNER][place] for place in some])
    assert few[0][0].startswith("200") and few[0][4].startswith("403")
    assert_one_shape_each(few)
    as_admin(cast)
    pages, lists = in_pages(cast, turns[INNER]), in_lists(cast, turns)[INNER]
    bodies = [[*one, *lines] for one, lines in zip(pages, lists, strict=True)]
    assert bodies[0][0].startswith("200") and bodies[0][4].startswith("200")
    assert_one_shape_each(bodies)
    rows = numbers(bodies)
    assert trained(rows, recheck) < CHANCE
    assert max(abs(surprise(column, recheck)) for column in rows.T) < CHANCE_OF_MANY


def test_rechecks_in_the_order_of_the_import_are_found_by_the_classifier(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = serve(cast, import_order, monkeypatch)
    as_admin(cast)
    recheck = np.array([turn.recheck_id is not None for turn in turns])[INNER]

    assert trained(numbers(in_lists(cast, turns)[INNER]), recheck) > CHANCE + 1
