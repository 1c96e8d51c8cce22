"""Costs of calls."""

from decimal import Decimal
from typing import Any

import pytest

from annotation.core.judging import FREE, CostEstimate, Price, Usage, cost, estimate

PRICE = Price(Decimal("2.5"), Decimal(10), Decimal("1.25"))


def read(usage: Any) -> Usage:
    return Usage.read(usage, prompt_estimate=70, answer_estimate=9)


def test_price_of_the_published_example() -> None:
    # 2.50 per million in, 10.00 out, 1.25 cached: a million of each
    assert cost(Usage(2_000_000, 1_000_000, tokens_cached=1_000_000), PRICE) == Decimal("13.75")
    assert cost(Usage(1, 0), PRICE) == Decimal("0.0000025")
    assert cost(Usage(3, 0), Price(Decimal("0.0049"), Decimal(0))) == Decimal("0.00000001")
    assert cost(Usage(10**9, 10**9), FREE) == 0


def test_price_of_cached_tokens_is_like_others_unless_told() -> None:
    assert cost(Usage(1_000_000, 0, 400_000), Price(Decimal(3), Decimal(0))) == 3


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}, Usage(5, 7)),
        ({"prompt_tokens": 5, "completion_tokens": 7, "prompt_cache_hit_tokens": 3}, Usage(5, 7, 3)),
        (
            {"prompt_tokens": 5, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 99}},
            Usage(5, 7, 5),
        ),
        ({"prompt_tokens": 5}, Usage(5, 9, estimated=True)),
        ({"prompt_tokens": True, "completion_tokens": -1}, Usage(70, 9, estimated=True)),
        ({"prompt_tokens": "5", "completion_tokens": 1e99}, Usage(70, 9, estimated=True)),
        (None, Usage(70, 9, estimated=True)),
        ([], Usage(70, 9, estimated=True)),
    ],
)
def test_usage_as_servers_say_it_and_an_estimate_for_the_rest(usage: Any, found: Usage) -> None:
    assert read(usage) == found


def test_cost_estimates_add_up() -> None:
    one = estimate(1_000, 3, PRICE)
    assert one == CostEstimate(1_000, 600, Decimal("0.0085"), calls=1)
    assert estimate(1_000, 3, PRICE, max_tokens=100).tokens_out == 100
    assert sum([one, one, CostEstimate(too_long=1)], CostEstimate()) == CostEstimate(
        2_000, 1_200, Decimal("0.017"), 2, 1
    )
