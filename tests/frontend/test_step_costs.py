"""Tokens, cost and duration of a step on every page that shows its run."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.core.trajectories.step_costs import StepCost
from frontend.rendering.step_costs import cost_text
from tests.callers import signed_in
from tests.people import Cast, claim, import_records, label_next, make_record, open_case

TOOK = "1,204 in · 230 out · $0.004 · 2.3 s"
USAGE = {"prompt_tokens": 1204, "completion_tokens": 230, "cost": 0.004, "seconds": 2.3}


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (StepCost(1204, 230, 0.004, 2.3), TOOK),
        (StepCost(0, cost_usd=0), "0 in · $0"),
        (StepCost(cost_usd=0.00001), "< $0.0001"),
        (StepCost(cost_usd=12.3456, seconds=1234.5), "$12.35 · 1,234 s"),
        (None, ""),
    ],
)
def test_step_cost_in_words(cost: StepCost | None, text: str) -> None:
    assert cost_text(cost) == text


def test_step_cost_stands_at_its_step_and_their_sum_in_the_head(cast: Cast) -> None:
    """Whoever reads the run reads it: it is nobody's label."""
    record = make_record(steps=3)
    for message in record["messages"][2:5:2]:
        message["usage"] = USAGE
    record["messages"][1]["usage"] = {"prompt_tokens": 7}
    (row,) = import_records(cast.project, [record])
    mine = claim(cast.ann, cast.project)
    whole = "2,408 in · 460 out · $0.008 · 4.6 s"

    def shown(who: object, url: str) -> tuple[int, int]:
        page = signed_in(who).get(url).content.decode()  # type: ignore[arg-type]
        return page.count(TOOK), page.count(whole)

    assert shown(cast.ann, reverse("frontend:workbench", args=[mine.pk])) == (2, 1)
    assert shown(cast.admin, reverse("frontend:trajectory", args=[cast.project.slug, row.pk])) == (2, 1)
    answer = signed_in(cast.ann).get(reverse("api:trajectory", args=[row.pk])).json()
    names = ("input_tokens", "output_tokens", "cost_usd", "seconds")
    assert [answer["messages"][2]["usage"][name] for name in names] == [1204, 230, 0.004, 2.3]
    assert [answer["usage"][name] for name in names] == [2408, 460, 0.008, 4.6]
    assert answer["messages"][1]["usage"] is answer["messages"][6]["usage"] is None


def test_step_cost_is_shown_in_a_case(cast: Cast) -> None:
    record = make_record(steps=2)
    record["messages"][2]["usage"] = USAGE
    (row,) = import_records(cast.project, [record])
    label_next(cast.ann, cast.project, [1, 1])
    label_next(cast.ben, cast.project, [-1, 1])
    page = signed_in(cast.judith).get(reverse("frontend:adjudication", args=[open_case(cast.judith, row).pk]))
    assert page.content.decode().count(TOOK) == 2
