"""Gold and rechecks cannot be told from what is labelled for a release, by anything that their annotator is
sent before, during and after labelling them. `SERVED_TRAJECTORIES=1000` serves so many, and looks at times.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from rest_framework.response import Response

from annotation.core.rechecks import sampling
from annotation.models import Assignment, Membership, Project, Trajectory
from annotation.reports.quality.since_check import since_check
from annotation.services import bulk, even_time, label
from annotation.services.training import copies
from api.views import assignments as views
from tests.fixtures.chance import drawn
from tests.people import Cast
from tests.services.gold_dealing import golden
from tests.services.long_writes import import_labels
from tests.services.rechecking import audit_everything
from tests.told_apart import Recorder, Sent, Turn, Verdict, features, odd_ones, surprise, verdict

pytestmark = pytest.mark.slow

SERVED = int(os.environ.get("SERVED_TRAJECTORIES", "36"))
QUEUE, RESOLVED, HALF, GOLD = 2 * SERVED, SERVED // 4, SERVED // 2, SERVED * 2 // 5
TIMED = SERVED > 100
"""With times, which small numbers say nothing of."""
CHANCE, CHANCE_OF_MANY = 4, 5
"""Standard deviations that a classifier, or the best of some hundred numbers, stays below by chance."""


def served(cast: Cast, patch: pytest.MonkeyPatch, *, number: int = SERVED, whole: bool = True) -> list[Turn]:
    """What cleo is given, and all that she is sent of it: between trajectories of the queue, of which ann has
    labelled some, gold, and what ann and ben had labelled alike. Without the first and the last, which have
    no other before or after them. `whole`: not only until it is labelled."""
    patch.setattr(sampling, "place", drawn)
    if not TIMED:
        patch.setattr(even_time, "TICK", 0.0001)
    golden(cast, records=QUEUE, gold=GOLD, percent=30)
    Project.objects.filter(pk=cast.project.pk).update(claim_limit=100)
    queue = list(Trajectory.objects.filter(project=cast.project, live=True).order_by("position"))
    for who in ("ann", "ben"):
        import_labels(cast, queue[:RESOLVED], who)
    audit_everything(cast.project)
    import_labels(cast, queue[RESOLVED : RESOLVED + 2 * HALF : 2], "ann")
    recorder = Recorder(cast.cleo, cast.project)
    turns = []
    for _ in range(number):
        turn = recorder.claim()
        recorder.open(turn)
        recorder.work(turn)
        if whole:
            recorder.pages(turn)
        turns.append(turn)
    if whole:
        recorder.lists(turns)
    hidden = dict(Assignment.stored.filter(annotator=cast.cleo).values_list("pk", "recheck"))
    for turn in turns:
        turn.hidden = hidden[turn.assignment] is not None
    return turns[1:-1]


def look_again(cast: Cast, turns: list[Turn]) -> None:
    """Put what cleo is sent when she is asked to look at them again in the place of what she was sent."""
    membership = Membership.objects.select_related("project", "user").get(
        project=cast.project, user=cast.cleo
    )
    ready = since_check(actor=cast.admin, membership=membership).preview.ready
    assert {turn.assignment for turn in turns} <= {row.pk for row in ready}
    label.queue_since_check(actor=cast.admin, membership=membership, expected=len(ready))
    recorder = Recorder(cast.cleo, cast.project)
    for turn in turns:
        turn.sent = []
    recorder.lists(turns[:18])
    for turn in turns[18:]:
        turn.sent = [Sent("", 0.0, 0.0, 0) for _ in turns[0].sent]
    for turn in turns:
        recorder.look_again(turn)
        recorder.pages(turn)
    recorder.lists(turns)


def of(turns: list[Turn]) -> np.ndarray:
    """Which of them were gold or rechecks: enough of both."""
    hidden = np.array([turn.hidden for turn in turns])
    assert 8 < hidden.sum() < len(hidden) - 8
    return hidden


def test_nothing_that_is_sent_tells_gold_or_rechecks(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when they are given nor when she is asked to look at them again. Of the samples of this size
    one in some hundred is beyond the bounds by chance: then another one, which has nothing of the first,
    decides."""

    def sampled() -> tuple[Verdict, Verdict]:
        with transaction.atomic():
            turns = served(cast, monkeypatch)
            first = told_apart(turns)
            look_again(cast, turns)
            second = told_apart(turns)
            transaction.set_rollback(True)
        return first, second

    def told_apart(turns: list[Turn]) -> Verdict:
        assert odd_ones(turns, least=8) == []
        return verdict(features(turns, timed=TIMED), of(turns))

    def fits(found: Verdict) -> bool:
        return found.by_chance and found.surprise < CHANCE and found.loudest < CHANCE_OF_MANY

    found = sampled()
    print(found)
    if not all(map(fits, found)):
        again = sampled()
        assert all(fits(one) or fits(other) for one, other in zip(found, again, strict=True)), (found, again)


def test_ids_at_the_end_a_missing_field_and_a_header_are_found(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet, again = views.sheet, views.Mine.again

    def without_a_field(bench: Any, part: range) -> dict[str, Any]:
        told = sheet(bench, part)
        if bench.assignment.recheck_id is not None:
            del told["guideline_version"]
        return told

    def with_a_header(self: Any, row: Assignment) -> Response:
        answer = again(self, row)
        if row.recheck_id is not None:
            answer["X-Kind"] = "recheck"
        return answer

    monkeypatch.setattr(views, "sheet", without_a_field)
    monkeypatch.setattr(views.Mine, "again", with_a_header)
    monkeypatch.setattr(copies, "_id_among", lambda *_where: bulk.draw_ids(Trajectory, 1)[0])
    turns = served(cast, monkeypatch, number=SERVED * 2 // 3, whole=False)

    told = {shape for shapes in odd_ones(turns) for shape, _hidden in shapes}
    assert any("X-Kind" in shape for shape in told)
    assert {"guideline_version" in shape for shape in told if '"open":true' in shape} == {True, False}
    gold = set(Assignment.stored.filter(recheck__kind="gold").values_list("pk", flat=True))
    # readers of audits get what was imported first: among them the highest ids are not alone
    kept = [turn for turn in turns if turn.assignment in gold or not turn.hidden]
    ids = np.array([turn.trajectory for turn in kept], dtype=np.float64)
    hidden = np.array([turn.hidden for turn in kept])
    # as far above all others as so few can be
    assert ids[hidden].min() > ids[~hidden].max() and surprise(ids, hidden) > 2
