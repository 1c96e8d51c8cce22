"""Noninterference of annotators: no act of the other, and no suggestion that she has not revealed, changes
one byte or one count that an annotator can see.

The same project is brought into several states that differ only in what ben (or a judge) did at a trajectory
that ann holds. Everything ann can GET must be the same in all of them, under the ids of what ben touches, of
a row of each table, and of the next one that there will be; what she is refused, in the first and in the
last, in which most has happened. Django's own admin is not asked: she is no staff
(tests/permission_matrix.txt).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import time_machine
from django.db import transaction
from django.db.models import Model

from annotation.core.influence.experiment import Arm
from annotation.core.kinds import DECISIONS, STEPS, ProjectKind
from annotation.models import (
    Adjudication,
    Allocation,
    Assignment,
    Judge,
    JudgesFirstVerdict,
    SecondPerson,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR
from annotation.services import adjudicate, assign, label, projects, release, second_person
from tests.addresses import Address, addresses, methods
from tests.callers import PlainClient
from tests.fixtures.decisions import make_decision
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.judges_first import make_judges_first_cast, say
from tests.ids import Id
from tests.people import (
    Cast,
    decide_all,
    import_records,
    label_all,
    make_cast,
    make_member,
    make_records,
    open_case,
)
from tests.suggesting import suggest
from tests.world import PLACES, TABLES, World

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
# made anew for each answer: CSRF tokens, and the key that makes a double click claim once
CHANCE = re.compile(r'name="(?:csrfmiddlewaretoken|claim_key)"\s+value="[^"]*"|csrftoken=[^;]+')
NONE: frozenset[str] = frozenset()
State = Callable[[Cast, Trajectory], None]
Ids = dict[type[Model], list[int]]


def _ben(cast: Cast, row: Trajectory) -> Assignment:
    return assign.claim_this(actor=cast.ben, trajectory=row)


def nothing(cast: Cast, row: Trajectory) -> None:
    """Ben has not been here."""


def given_back(cast: Cast, row: Trajectory) -> None:
    """Ben had it."""
    assign.return_assignment(actor=cast.ben, assignment=_ben(cast, row), reason="a reason")


def agreeing(cast: Cast, row: Trajectory) -> None:
    """Ben has submitted the labels that ann gives."""
    made = _ben(cast, row)
    label_all(made, 1, outcome=1)
    label.submit(actor=cast.ben, assignment=made)


def differing(cast: Cast, row: Trajectory) -> None:
    """Ben has submitted other labels."""
    made = _ben(cast, row)
    label_all(made, -1, outcome=-1, note="a note")
    label.submit(actor=cast.ben, assignment=made)


def differing_otherwise(cast: Cast, row: Trajectory) -> None:
    """Ben has submitted others still: ann's first step, and not the second."""
    made = _ben(cast, row)
    label_all(made, [1, 0], outcome=0, note="another note")
    label.submit(actor=cast.ben, assignment=made)


def half_decided(cast: Cast, row: Trajectory) -> None:
    """Judith has the case, and has decided a step against ann."""
    differing(cast, row)
    case = open_case(cast.judith, row)
    adjudicate.decide(actor=cast.judith, adjudication=case, message_index=2, value=-1, note="a decision")


def adjudicated(cast: Cast, row: Trajectory) -> None:
    """Ben has submitted other labels, and judith has decided against ann."""
    differing(cast, row)
    case = open_case(cast.judith, row)
    decide_all(case, -1, note="a decision")
    adjudicate.close_case(actor=cast.judith, adjudication=case)


def revealing(cast: Cast, row: Trajectory) -> None:
    """A judge has suggested labels, and ben has it open, has labelled it whole and looked at them; ann has
    not."""
    suggest(Judge.objects.get(project=cast.project), row, comment="a comment")
    made = _ben(cast, row)
    label_all(made, -1, outcome=-1, note="a note")
    label.reveal(actor=cast.ben, assignment=made, everything=True)


def ids_of(*rows: Model) -> Ids:
    """The ids to ask with: of these rows, of one of every other table, and the next of each."""
    found: Ids = {}
    for table in {*TABLES.values(), Trajectory}:
        there = sorted(table._default_manager.values_list("pk", flat=True))
        asked = [row.pk for row in rows if isinstance(row, table)] or there[:1]
        found[table] = [*asked, there[-1] + 1 if there else 1]
    return found


def place_of(cast: Cast, row: Trajectory) -> World:
    """The world of the addresses; ids are filled in afterwards."""
    return World(
        cast=cast,
        at=dict.fromkeys(PLACES, row),
        ids={name: Id.of(table(pk=1)) for name, table in TABLES.items()},
        link="x",
        answers=dict.fromkeys(PLACES, UUID(int=0)),
    )


def seen_by(user: User, world: World, ids: Ids, leave_out: frozenset[str] = NONE) -> dict[str, str]:
    """The answers to a person's GET at every address."""
    client = PlainClient(user)
    found = {}
    for address in addresses():
        if (
            "GET" not in methods(address)
            or address.tag in ("good", "bad")
            or address.name.startswith("admin:")
        ):
            continue
        for url in _urls(address, world, ids):
            if url in found or url in leave_out:
                continue
            found[url] = _plain(client, url)
    return found


def _urls(address: Address, world: World, ids: Ids) -> set[str]:
    filling = dict(address.fill(world))
    if "pk" not in filling or isinstance(filling["pk"], UUID):  # nobody guesses a UUID
        return {address.url(world)}
    aimed = [{**filling, "pk": pk} for pk in ids[filling["pk"].table]]
    return {Address(address.name, lambda _world, at=at: at).url(world) for at in aimed}


def _plain(client: PlainClient, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code < 500, url
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return CHANCE.sub("", f"{answer.status_code}\n{answer.headers}\n{body.decode(errors='replace')}")


def seen_in(states: list[State], cast: Cast, row: Trajectory, ids: Ids) -> dict[str, dict[str, str]]:
    """What ann sees in each state; what she is refused, in the first and in the last alone."""
    found: dict[str, dict[str, str]] = {}
    place = place_of(cast, row)
    refused = NONE
    for state in states:
        with transaction.atomic():
            state(cast, row)
            found[state.__name__] = seen_by(cast.ann, place, ids, NONE if state is states[-1] else refused)
            transaction.set_rollback(True)
        refused = refused or frozenset(
            url for url, text in found[states[0].__name__].items() if text[0] in "345"
        )
    first = found[states[0].__name__]
    assert len(first) - len(refused) > 20
    assert found[states[-1].__name__].keys() == first.keys()
    assert all(first.keys() - refused <= seen.keys() for seen in found.values())
    return found


def told(found: dict[str, dict[str, str]]) -> set[tuple[str, str]]:
    """The states in which an answer is another than in the first, and its address."""
    first = next(iter(found.values()))
    return {(state, url) for state, seen in found.items() for url in seen if seen[url] != first.get(url)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "ann_submits", "states"),
    [
        (STEPS, False, [nothing, given_back, differing, revealing]),
        # that they agree can show once she has submitted
        (STEPS, True, [nothing, given_back, differing, revealing, agreeing, adjudicated]),
        (DECISIONS, True, [nothing, agreeing, adjudicated]),
    ],
    ids=["while she labels", "after she submitted", "decisions, after she submitted"],
)
def test_noninterference_of_the_other_annotator_with_anything_i_can_see(
    db: None, kind: ProjectKind, ann_submits: bool, states: list[State]
) -> None:
    with time_machine.travel(NOW, tick=False):
        cast = make_cast(kind=kind.name)
        # that a project has judges is known
        make_imported_judge(cast.project, "a judge of name")
        # one that ann holds, one that she does not, so that there is always something to claim
        records = make_records(2) if kind is STEPS else [make_decision(query) for query in range(2)]
        row, free = import_records(cast.project, records)
        mine = assign.claim_this(actor=cast.ann, trajectory=row)
        label_all(mine, 1, outcome=1)
        if ann_submits:
            label.submit(actor=cast.ann, assignment=mine)
        found = seen_in(states, cast, row, ids_of(row, free, mine, cast.ann, cast.ben))
    assert not told(found)


def spared(cast: Cast, row: Trajectory) -> None:
    """Judges have not doubted ann's labels, which are the consensus."""
    _decided(row, asked=False)


def doubted(cast: Cast, row: Trajectory) -> None:
    """Judges have doubted them, and there is a place for a second person."""
    _decided(row, asked=True)


def doubted_and_labelled(cast: Cast, row: Trajectory) -> None:
    """The second person was ben, who has submitted other labels."""
    _decided(row, asked=True)
    differing(cast, row)


def _decided(row: Trajectory, *, asked: bool) -> None:
    submitted_at = Assignment.objects.get(trajectory=row).submitted_at
    second_person.decide(row.pk, submitted_at, doubt=0.5, asked=asked)
    assert SecondPerson.objects.get(trajectory=row).state == ("asked" if asked else "spared")


@pytest.mark.slow
@pytest.mark.parametrize("after", [timedelta(), timedelta(days=30)], ids=["at once", "when she is retested"])
def test_noninterference_of_judges_as_the_second_reader(db: None, after: timedelta) -> None:
    values = {"second_reader": "judges", "suggestion_policy": "never"}
    with time_machine.travel(NOW, tick=False) as clock:
        cast = make_cast()
        projects.update_project(actor=OPERATOR, project=cast.project, values=values)
        row, free = import_records(cast.project, make_records(2))
        suggest(make_imported_judge(cast.project, "a judge of name"), row, comment="a comment")
        SecondPerson.objects.create(project=cast.project, trajectory=row)
        Trajectory.objects.filter(pk=row.pk).update(free_slots=1)
        mine = assign.claim_this(actor=cast.ann, trajectory=row)
        label_all(mine, 1, outcome=1)
        label.submit(actor=cast.ann, assignment=mine)
        clock.shift(after)
        states: list[State] = [nothing, spared, doubted, doubted_and_labelled]
        found = seen_in(states, cast, row, ids_of(row, free, mine, cast.ann, cast.ben))
    assert not told(found)


def left_to_people(cast: Cast, row: Trajectory) -> None:
    """Judges disagreed about it, so that people are asked."""
    say(Judge.objects.filter(project=cast.project), [row], [["key", "reverse", "missing"]])


def drawn_from_judged(cast: Cast, row: Trajectory) -> None:
    """Judges agreed about it, and it is among those that people label as well."""
    say(Judge.objects.filter(project=cast.project), [row], [["key", "key", "same"]])
    JudgesFirstVerdict.objects.filter(trajectory=row).update(verdict="judged", drawn=True)


@pytest.mark.slow
@pytest.mark.parametrize("submits", [False, True], ids=["while she labels", "after she submitted"])
def test_noninterference_of_what_judges_settled_first(db: None, submits: bool) -> None:
    with time_machine.travel(NOW, tick=False):
        cast, (row, free), _judges = make_judges_first_cast(2)
        for one in (row, free):
            JudgesFirstVerdict.objects.create(
                project=cast.project, trajectory=one, verdict="people", place=0.5, created_at=NOW
            )
        mine = assign.claim_this(actor=cast.ann, trajectory=row)
        label_all(mine, 1, outcome=1)
        if submits:
            label.submit(actor=cast.ann, assignment=mine)
        states: list[State] = [nothing, left_to_people, drawn_from_judged]
        found = seen_in(states, cast, row, ids_of(row, free, mine, cast.ann, cast.ben))
    assert not told(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "ann_submits", "states"),
    [
        ("adjudicator", False, [nothing, agreeing, differing]),
        ("adjudicator", True, [nothing, differing, differing_otherwise, half_decided]),
        # who administers a project may know who has submitted what, and once she has submitted, all labels
        ("admin", False, [agreeing, differing]),
    ],
    ids=["adjudicator while she labels", "adjudicator after she submitted", "admin while she labels"],
)
def test_noninterference_with_whoever_labels_and_decides_or_administers_too(
    db: None, role: str, ann_submits: bool, states: list[State]
) -> None:
    """There is enough beside it that agreement, figures of people and a release have something to say."""
    with time_machine.travel(NOW, tick=False):
        cast = make_cast()
        row, _free, *others = import_records(cast.project, make_records(8))
        for number, other in enumerate(others):
            for user in (cast.ann, cast.ben):
                made = assign.claim_this(actor=user, trajectory=other)
                label_all(made, [1, -1 if number % 2 else 0], outcome=1)
                label.submit(actor=user, assignment=made)
        release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
        make_member(cast.project, cast.ann, "annotator", role)
        mine = assign.claim_this(actor=cast.ann, trajectory=row)
        label_all(mine, 1, outcome=1)
        if ann_submits:
            label.submit(actor=cast.ann, assignment=mine)
        found = seen_in(states, cast, row, ids_of(row, mine, cast.ann, cast.ben))
    assert sum(text.startswith("200") for text in found[states[0].__name__].values()) > 30
    assert not told(found)


@pytest.mark.slow
def test_noninterference_of_an_arm_with_anything_that_somebody_else_can_see(db: None) -> None:
    """Ben labels alike in both arms, and looks where his arm lets him. Neither ann, who labels the same, nor
    judith, who decides between them, can tell by a single byte in which arm he is."""
    with time_machine.travel(NOW, tick=False):
        cast = make_cast()
        row, _free = import_records(cast.project, make_records(2))
        suggest(make_imported_judge(cast.project, "a judge of name"), row, comment="a comment")
        projects.randomise(actor=OPERATOR, project=cast.project, seed=7)
        mine, his = (assign.claim_this(actor=user, trajectory=row) for user in (cast.ann, cast.ben))
        Allocation.objects.filter(annotator=cast.ann).update(arm="after_label")
        label_all(mine, 1, outcome=1)
        label.submit(actor=cast.ann, assignment=mine)
        ids = ids_of(row, mine, his, cast.ann, cast.ben)
        found = {}
        for arm in (Arm.SEALED, Arm.ALWAYS):
            with transaction.atomic():
                Allocation.objects.filter(annotator=cast.ben).update(arm=arm.value)
                if arm is Arm.ALWAYS:
                    label.reveal(actor=cast.ben, assignment=his, everything=True)
                label_all(his, -1, outcome=-1)
                label.submit(actor=cast.ben, assignment=his)
                case = open_case(cast.judith, row)
                Adjudication.objects.filter(pk=case.pk).update(letter_seed=7)  # drawn by chance, else
                assert case.pk in ids[Adjudication]
                for user in (cast.ann, cast.judith):
                    found[arm, user] = seen_by(user, place_of(cast, row), ids)
                transaction.set_rollback(True)
    for (arm, user), seen in found.items():
        first = found[Arm.SEALED, user]
        assert sum(text.startswith("200") for text in first.values()) > 20
        changed = [url for url in first if seen[url] != first[url]]
        assert not changed, f"that ben is in the arm {arm} shows {user} at {changed}"
