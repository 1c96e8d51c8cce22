"""Noninterference of annotators: no act of the other, and no suggestion that she has not revealed, changes
one byte or one count that an annotator can see.

Ann holds or has submitted a trajectory for each thing that ben (or a judge) can do at one. Everything she can
GET must be the same after all of these acts as before the first, under the ids of what ben touches, of a row
of each table, and of the next ones that there will be. Where it is not, each act is done alone, so that the
failure names it. Django's own admin is not asked: she is no staff (tests/permission_matrix.txt).
"""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine

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
from tests.fixtures.decisions import make_decision
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.judges_first import make_judges_first_cast, say
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
from tests.sight import NOW, Act, Acts, Ids, Sight, done, ids_of, place_of, urls_of
from tests.suggesting import suggest


def _ben(cast: Cast, row: Trajectory) -> Assignment:
    return assign.claim_this(actor=cast.ben, trajectory=row)


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


def told(
    cast: Cast, acts: Acts, ids: Ids, *, in_place_of: Acts = (), least: int = 20
) -> set[tuple[str, str]]:
    """What ann sees after the acts, each at its trajectory, and not before the first, or not after those in
    their place: the acts that show by themselves ("all": together), and the address. She gets more than so
    many pages."""
    with done(cast, in_place_of):
        first = Sight(cast.ann, urls_of(place_of(cast, acts[0][1]), ids))
    assert sum(text.startswith("200") for text in first.answers.values()) > least

    def changed(by: Acts) -> set[str]:
        with done(cast, by):
            return first.changed()

    together = changed(acts)
    alone = [(one[0].__name__, changed([one])) for one in acts] if together else []
    return {(name, url) for name, urls in [("all", together), *alone] for url in urls & together}


def held(cast: Cast, row: Trajectory, *, submits: bool) -> Assignment:
    """Ann's assignment, labelled."""
    mine = assign.claim_this(actor=cast.ann, trajectory=row)
    label_all(mine, 1, outcome=1)
    if submits:
        label.submit(actor=cast.ann, assignment=mine)
    return mine


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "while_she_labels", "after_she_submitted"),
    [
        # that they agree can show once she has submitted
        (
            STEPS,
            [given_back, differing, revealing],
            [given_back, differing, revealing, agreeing, adjudicated],
        ),
        (DECISIONS, [], [agreeing, adjudicated]),
    ],
    ids=["steps", "decisions"],
)
def test_noninterference_of_the_other_annotator_with_anything_i_can_see(
    db: None, kind: ProjectKind, while_she_labels: list[Act], after_she_submitted: list[Act]
) -> None:
    with time_machine.travel(NOW, tick=False):
        cast = make_cast(kind=kind.name)
        # that a project has judges is known
        make_imported_judge(cast.project, "a judge of name")
        acts = [*after_she_submitted, *while_she_labels]
        # those that ann holds, and one that she does not, so that there is always something to claim
        size = len(acts) + 1
        records = make_records(size) if kind is STEPS else [make_decision(query) for query in range(size)]
        *rows, free = import_records(cast.project, records)
        mine = [held(cast, row, submits=n < len(after_she_submitted)) for n, row in enumerate(rows)]
        ids = ids_of(*rows, free, *mine, cast.ann, cast.ben, after=len(acts))
        shown = told(cast, list(zip(acts, rows, strict=True)), ids)
    assert not shown


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
def test_noninterference_of_judges_as_the_second_reader(db: None) -> None:
    """At what she has just submitted, and at what she submitted so long ago that she is retested."""
    values = {"second_reader": "judges", "suggestion_policy": "never"}
    acts: list[Act] = [spared, doubted, doubted_and_labelled]
    with time_machine.travel(NOW, tick=False) as clock:
        cast = make_cast()
        projects.update_project(actor=OPERATOR, project=cast.project, values=values)
        *rows, free = import_records(cast.project, make_records(2 * len(acts) + 1))
        judge = make_imported_judge(cast.project, "a judge of name")
        mine = []
        for number, row in enumerate(rows):
            if number == len(acts):
                clock.shift(timedelta(days=30))
            suggest(judge, row, comment="a comment")
            SecondPerson.objects.create(project=cast.project, trajectory=row)
            Trajectory.objects.filter(pk=row.pk).update(free_slots=1)
            mine.append(held(cast, row, submits=True))
        ids = ids_of(*rows, free, *mine, cast.ann, cast.ben, after=2)
        shown = told(cast, list(zip(acts * 2, rows, strict=True)), ids)
    assert not shown


def left_to_people(cast: Cast, row: Trajectory) -> None:
    """Judges disagreed about it, so that people are asked."""
    say(Judge.objects.filter(project=cast.project), [row], [["key", "reverse", "missing"]])


def drawn_from_judged(cast: Cast, row: Trajectory) -> None:
    """Judges agreed about it, and it is among those that people label as well."""
    say(Judge.objects.filter(project=cast.project), [row], [["key", "key", "same"]])
    JudgesFirstVerdict.objects.filter(trajectory=row).update(verdict="judged", drawn=True)


@pytest.mark.slow
def test_noninterference_of_what_judges_settled_first(db: None) -> None:
    """At what she has submitted, and at what she labels."""
    acts: list[Act] = [left_to_people, drawn_from_judged] * 2
    with time_machine.travel(NOW, tick=False):
        cast, rows, _judges = make_judges_first_cast(len(acts) + 1)
        for one in rows:
            JudgesFirstVerdict.objects.create(
                project=cast.project, trajectory=one, verdict="people", place=0.5, created_at=NOW
            )
        free = rows.pop()
        mine = [held(cast, row, submits=number < 2) for number, row in enumerate(rows)]
        ids = ids_of(*rows, free, *mine, cast.ann, cast.ben)
        shown = told(cast, list(zip(acts, rows, strict=True)), ids)
    assert not shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "while_she_labels", "after_she_submitted", "in_place_of"),
    [
        ("adjudicator", [agreeing, differing], [differing, differing_otherwise, half_decided], []),
        # who administers a project may know who has submitted what, and once she has submitted, all labels
        ("admin", [differing, differing_otherwise], [], [agreeing, agreeing]),
    ],
    ids=["adjudicator", "admin"],
)
def test_noninterference_with_whoever_labels_and_decides_or_administers_too(
    db: None,
    role: str,
    while_she_labels: list[Act],
    after_she_submitted: list[Act],
    in_place_of: list[Act],
) -> None:
    """There is enough beside it that agreement, figures of people and a release have something to say."""
    with time_machine.travel(NOW, tick=False):
        cast = make_cast()
        acts = [*after_she_submitted, *while_she_labels]
        rows = import_records(cast.project, make_records(len(acts) + 7))
        for number, row in enumerate(rows[len(acts) + 1 :]):
            for user in (cast.ann, cast.ben):
                made = assign.claim_this(actor=user, trajectory=row)
                label_all(made, [1, -1 if number % 2 else 0], outcome=1)
                label.submit(actor=user, assignment=made)
        release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
        make_member(cast.project, cast.ann, "annotator", role)
        rows = rows[: len(acts)]
        mine = [held(cast, row, submits=n < len(after_she_submitted)) for n, row in enumerate(rows)]
        ids = ids_of(*rows, *mine, cast.ann, cast.ben)
        others = list(zip(in_place_of, rows, strict=False))
        shown = told(cast, list(zip(acts, rows, strict=True)), ids, in_place_of=others, least=30)
    assert not shown


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
        urls = urls_of(place_of(cast, row), ids)
        seen: dict[User, Sight] = {}
        for arm in (Arm.SEALED, Arm.ALWAYS):
            with done(cast):
                Allocation.objects.filter(annotator=cast.ben).update(arm=arm.value)
                if arm is Arm.ALWAYS:
                    label.reveal(actor=cast.ben, assignment=his, everything=True)
                label_all(his, -1, outcome=-1)
                label.submit(actor=cast.ben, assignment=his)
                case = open_case(cast.judith, row)
                Adjudication.objects.filter(pk=case.pk).update(letter_seed=7)  # drawn by chance, else
                assert case.pk in ids[Adjudication]
                for user in (cast.judith, cast.ann):
                    if user not in seen:
                        seen[user] = Sight(user, urls)
                        assert sum(text.startswith("200") for text in seen[user].answers.values()) > 20
                        continue
                    changed = seen[user].changed()
                    assert not changed, f"that ben is in the arm {arm} shows {user} at {changed}"
