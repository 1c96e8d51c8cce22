"""Contrasts within items, clustered by task: against the same by full matrices, and against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from annotation.core.influence.effects import FloatArray, IntArray, fit, level_beside, sums_of

TASKS = 14
Data = tuple[IntArray, IntArray, IntArray, FloatArray]


def data(seed: int = 0) -> Data:
    """Tasks of one to three items with two or three labels each: task, item, arm, and 0 or 1."""
    rng = np.random.default_rng(seed)
    rows = []
    item = 0
    for task in range(TASKS):
        for _ in range(rng.integers(1, 4)):
            for _ in range(rng.integers(2, 4)):
                rows.append((task, item, rng.integers(3), rng.random() < 0.6))
            item += 1
    task, items, arm, y = np.array(rows, dtype=np.int64).T
    return task, items, arm, y.astype(float)


def design(arm: IntArray) -> FloatArray:
    return np.stack([arm == 1, arm == 2], axis=1).astype(float)


def by_full_matrices(made: Data, contrast: FloatArray) -> tuple[float, float, float]:
    """CR2 and Satterthwaite's degrees of freedom by their definitions (Pustejovsky and Tipton 2018), with a
    column for each item."""
    task, item, arm, y = made
    x = np.hstack([design(arm), np.eye(item.max() + 1)[item]])
    wanted = np.concatenate([contrast, np.zeros(item.max() + 1)])
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ x.T @ y
    hat, residual = x @ inverse @ x.T, y - x @ beta
    variance, rows = 0.0, []
    for one in range(TASKS):
        at = task == one
        roots, vectors = np.linalg.eigh(np.eye(at.sum()) - hat[np.ix_(at, at)])
        adjust = vectors @ np.diag([root**-0.5 if root > 1e-9 else 0.0 for root in roots]) @ vectors.T
        variance += float(wanted @ inverse @ x[at].T @ adjust @ residual[at]) ** 2
        rows.append((np.eye(len(y)) - hat)[:, at] @ adjust @ x[at] @ inverse @ wanted)
    cross = np.array(rows) @ np.array(rows).T
    return float(wanted @ beta), variance**0.5, float(np.trace(cross) ** 2 / (cross**2).sum())


@pytest.mark.parametrize("contrast", [(1.0, 0.0), (0.0, 1.0), (1.0, -1.0)])
def test_effect_error_and_freedom_are_those_of_the_full_matrices(contrast: tuple[float, float]) -> None:
    made = data()
    task, item, arm, y = made

    found = fit(sums_of(task, item, design(arm), y, TASKS), np.array(contrast))

    assert found is not None and found.se is not None
    assert (found.value, found.se, found.freedom) == pytest.approx(by_full_matrices(made, np.array(contrast)))
    assert float(np.sqrt((found.parts**2).sum())) == pytest.approx(found.se)


def test_effect_is_that_of_statsmodels_and_its_error_larger_than_without_correction() -> None:
    import statsmodels.api as sm  # loads pandas, a second of every process that collects

    task, item, arm, y = data(3)
    x = np.hstack([design(arm), np.eye(item.max() + 1)[item]])

    found = fit(sums_of(task, item, design(arm), y, TASKS), np.array([0.0, 1.0]))
    other = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": task, "use_correction": False})

    assert found is not None and found.se is not None
    assert found.value == pytest.approx(other.params[1])
    assert other.bse[1] < found.se < 1.6 * other.bse[1]


def test_effect_without_items_is_the_regression_as_it_stands() -> None:
    task, _item, arm, y = data(5)
    x = np.column_stack([design(arm), np.ones(len(y))])

    found = fit(sums_of(task, None, x, y, TASKS), np.array([1.0, 0.0, 0.0]))

    assert found is not None
    assert found.value == pytest.approx(y[arm == 1].mean() - y[arm == 0].mean())


def test_effect_interval_and_detectable_effect_follow_from_error_and_freedom() -> None:
    task, item, arm, y = data()
    found = fit(sums_of(task, item, design(arm), y, TASKS), np.array([1.0, 0.0]))
    assert found is not None and found.se is not None

    quantile = student(found.freedom).ppf
    assert found.half_width(0.05) == pytest.approx(quantile(0.975) * found.se)
    assert found.detectable() == pytest.approx((quantile(0.975) + quantile(0.8)) * found.se)
    assert found.p() == pytest.approx(2 * student(found.freedom).sf(abs(found.value / found.se)))


def test_effect_is_not_identified_where_nobody_stands_beside_another_arm() -> None:
    task, item, arm, y = data()
    alike = np.zeros_like(arm)
    assert fit(sums_of(task, item, design(alike), y, TASKS), np.array([1.0, 0.0])) is None
    two = np.minimum(arm, 1)
    sums = sums_of(task, item, design(two), y, TASKS)
    assert fit(sums, np.array([0.0, 1.0])) is None
    assert fit(sums, np.array([1.0, 0.0])) is not None
    same = fit(sums_of(task, item, design(arm), np.ones_like(y), TASKS), np.array([1.0, 0.0]))
    assert same is not None and same.se is None and same.p() is None and same.detectable() is None


def test_effect_of_a_task_alone_in_its_arm_is_no_certainty() -> None:
    """A task that decides the contrast by itself leaves no residual, and must not leave an error of 0."""
    task = np.repeat([0, 1, 2, 3], 2)
    arm, y = np.array([0, 1, 0, 0, 0, 0, 0, 0]), np.array([0.0, 1, 1, 0, 0, 1, 1, 1])
    found = fit(sums_of(task, task, (arm == 1).astype(float)[:, None], y, 4), np.array([1.0]))
    assert found is not None and found.value == pytest.approx(1.0) and found.se is None


# ── Several contrasts ─────────────────────


def test_level_beside_a_first_contrast_leaves_a_quarter_of_the_level_to_the_others() -> None:
    """Independent contrasts, by arithmetic: (1 − α) (1 − (1 − a)^k) = α / 4."""
    rng = np.random.default_rng(1)
    made = data()
    base = fit(sums_of(made[0], made[1], design(made[2]), made[3], TASKS), np.array([1.0, 0.0]))
    assert base is not None
    fits = []
    for place in range(4):
        parts = np.zeros(TASKS)
        parts[place] = 1.0
        fits.append(type(base)(0.1, 1.0, 50.0, parts))
    first, *others = fits

    alone = 1 - (1 - 0.0125 / 0.95) ** (1 / 3)
    assert level_beside(first, others, 0.05, rng) == pytest.approx(alone, rel=0.2)
    assert level_beside(None, others, 0.05, rng) == pytest.approx(1 - 0.9875 ** (1 / 3), rel=0.2)
    # the same contrast again needs nothing of its own: it is never found without the first
    assert level_beside(first, [first], 0.05, rng) > 0.05 * 0.99
    assert level_beside(first, others, 1e-6, rng) == pytest.approx(1e-6 / 4 / 3)
    assert level_beside(first, [], 0.05, rng) == 0.05
