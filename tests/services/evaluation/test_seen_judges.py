"""Judges whose suggestions annotators saw before they submitted are marked on the leaderboard."""

from __future__ import annotations

import json

import pytest

from annotation.core.vocabulary import ExposureKind
from annotation.models import Release, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.evaluation.leaderboard import as_json as leaderboard_json
from annotation.reports.evaluation.leaderboard import leaderboard
from annotation.services import assign, evaluate, exposures, label
from annotation.services import release as releases
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, import_records, label_all, label_next
from tests.services.predicting import bring, line
from tests.suggesting import suggest

pytestmark = pytest.mark.postgres


def labelled(cast: Cast, row: Trajectory, *, sees: bool) -> None:
    """By ann, who may see what judges suggest of the first step; and blind by ben."""
    mine = assign.claim_this(actor=cast.ann, trajectory=row)
    label_all(mine, 1)
    if sees:
        step = row.steps.order_by("message_index").first()
        exposures.note(user=cast.ann, kind=ExposureKind.SUGGESTION, seen=[(row.pk, step.pk)])
    label.submit(actor=cast.ann, assignment=mine)
    label_next(cast.ben, cast.project)


@pytest.mark.parametrize("sees", [True, False])
def test_judge_that_annotators_saw_is_marked_and_people_are_a_reference(cast: Cast, sees: bool) -> None:
    seen = make_imported_judge(cast.project, "Seen")
    rows = import_records(cast.project, 2)
    suggest(seen, rows[0], 1)
    sealed = make_imported_judge(cast.project, "Sealed", model="Bold")
    suggest(sealed, rows[1], 1)
    labelled(cast, rows[0], sees=sees)
    labelled(cast, rows[1], sees=False)
    made: Release = releases.freeze(actor=cast.admin, project=cast.project, version="1.0")
    for judge in (seen, sealed):
        evaluate.score_judge(actor=cast.admin, release=made, judge=judge)
    bring(cast, made, line(0, {"2": 1, "4": 1}), model="Bold")
    evaluate.fit_release(release_id=made.pk)

    found = leaderboard_json(leaderboard(actor=OPERATOR, release=made))

    marked = {row["model"]: row["seen_by_annotators"] for row in found["models"]}
    assert marked == {"Seen": sees, "Sealed": False, "Bold": False}
    # whoever has seen a suggestion is no blind human of that trajectory
    human = found["blind_human"]
    assert (human["labellings"], human["overall"]["records"]) == ((2, 1) if sees else (4, 2))
    assert human["overall"]["step_accuracy"] == 1 and human["overall"]["ranks"] == {}
    exposure = json.loads(made.manifest)["exposure"]
    assert exposure["trajectories"] - exposure["blind_trajectories"] == int(sees)
