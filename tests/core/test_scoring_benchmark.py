"""Reading a benchmark: correlation over models, and what a release is made of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from annotation.core.scoring import ReleasedLabels
from annotation.core.scoring.benchmark import composition, pearson


def test_correlation_over_models_is_pearsons_and_undefined_where_it_is() -> None:
    rng = np.random.default_rng(20260314)
    x = rng.uniform(0.4, 0.9, 20)
    y = 0.6 * x + rng.normal(0, 0.07, 20)
    found = pearson(x.tolist(), y.tolist())
    assert found.n == 20 and found.value == pytest.approx(float(pearsonr(x, y).statistic), abs=1e-12)
    assert pearson([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]).value == pytest.approx(-1)
    assert (pearson([0.1, 0.2], [0.1, 0.2]).value, pearson([0.5] * 3, [0.1, 0.2, 0.3]).value) == (None, None)


def test_release_is_made_of_the_labels_and_first_errors_of_each_policy_model() -> None:
    def record(number: int, model: str, labels: list[int], subset: str = "one") -> dict[str, object]:
        return {
            "record_id": f"{subset}:{number}:0",
            "subset": subset,
            "policy_model": model,
            "query_index": number,
            "sample_index": 0,
            "step_labels": {str(at): label for at, label in enumerate(labels)},
            "final_label": 1,
        }

    records = [
        record(0, "B", [1, 1, -1]),
        record(1, "A", [-1, -1, 0]),
        record(2, "B", [1, 0, 1]),
        record(3, "B", [1, -1, 1, 1, 1, 1]),
        record(4, "", [-1], subset="two"),
    ]
    a, b, unnamed = composition(ReleasedLabels.of(records))
    assert (a.policy_model, a.labels, a.thirds, a.median) == ("A", (2, 1, 0), (1, 0, 0), 1.0)
    assert (b.policy_model, b.records, b.steps, b.labels) == ("B", 3, 12, (2, 1, 9))
    assert (b.thirds, b.error_free, b.median) == ((1, 0, 1), 1, 2.5)
    assert (unnamed.subset, unnamed.policy_model, unnamed.thirds) == ("two", "", (1, 0, 0))
