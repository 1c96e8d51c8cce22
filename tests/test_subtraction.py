"""The difference between two visits tells an annotator nothing: no number that she can read changes with what
somebody else submits, before its case is settled; and what is settled shows five trajectories at a time.

Ann shares trajectories with ben and with cleo. Work on them is brought to a moment in a random order, by rows
rather than by services, which is a hundred times as fast; she reads, one thing happens, and she reads again.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
import time_machine
from django.db import transaction

from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.models import (
    Adjudication,
    Assignment,
    Consensus,
    Dispute,
    OutcomeConsensus,
    PairedLabels,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.reports.agreement import paired_labels
from annotation.reports.agreement.report import FEWEST, agreement, as_json
from annotation.reports.quality import annotators
from annotation.reports.releases.release_agreement import agreement_twice
from annotation.services import adjudicate, assign, label
from tests.callers import PlainClient
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast, decide_all, import_records, label_all, make_member, make_records, open_case

ORDERS = int(os.environ.get("ORDERS_OF_WORK", "40"))
# of each order so many things in a row, of which she would read the difference
THINGS = 8
KINDS = ("mine", "theirs", "decided")
NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
# made anew for each answer
CHANCE = re.compile(rb'name="(?:csrfmiddlewaretoken|claim_key)"\s+value="[^"]*"')
TRAJECTORIES = 11
# of the labels of disputed steps there are at least `annotators.FEWEST_PAIRS`
STEPS = 8
PAGES_EVERY = 20


@dataclass(frozen=True)
class Shared:
    """The end of every order of work: everything submitted and every dispute resolved. `other` has who labels
    a trajectory beside ann, `disputed` those on which they differ."""

    cast: Cast
    rows: list[Trajectory]
    mine: dict[int, int]
    theirs: dict[int, int]
    disputed: frozenset[int]


@shared_rows
def shared(cast: Cast) -> Shared:
    """Ann says +1 throughout; of every third trajectory the other says −1 throughout, of the next it is a
    single step on which they differ."""
    make_member(cast.project, cast.ann, "annotator", "adjudicator")
    rows = import_records(cast.project, make_records(TRAJECTORIES, steps=STEPS))
    for number, row in enumerate(rows):
        other = cast.cleo if number % 5 == 4 else cast.ben
        for who in (cast.ann, other):
            made = assign.claim_this(actor=who, trajectory=row)
            low = who != cast.ann and number % 3 == 0
            values = [
                -1 if low or (who != cast.ann and number % 3 == 1 and step == 2) else 1
                for step in range(STEPS)
            ]
            label_all(made, values, outcome=-1 if low else 1)
            label.submit(actor=who, assignment=made)
        if number % 3 == 0:
            case = open_case(cast.judith, row)
            decide_all(case)
            adjudicate.close_case(actor=cast.judith, adjudication=case)
        elif number % 3 == 1:
            case = open_case(cast.judith, row)
            adjudicate.decide(actor=cast.judith, adjudication=case, message_index=6, value=1)
            adjudicate.close_case(actor=cast.judith, adjudication=case)
    given = dict(Assignment.objects.exclude(annotator=cast.ann).values_list("trajectory", "pk"))
    mine = dict(Assignment.objects.filter(annotator=cast.ann).values_list("trajectory", "pk"))
    disputed = frozenset(Dispute.objects.values_list("trajectory", flat=True))
    assert len(disputed) == 8
    return Shared(cast, rows, mine, given, disputed)


@dataclass
class Moment:
    """A moment in an order of work: what ann and the others have submitted, and which disputes are resolved.
    What happens is (who or what, trajectory)."""

    mine: list[int]
    theirs: set[int]
    decided: set[int]

    @classmethod
    def after(cls, events: list[tuple[str, int]]) -> Moment:
        """The moment after these."""
        mine, theirs, decided = ([pk for what, pk in events if what == kind] for kind in KINDS)
        return cls(mine, set(theirs), set(decided))

    def resolved(self, shared: Shared) -> set[int]:
        """The trajectories with a consensus."""
        both = self.theirs & set(self.mine)
        return (both - shared.disputed) | (both & self.decided)


def order_of_work(shared: Shared, rng: random.Random) -> list[tuple[str, int]]:
    """The events in a random order; a dispute is resolved once both have submitted."""
    events = [(kind, row.pk) for row in shared.rows for kind in ("mine", "theirs")]
    rng.shuffle(events)
    for pk in shared.disputed:
        after = max(events.index(("mine", pk)), events.index(("theirs", pk)))
        events.insert(rng.randint(after + 1, len(events)), ("decided", pk))
    return events


@dataclass(frozen=True)
class Missing:
    """The things missing at a moment that are there at the end: assignments that are open, trajectories that
    are not settled, and those that are not resolved."""

    submitted: set[int]
    settled: set[int]
    resolved: set[int]

    @classmethod
    def at(cls, shared: Shared, moment: Moment) -> Missing:
        """The things missing at a moment."""
        everything = {row.pk for row in shared.rows}
        given = (shared.mine, set(moment.mine)), (shared.theirs, moment.theirs)
        return cls(
            {pk for whose, done in given for row, pk in whose.items() if row not in done},
            everything - (moment.theirs & set(moment.mine)),
            everything - moment.resolved(shared),
        )

    def without(self, other: Missing) -> Missing:
        """The things missing here and not there."""
        return Missing(
            self.submitted - other.submitted, self.settled - other.settled, self.resolved - other.resolved
        )


def take_away(missing: Missing) -> None:
    """Bring the rows from the end of the work, or from a later moment, to an earlier one."""
    paired_labels.in_memory.clear()
    Assignment.objects.filter(pk__in=missing.submitted).update(state=AssignmentState.OPEN, submitted_at=None)
    for pks, state in (
        (missing.resolved - missing.settled, TrajectoryState.DISPUTED),
        (missing.settled, TrajectoryState.LABELLING),
    ):
        Trajectory.objects.filter(pk__in=pks).update(state=state.value)
    Adjudication.objects.filter(trajectory__in=missing.resolved).update(state="released", decided_at=None)
    for model, pks in (
        (PairedLabels, missing.settled),
        (Dispute, missing.settled),
        (Consensus, missing.resolved),
        (OutcomeConsensus, missing.resolved),
    ):
        rows = model._default_manager.filter(trajectory__in=pks)
        rows._raw_delete(rows.db)


def put_in_order(shared: Shared, moment: Moment) -> None:
    """Ann has submitted in the order of the moment, an hour for each."""
    submitted = [Assignment(pk=shared.mine[row]) for row in moment.mine]
    for number, made in enumerate(submitted):
        made.submitted_at = NOW - timedelta(days=6, hours=-number)
    Assignment.objects.bulk_update(submitted, ["submitted_at"])


def figures(shared: Shared) -> dict[str, Any]:
    """The figures of ann herself, as the API sends them."""
    cast = shared.cast
    return annotators.as_json(
        annotators.annotator_figures(viewer=cast.ann, project=cast.project, annotator=cast.ann.pk)
    )


def everything(shared: Shared, about: int) -> dict[str, Any]:
    """The other numbers that ann can read, those of one trajectory among them, and what everybody could read
    in the manifest of a release of what is resolved."""
    cast = shared.cast
    client = PlainClient(cast.ann)
    slug = cast.project.slug
    found = {}
    for url in (
        *(
            "/",
            "/notices/",
            f"/p/{slug}/",
            f"/p/{slug}/work/",
            f"/p/{slug}/agreement/annotators/{cast.ann.pk}/",
        ),
        *("/api/v1/me/", "/api/v1/me/notices/", "/api/v1/me/discussions/", f"/api/v1/projects/{slug}/"),
        *(
            f"/api/v1/projects/{slug}/{name}/"
            for name in ("assignments", "subsets", "disputes", "adjudications")
        ),
        f"/api/v1/trajectories/{about}/",
        f"/api/v1/assignments/{shared.mine[about]}/",
    ):
        answer = client.get(url)
        assert answer.status_code in (200, 404, 409), (url, answer.status_code)
        found[url] = (answer.status_code, CHANCE.sub(b"", answer.content))
    found["agreement"] = as_json(agreement(viewer=cast.ann, project=cast.project))
    resolved = Trajectory.objects.filter(state__in=("unanimous", "adjudicated"))
    found["manifest"] = agreement_twice(
        viewer=OPERATOR, project=cast.project, trajectories=list(resolved.values_list("pk", flat=True))
    )
    return found


Readings = tuple[dict[str, Any], dict[str, Any]]


def read(shared: Shared, about: int | None) -> Readings:
    """The readings of ann: her figures, and everything else where it is asked for `about` one trajectory."""
    return figures(shared), everything(shared, about) if about is not None else {}


def visits(shared: Shared, moments: list[Moment], about: int | None) -> list[Readings]:
    """The readings of ann at each moment. The rows are brought to the last of them, and back from there."""
    found = []
    there = Missing(set(), set(), set())
    with transaction.atomic():
        put_in_order(shared, moments[-1])
        for moment in reversed(moments):
            missing = Missing.at(shared, moment)
            take_away(missing.without(there))
            there = missing
            found.append(read(shared, about))
        transaction.set_rollback(True)
    return found[::-1]


def numbers_in(value: Any) -> Iterable[float]:
    """Every number in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner)
    elif isinstance(value, float):
        yield value


@pytest.mark.slow
def test_subtraction_of_two_visits_tells_no_label_before_its_case_is_settled(shared: Shared) -> None:
    silent = renewed = 0
    with time_machine.travel(NOW, tick=False):
        for seed in range(ORDERS):
            rng = random.Random(seed)
            events = order_of_work(shared, rng)
            cut = rng.choice([at for at, (kind, _pk) in enumerate(events) if kind != "mine"])
            pages = seed % PAGES_EVERY == 0
            happens = events[cut : cut + (1 if pages else THINGS)]
            moments = [Moment.after(events[: cut + number]) for number in range(len(happens) + 1)]
            seen = visits(shared, moments, events[cut][1] if pages else None)
            for event, (earlier, later), (before, after) in zip(
                happens, pairwise(moments), pairwise(seen), strict=True
            ):
                if event[0] == "mine":
                    continue
                where = f"order {seed}: {event}"
                if later.resolved(shared) == earlier.resolved(shared):
                    told = [name for name in before[1] if before[1][name] != after[1][name]]
                    assert not told, f"{where} shows at {told}"
                    assert before[0] == after[0], f"{where} shows in one's own figures"
                    silent += 1
                elif before[0] != after[0]:
                    new = after[0]["compared_trajectories"] - before[0]["compared_trajectories"]
                    assert new >= FEWEST, f"{where}: figures of {new} more trajectories"
                    renewed += 1
                assert all(round(number, annotators.DIGITS) == number for number in numbers_in(after[0]))
    assert silent > ORDERS and renewed > ORDERS / 10, (silent, renewed)


def test_figures_of_a_block_do_not_tell_whose_labels_are_whose(shared: Shared) -> None:
    """What ben said of two trajectories of one block, the other way round, is the same to ann."""
    agreed, differing = shared.rows[2].pk, shared.rows[3].pk
    first = figures(shared)
    rows = PairedLabels.objects.in_bulk(field_name="pk")
    one, other = (next(row for row in rows.values() if row.trajectory_id == pk) for pk in (agreed, differing))
    assert one.steps != other.steps
    one.steps, other.steps = other.steps, one.steps
    PairedLabels.objects.bulk_update([one, other], ["steps"])
    paired_labels.in_memory.clear()

    assert figures(shared) == first and first["compared_trajectories"] == 10
