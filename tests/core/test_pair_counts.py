"""Counts kept beside paired labels: what counting anew gives, in whatever turns rows come in."""

from itertools import combinations

import numpy as np
import pytest

from annotation.core.agreement import pair_counts
from annotation.core.agreement.counts import count_outcome_pairs, count_step_pairs
from annotation.core.agreement.pair_counts import CountedRows
from annotation.core.agreement.pair_table import ROW_COLUMNS, PairedRows, empty


def rows(seed: int, trajectories: int, annotators: int) -> PairedRows:
    """Trajectories of two annotators or more, of whom each misses steps now and then."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[int]] = {name: [] for name in ROW_COLUMNS}
    steps = []
    for trajectory in range(1000 * seed, 1000 * seed + trajectories):
        length = int(rng.integers(1, 14))
        people = rng.choice(6, int(rng.integers(2, annotators + 1)), replace=False)
        missing = rng.choice([0.1, 0.9])
        labels = np.where(rng.random((7, length + 1)) < missing, 3, rng.integers(0, 3, (7, length + 1)))
        touched = 64 * (rng.random(length + 1) < 0.1)
        for first, second in combinations(sorted(people.tolist()), 2):
            pair = 4 * labels[first] + labels[second] + touched
            steps.append(pair[:-1].astype(np.uint8).tobytes())
            row = {"trajectory": trajectory, "task": trajectory // 3, "first": first, "second": second}
            row |= {"outcome": int(pair[-1]), "length": length, "subset": trajectory // 3 % 2}
            for name in ROW_COLUMNS:
                columns[name].append(row.get(name, 0))
    arrays = {name: np.array(column, dtype=np.int64) for name, column in columns.items()}
    return PairedRows.of(arrays, np.frombuffer(b"".join(steps), dtype=np.uint8), ("",))


@pytest.mark.parametrize("annotators", [2, 4])
def test_counts_of_rows_that_come_in_turns_are_those_of_all_at_once(annotators: int) -> None:
    parts = [rows(seed, size, annotators) for seed, size in ((1, 30), (2, 1), (3, 9))]
    together, turns = empty(), CountedRows.of(empty())
    for part in parts:
        together, turns = together.joined(part), turns.joined(CountedRows.of(part))

    once = CountedRows.of(together)

    for name in ("steps", "outcomes", "places", "touched"):
        assert np.allclose(getattr(turns, name), getattr(once, name), atol=1e-12), name
    expected = [count_step_pairs(together.pairs()), count_outcome_pairs(together.of_outcomes().pairs())]
    for sums, counts in zip((turns.steps, turns.outcomes), expected, strict=True):
        found, row = turns.counts(sums)
        assert len(counts) < len(together), "some have no pair of labels"
        assert np.allclose(found.sums, counts.sums)
        for name in ("trajectory", "task", "first", "second", "subset"):
            assert (getattr(found, name) == getattr(counts, name)).all()
            assert (getattr(together, name)[row] == getattr(counts, name)).all()
    assert turns.steps.dtype == (np.uint8 if annotators == 2 else np.float64)


@pytest.mark.parametrize("annotators", [2, 4])
def test_counts_in_blocks_are_those_of_all_at_once(annotators: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_counts, "TRAJECTORIES_AT_ONCE", 7)
    every = rows(4, 30, annotators)
    # the rows of a trajectory lie apart
    every = every.where(np.random.default_rng(1).permutation(len(every)))

    blocks, once = CountedRows.in_blocks(every), CountedRows.of(every)

    assert blocks.rows is every
    for name in ("steps", "outcomes", "places", "touched"):
        assert np.allclose(getattr(blocks, name), getattr(once, name), atol=1e-12), name
        assert getattr(blocks, name).dtype == getattr(once, name).dtype, name


def test_counts_of_some_rows_are_counted_as_if_there_were_no_others() -> None:
    every = rows(5, 40, 4)
    keep = np.isin(every.trajectory, np.unique(every.trajectory)[::2])

    part = CountedRows.of(every).where(np.flatnonzero(keep))

    alone = CountedRows.of(every.where(keep))
    assert (part.rows.steps == alone.rows.steps).all()
    for name in ("steps", "outcomes", "places", "touched"):
        assert np.allclose(getattr(part, name), getattr(alone, name)), name


def test_places_and_touched_labels_are_counted_by_row() -> None:
    every = rows(7, 20, 2)
    found = CountedRows.of(every)
    ends = np.cumsum(every.length)
    for row, (begin, end) in enumerate(zip(ends - every.length, ends, strict=True)):
        codes = every.steps[begin:end].tolist()
        pairs = [
            (at, a, b) for at, code in enumerate(codes) for a, b in [divmod(code & 15, 4)] if 3 not in (a, b)
        ]
        places = [min(at, 9) for at, _, _ in pairs]
        differ = [min(at, 9) for at, a, b in pairs if a != b]
        expected = [places.count(place) for place in range(10)] + [differ.count(p) for p in range(10)]
        assert found.places[row].tolist() == expected
        assert found.touched[row, 0] == sum(codes[at] >= 64 for at, _, _ in pairs)
