"""Suggestions in pages: nothing of them for annotators, whatever the policy; all of them for admins."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotation.models import Assignment, Trajectory
from annotation.policies import OPERATOR
from annotation.services import adjudicate, label, projects
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, claim, import_records, label_all, make_disputed, open_case
from tests.suggesting import suggest

Browse = Callable[[str], Client]
CHANCE = re.compile(r'name="(?:csrfmiddlewaretoken|claim_key)"\s+value="[^"]*"')


def suggested(cast: Cast) -> Trajectory:
    """A trajectory of which a judge thinks something."""
    (row,) = import_records(cast.project, 1)
    suggest(make_imported_judge(cast.project, "severe canary"), row, comment="my remark")
    return row


@pytest.mark.parametrize("policy", ["after_label", "after_submit", "always", "never"])
def test_workbench_holds_nothing_of_it_neither_before_nor_after(
    cast: Cast, browse: Browse, at: Callable[..., str], policy: str
) -> None:
    suggested(cast)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"suggestion_policy": policy})
    mine = claim(cast.ann, cast.project)
    ann, here = browse("ann"), at("workbench", mine.pk)
    assert "canary" not in ann.get(here).content.decode()
    label_all(mine)
    label.submit(actor=cast.ann, assignment=mine)
    if policy != "never":
        label.reveal(actor=cast.ann, assignment=mine, everything=True)
    assert "canary" not in ann.get(here).content.decode(), "what is revealed is asked for by the page"


def test_workbench_and_case_offer_suggestions_where_the_project_has_a_judge(
    cast: Cast, browse: Browse, at: Callable[..., str]
) -> None:
    row, _free = import_records(cast.project, 2)
    make_disputed(cast)
    case = at("adjudication", open_case(cast.judith, Trajectory.objects.get(pk=row.pk)).pk)
    bench = at("workbench", claim(cast.ann, cast.project).pk)

    def offered() -> tuple[bool, bool]:
        pages = browse("ann").get(bench), browse("judith").get(case)
        return 'data-action="reveal"' in pages[0].content.decode(), "data-reveal" in pages[1].content.decode()

    assert offered() == (False, False)
    make_imported_judge(cast.project)
    assert offered() == (True, True)


def test_workbench_is_the_same_with_suggestions_and_without(
    cast: Cast, browse: Browse, at: Callable[..., str]
) -> None:
    (row,) = import_records(cast.project, 1)
    judge = make_imported_judge(cast.project)
    ann, here = browse("ann"), at("workbench", claim(cast.ann, cast.project).pk)

    def sent() -> str:
        return CHANCE.sub("", ann.get(here).content.decode())

    before = sent()
    suggest(judge, row)
    assert sent() == before


def test_admins_see_names_reasons_and_comments_at_the_trajectory(
    cast: Cast, browse: Browse, at: Callable[..., str]
) -> None:
    row = suggested(cast)
    body = browse("admin").get(at("trajectory", "bench", row.pk)).content.decode()
    for words in ("severe canary on 2", "severe canary on the outcome", "my remark", "Judge 1"):
        assert words in body


def test_adjudicator_shows_them_step_by_step(cast: Cast, browse: Browse, at: Callable[..., str]) -> None:
    row = suggested(cast)
    make_disputed(cast)
    case = open_case(cast.judith, row)
    judith, here = browse("judith"), at("adjudication", case.pk)
    assert "canary" not in judith.get(here).content.decode()
    for index in (4, None):
        adjudicate.decide(actor=cast.judith, adjudication=case, message_index=index, value=1)

    answer: Any = judith.post(at("adjudicate-reveal", case.pk), {"message_index": "4"})

    assert answer["Location"] == f"{here}?at=4#m4"
    body = judith.get(here).content.decode()
    assert re.search(r"<dt>\s*Judge 1\s*</dt>", body)
    assert "severe canary on 4" in body
    assert "severe canary on 2" not in body
    judith.post(at("adjudicate-reveal", case.pk), {"message_index": ""})
    assert "severe canary on the outcome" in judith.get(here).content.decode()
    assert browse("admin").post(at("adjudicate-reveal", case.pk), {"message_index": "2"}).status_code == 403


def test_suggestions_that_no_judge_has_made_are_said_to_be_none(
    cast: Cast, browse: Browse, at: Callable[..., str]
) -> None:
    import_records(cast.project, 1)
    make_disputed(cast)
    case = open_case(cast.judith, Trajectory.objects.get())
    adjudicate.decide(actor=cast.judith, adjudication=case, message_index=2, value=1)
    answer: Any = browse("judith").post(at("adjudicate-reveal", case.pk), {"message_index": "2"}, follow=True)
    assert "There are no suggestions from judges here." in answer.content.decode()


def test_admin_who_is_labelling_it_sees_no_suggestions(
    cast: Cast, browse: Browse, at: Callable[..., str]
) -> None:
    row = suggested(cast)
    begun = row.source.created_at
    Assignment.objects.create(
        project=cast.project,
        trajectory=row,
        annotator=cast.admin,
        slot=0,
        claimed_at=begun,
        last_used_at=begun,
    )
    body = browse("admin").get(at("trajectory", "bench", row.pk)).content.decode()
    assert "You are labelling this trajectory yourself" in body
    assert "canary" not in body
