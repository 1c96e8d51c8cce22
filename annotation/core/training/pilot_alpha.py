"""Krippendorff's α of a pilot: few trajectories, labelled by everybody. Pure functions.

α is that of the agreement page (core.agreement.alpha, nominal), over the steps of all trajectories; labels
that are missing so far play no part. Its 95 % interval is of 2,000 bootstrap samples of whole trajectories,
whose steps are not independent (A. Zapf et al., "Measuring inter-rater reliability for nominal data", BMC
Med. Res. Methodol. 16, 2016, resample units alike; the agreement page's jackknife asks for more trajectories
than a pilot has). The seed is fixed: the same labels give the same interval.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from annotation.core.agreement.alpha import alpha_values
from annotation.core.figures.measure import FloatArray, Interval, Measure
from annotation.core.i18n import translatable
from annotation.core.vocabulary import VALUES

SIZE: Final = len(VALUES)
SAMPLES, SEED = 2_000, 28
FEWEST: Final = 5
NO_PAIR = translatable("no step has two labels yet")
ONE_LABEL = translatable("everybody used one label only")
FEW = translatable("an interval needs at least {count} trajectories", count=FEWEST)


def coincidences(labels: Sequence[int]) -> FloatArray:
    """The coincidences of one step's labels: each pair, in both orders, counts 1 / (m − 1)."""
    if len(labels) < 2:
        return np.zeros((SIZE, SIZE))
    counts = np.array([labels.count(value) for value in VALUES], dtype=np.float64)
    pairs: FloatArray = (np.outer(counts, counts) - np.diag(counts)) / (len(labels) - 1)
    return pairs


def pilot_alpha(steps: Mapping[int, Sequence[Sequence[int]]]) -> Measure:
    """α of the labels of each step of each trajectory; n is the number of labels that have a second one."""
    tables = np.array(
        [sum(map(coincidences, labelled), np.zeros((SIZE, SIZE))) for labelled in steps.values()]
    ).reshape(-1, SIZE, SIZE)
    tables = tables[tables.any(axis=(1, 2))]
    n = round(float(tables.sum()))
    if not n:
        return Measure(None, 0, NO_PAIR)
    value = float(alpha_values(tables.sum(axis=0)))
    if value != value:
        return Measure(None, n, ONE_LABEL)
    if len(tables) < FEWEST:
        return Measure(value, n, interval=Interval(None, None, FEW))
    times = np.random.default_rng(SEED).multinomial(
        len(tables), np.full(len(tables), 1 / len(tables)), size=SAMPLES
    )
    drawn = alpha_values(np.tensordot(times, tables, axes=1))
    low, high = np.nanpercentile(drawn, (2.5, 97.5))
    return Measure(value, n, interval=Interval(float(low), float(high)))
