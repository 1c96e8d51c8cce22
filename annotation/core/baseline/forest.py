"""The baseline's trees: how probable each label of a step is, from its figures and the label before it.

Extremely randomised trees (Geurts, Ernst and Wehenkel 2006) are grown on the figures of a step and the label
of the step before. That label is not known of a trajectory nobody has labelled, so the trees are asked once
for each that it may have, and the answers are weighted with how probable each is in turn, from the first step
on: the forward pass of a Markov model with such a conditional model (McCallum, Freitag and Pereira 2000,
"Maximum entropy Markov models").
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.vocabulary import VALUES

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

TREES: Final = 200
FEWEST_IN_LEAF: Final = 3
TRIED: Final = 0.3
"""The share of the figures that are tried at each split."""
GROWN_AT_ONCE: Final = 20
TINY: Final = 1e-3
"""The least that a label's probability is taken for: trees may say 0, which nothing could put right."""

# scikit-learn takes the warning filters of the whole process away while it grows a tree: of two threads at
# once one leaves none, and from then on every tree writes a warning into the worker's log
_one_at_a_time: Final = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Grown trees. `trees`: none where only one label occurred, and nothing could be told apart; `known`
    (3,): whether each of `VALUES` occurred; `shares` (3,): how often, one added to each."""

    trees: tuple[Any, ...]
    known: Bools
    shares: Floats

    def given(self, rows: Floats, before: Floats) -> Floats:
        """(n, n_features) and (n, 3) → (n, 3): how probable −1, 0 and +1 are after the label before, one-hot,
        or zeros at the first step. Rows sum to 1, and none is 0."""
        shares = np.tile(np.where(self.known, 0.0, self.shares), (len(rows), 1))
        if not self.trees:
            chances = self.known[None].astype(np.float64)
        else:
            table = _table(rows, before)
            chances = np.zeros((len(rows), len(VALUES)))
            chances[:, self.known] = sum(tree.predict(table) for tree in self.trees) / len(self.trees)
            chances = np.where(self.known, np.maximum(chances, TINY), 0.0)
        shares += (1 - shares.sum(axis=1, keepdims=True)) * chances / chances.sum(axis=1, keepdims=True)
        return shares

    def forward(self, rows: Floats, first: Bools) -> Floats:
        """(n, n_features) → (n, 3): how probable the labels are, steps in order, `first` (n,) where a
        trajectory begins. Step k depends on the figures of the steps up to k, and on no label."""
        if not len(rows):
            return np.zeros((0, len(VALUES)))
        later = np.flatnonzero(~first) if self.trees else np.zeros(0, dtype=np.int64)
        # all steps after no label, and the later ones after each, at once: many rows take as long as a few
        labels = np.vstack(
            [np.zeros((len(rows), len(VALUES))), np.tile(np.eye(len(VALUES)), (len(later), 1))]
        )
        chances = self.given(np.vstack([rows, np.repeat(rows[later], len(VALUES), axis=0)]), labels)
        shares = chances[: len(rows)]
        after = chances[len(rows) :].reshape(len(later), len(VALUES), len(VALUES))
        for place, at in enumerate(later):
            shares[at] = shares[at - 1] @ after[place]
        return shares


def grow(rows: Floats, labels: Ints, first: Bools, *, seed: int, alive: Callable[[], None]) -> Forest:
    """A forest of these rows (n, n_features), in the order of their trajectories, with their labels (n,).

    `alive` is called between trees and may raise. The same input and seed grow the same trees.
    """
    present = np.array([bool((labels == value).any()) for value in VALUES])
    shares = shares_of(labels)
    if present.sum() < 2:
        return Forest(trees=(), known=present, shares=shares)
    # takes a second or two: only who trains pays for it
    from sklearn.tree import ExtraTreeClassifier

    # ExtraTreesClassifier(random_state=seed) grows the very same trees, and is busier with handing parameters
    # on to two hundred copies than with growing them
    seeds = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=TREES)
    table = _table(rows, previous(labels, first))
    trees: list[Any] = []
    for grown in range(0, TREES, GROWN_AT_ONCE):
        with _one_at_a_time:
            for tree_seed in seeds[grown : grown + GROWN_AT_ONCE]:
                tree = ExtraTreeClassifier(
                    min_samples_leaf=FEWEST_IN_LEAF, max_features=TRIED, random_state=int(tree_seed)
                )
                trees.append(tree.fit(table, labels, check_input=False).tree_)
        alive()
    return Forest(trees=tuple(trees), known=present, shares=shares)


def _table(rows: Floats, before: Floats) -> npt.NDArray[np.float32]:
    """The input of the trees, in training and in prediction: figures and the label before, as they compare
    them."""
    return np.hstack([rows, before], dtype=np.float32)


def previous(labels: Ints, first: Bools) -> Floats:
    """The label before each, (n, 3), one-hot in the order of `VALUES`; zeros where a trajectory begins."""
    one_hot: Floats = (np.roll(labels, 1)[:, None] == np.array(VALUES)).astype(np.float64)
    one_hot[first] = 0.0
    return one_hot


def shares_of(labels: Ints) -> Floats:
    """The frequency of each label, (3,), one added to each so that none is impossible."""
    counts = np.array([(labels == value).sum() for value in VALUES], dtype=np.float64)
    result: Floats = (counts + 1) / (counts.sum() + len(VALUES))
    return result
