"""Judges as the second reader in a real browser: where they doubt one person's labels, another is asked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, SecondPerson, Trajectory
from annotation.policies import OPERATOR
from annotation.services import adjudicate, assign, discuss, label_audits, release
from tests import people
from tests.browser.axe import violations
from tests.browser.stored import eventually
from tests.browser.workbench import home, label_next
from tests.chromium import fits_the_window
from tests.people import Cast
from tests.services import auditing, talking
from tests.services.second_reading import JUDGES, TAUGHT, few_are_enough, look, right, teach, truth

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

DOUBTED = (False, True, True)
ALONE, DISCUSSED, ADJUDICATED, TWO = "one person beside judges", "discussed", "adjudicated", "unanimous"
ORIGINS = ([ALONE] * 4, [TWO, TWO, DISCUSSED, TWO], [TWO, TWO, ADJUDICATED, TWO])
"""Of the outcome and of the three steps."""


def says_nothing_of_a_judge(page: Page) -> None:
    """Neither the page of an assignment nor its data."""
    (number,) = re.findall(r"/assignments/(\d+)/", page.url)
    data = page.request.get(f"{home(page)}/api/v1/assignments/{number}/")
    assert data.ok
    for said in (page.content(), data.text()):
        assert "step" in said and not [name for name in JUDGES if name in said]


def resolve(cast: Cast, row: Trajectory, *, talked: bool) -> None:
    """Have what two people said of the second step discussed, or decided."""
    disputed = eventually(lambda: Trajectory.objects.get(pk=row.pk), bool)
    case = adjudicate.open_case(actor=cast.judith, trajectory=disputed)
    if talked:
        talk = discuss.open_discussion(actor=cast.judith, trajectory=case.trajectory)
        talking.revise(cast.ann, talk, 4, truth(row)[1])
    else:
        adjudicate.decide(actor=cast.judith, adjudication=case, message_index=4, value=truth(row)[1])
    adjudicate.close_case(actor=cast.judith, adjudication=case)


def test_second_reader_is_a_person_where_judges_doubt_the_first(
    cast: Cast, open_as: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_are_enough(monkeypatch)
    later = teach(cast, len(DOUBTED))[TAUGHT:]
    look(cast)

    # one person labels all three; judges doubt two, which come to a second one as blind as ever
    said = [(truth(row)[:3], truth(row)[3]) for row in later]
    first = [
        ((one[0], 0, one[2]) if wrong else one, outcome)
        for (one, outcome), wrong in zip(said, DOUBTED, strict=True)
    ]
    label_next(open_as("ann", "/p/bench/work/"), *first)
    eventually(lambda: Assignment.objects.filter(trajectory__in=later, state="submitted").count(), 3)
    look(cast)
    eventually(
        lambda: list(SecondPerson.objects.order_by("trajectory").values_list("state", flat=True)),
        ["spared", "asked", "asked"],
    )
    label_next(open_as("ben", "/p/bench/work/"), *said[1:], look=says_nothing_of_a_judge)
    eventually(
        lambda: list(
            Trajectory.objects.filter(pk__in=[row.pk for row in later])
            .order_by("position")
            .values_list("state", flat=True)
        ),
        ["unanimous", "disputed", "disputed"],
    )
    resolve(cast, later[1], talked=True)
    resolve(cast, later[2], talked=False)

    # the overview says what this saves, and what an audit proves
    admin = open_as("admin", "/p/bench/")
    saved = admin.get_by_role("region", name="Judges as the second reader")
    for words in (
        r"Labels a trajectory\s+1\.67",
        r"One person beside judges\s+1\s",
        r"Second person asked\s+2\s",
    ):
        expect(saved).to_contain_text(re.compile(words))
    expect(saved).not_to_contain_text("With 95 % confidence")
    dora = people.make_user("dora")
    people.make_member(cast.project, dora, "annotator")
    auditing.begin(cast, 2)
    for reader in (cast.cleo, dora):
        right(assign.claim_next(actor=reader, project=cast.project))
    label_audits.sweep()
    admin.reload()
    expect(saved).to_contain_text(re.compile(r"at most [\d.]+\s% of 81 steps have a wrong label"))
    assert violations(admin) == []

    # a release says of each step how its label came about
    frozen = release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
    place = eventually(lambda: dict(frozen.records.values_list("record_id", "ordinal")), bool)
    admin.goto(f"{home(admin)}/p/bench/releases/1.0/")
    for kind, count in ((ADJUDICATED, 1), (DISCUSSED, 1), (ALONE, 3), (TWO, 76)):
        expect(admin.get_by_role("region", name="Labels", exact=True)).to_contain_text(
            re.compile(rf"{kind} {count}\b")
        )
    for row, origins in zip(later, ORIGINS, strict=True):
        admin.goto(f"{home(admin)}/p/bench/releases/1.0/records/{place[row.record_id]}/")
        expect(admin.get_by_text(re.compile(rf"^\s*({'|'.join({*origins})})\s*$"))).to_have_text(origins)
    fits_the_window(admin)
