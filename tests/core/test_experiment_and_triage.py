"""Arms of the experiment, and the order of the queue under triage: pure functions of their seeds."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from annotation.core.influence.experiment import ARMS, POLICY, TWO_ARMS, Arm, arm_of, arms_of, deal
from annotation.core.influence.triage import contested, share_found_early, triaged

# ── Arms of people on tasks ───────────────


def dealt(
    arms: tuple[Arm, ...], turns: list[tuple[int, tuple[int, ...]]], seed: int = 7
) -> dict[tuple[int, int], Arm]:
    """Deal people, by task and person, as they claim: turns are a task and who labels one of its runs."""
    units: dict[tuple[int, int], Arm] = {}
    for task, people in turns:
        for place, who in enumerate(people):
            if (task, who) not in units:
                units[task, who] = deal(
                    seed,
                    ("tiny", str(task), who),
                    arms,
                    beside=Counter(units[task, other] for other in people[:place]),
                    of_task=Counter(arm for (of, _), arm in units.items() if of == task),
                    of_annotator=Counter(arm for (_, one), arm in units.items() if one == who),
                )
    return units


@pytest.mark.parametrize("arms", [ARMS, TWO_ARMS])
def test_deal_balances_tasks_and_people_and_sets_different_arms_beside_each_other(
    arms: tuple[Arm, ...],
) -> None:
    chance = random.Random(3)
    turns = [(task, tuple(chance.sample(range(4), 2))) for task in range(60) for _ in range(3)]
    units = dealt(arms, turns)

    first = dict(reversed(turns))
    assert all(units[task, one] != units[task, other] for task, (one, other) in first.items())
    for task in range(60):
        counted = Counter(arm for (of, _), arm in units.items() if of == task)
        assert max(counted[arm] for arm in arms) - min(counted[arm] for arm in arms) <= 2
    for who in range(4):
        counted = Counter(arm for (_, one), arm in units.items() if one == who)
        assert max(counted[arm] for arm in arms) - min(counted[arm] for arm in arms) <= 8
    assert set(units.values()) == set(arms)


def test_deal_to_two_people_who_label_everything_never_differs_by_more_than_a_round() -> None:
    units = dealt(ARMS, [(task, (1, 2)) for task in range(90)])
    for who in (1, 2):
        counted = Counter(arm for (_, one), arm in units.items() if one == who)
        assert sorted(counted.values()) == pytest.approx([30, 30, 30], abs=3)


def test_deal_draws_among_equals_by_a_hash_that_anybody_can_work_out_again() -> None:
    nothing: Counter[Arm] = Counter()
    for who in range(20):
        digests = {
            arm: hashlib.sha256(f'["arm",7,"tiny","3",{who},"{arm}"]'.encode()).hexdigest() for arm in ARMS
        }
        arm = deal(7, ("tiny", "3", who), ARMS, beside=nothing, of_task=nothing, of_annotator=nothing)
        assert arm == min(digests, key=digests.__getitem__)
    several = [
        deal(seed, ("tiny", "3", 1), ARMS, beside=nothing, of_task=nothing, of_annotator=nothing)
        for seed in range(600)
    ]
    assert chisquare([several.count(arm) for arm in ARMS]).pvalue > 1e-4


def test_deal_compares_what_is_beside_before_the_task_and_the_task_before_the_person() -> None:
    sealed, after, always = ARMS
    counts = {"beside": Counter([sealed]), "of_task": Counter([after]), "of_annotator": Counter([always])}
    assert deal(1, ("s", "t", 1), ARMS, **counts) == always
    assert deal(1, ("s", "t", 1), (sealed, always), **counts) == always
    counts["beside"] = Counter([sealed, always])
    assert deal(1, ("s", "t", 1), ARMS, **counts) == after


def test_arms_of_an_experiment_are_two_or_three() -> None:
    assert (arms_of(2), arms_of(3)) == ((Arm.SEALED, Arm.ALWAYS), ARMS)
    with pytest.raises(KeyError):
        arms_of(1)


# ── Arms of tasks, in older experiments ───


def test_arm_of_a_task_is_what_its_description_says() -> None:
    for task in range(20):
        digest = hashlib.sha256(b'["arm",7,"tiny","%d"]' % task).digest()
        assert arm_of(7, "tiny", str(task)) == ARMS[int.from_bytes(digest[:8], "big") % 3]


def test_arms_stay_what_they_are_in_every_version() -> None:
    # a project's experiment runs for months: should one of these change, tasks change their arm under way
    assert [arm_of(20_260_314, "hotpotqa", f"hotpotqa:{task}").value for task in range(8)] == [
        "always",
        "always",
        "always",
        "always",
        "after_label",
        "after_label",
        "always",
        "sealed",
    ]


def test_arms_are_equally_likely_and_seeds_deal_anew() -> None:
    tasks = [str(task) for task in range(6_000)]
    one = [arm_of(1, "s", task) for task in tasks]
    other = [arm_of(2, "s", task) for task in tasks]

    assert chisquare([one.count(arm) for arm in ARMS]).pvalue > 0.001
    # under another seed, and in another subset, the arm says nothing of what it was: nine equal cells
    for again in (other, [arm_of(1, "t", task) for task in tasks]):
        cells = Counter(zip(one, again, strict=True))
        assert len(cells) == 9 and chisquare(list(cells.values())).pvalue > 0.001


def test_arms_are_not_shared_by_names_that_run_together() -> None:
    together = [arm_of(1, "ab", f"c{n}") == arm_of(1, "a", f"bc{n}") for n in range(300)]

    assert 60 < sum(together) < 140  # a third by chance, not all


def test_arms_put_one_policy_in_force_each() -> None:
    assert {arm.value: POLICY[arm].value for arm in Arm} == {
        "sealed": "never",
        "after_label": "after_label",
        "always": "always",
    }


# ── Triage ────────────────────────────────


def test_triage_counts_the_units_on_which_judges_differ() -> None:
    assert contested([{2: 1, 4: 1}, {2: 1, 4: 1}], [1, 1]) == 0
    assert contested([{2: 1, 4: -1}, {2: 1, 4: 1}], [1, 1]) == pytest.approx(1 / 3)
    assert contested([{2: 1, 4: 1}, {2: 1, 4: 1}], [1, -1]) == pytest.approx(1 / 3)
    assert contested([{2: 1, 4: -1}, {2: -1, 4: 0}, {2: 1}], [1, 1, -1]) == 1


def test_triage_takes_what_a_judge_did_not_say_for_no_disagreement() -> None:
    assert contested([{2: 1, 4: None}, {2: 1, 4: -1}], [None, 1]) == 0
    assert contested([{2: None}, {2: 1}], [None, 1]) is None
    assert contested([{2: 1}], [1]) is None
    assert contested([], []) is None


def test_triage_batches_go_from_the_most_contested_to_the_unscored() -> None:
    scores = [(n, score) for n, score in enumerate([0.0, None, 0.5, 1.0, 0.0, 0.2, None, 0.0])]

    order = triaged(scores, batch_size=2, seed=3)

    assert [set(order[i : i + 2]) for i in range(0, 8, 2)] == [{3, 2}, {5, 0}, {4, 7}, {1, 6}]
    assert triaged(scores, batch_size=1, seed=3) == [3, 2, 5, 0, 4, 7, 1, 6]


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=60), st.integers(1, 70), st.integers(0, 2**53)
)
def test_triage_loses_nothing_and_repeats_by_its_seed(
    scores: list[float | None], size: int, seed: int
) -> None:
    line = list(enumerate(scores))
    order = triaged(line, batch_size=size, seed=seed)

    assert sorted(order) == list(range(len(scores)))
    assert order == triaged(line, batch_size=size, seed=seed)
    batches = [[scores[key] for key in order[at : at + size]] for at in range(0, len(order), size)]
    worst = [min(-1.0 if one is None else one for one in batch) for batch in batches]
    best = [max(-1.0 if one is None else one for one in batch) for batch in batches]
    assert all(low >= high for low, high in zip(worst, best[1:], strict=False))


def test_triage_place_within_a_batch_tells_nothing_of_the_score() -> None:
    # over many seeds the most contested of a batch stands equally often in each of its places
    scores = [(n, 1 - n / 10) for n in range(5)]
    places = Counter(triaged(scores, batch_size=5, seed=seed).index(0) for seed in range(2_000))

    assert sorted(places) == [0, 1, 2, 3, 4] and chisquare(list(places.values())).pvalue > 0.001


def test_triage_batch_needs_a_size() -> None:
    with pytest.raises(ValueError, match="at least one"):
        triaged([(1, 0.5)], batch_size=0, seed=1)


def test_triage_share_found_early_counts_what_stands_before_the_cut() -> None:
    assert share_found_early(np.array([0]), 4, 0.5) == 1
    assert share_found_early(np.array([0, 3]), 4, 0.5) == 0.5
    assert share_found_early(np.array([2, 3]), 4, 0.5) == 0
    assert share_found_early(np.array([1]), 3, 0.5) == 0.5  # the cut falls through the middle one
    assert share_found_early(np.array([], dtype=np.int64), 4, 0.5) is None


def test_order_by_chance_finds_as_much_as_it_has_gone_through() -> None:
    rng = random.Random(5)
    found = []
    for _ in range(400):
        order = list(range(31))
        rng.shuffle(order)
        share = share_found_early(np.flatnonzero(np.array(order) < 7), len(order), 1 / 3)
        assert share is not None
        found.append(share)

    assert sum(found) / len(found) == pytest.approx(1 / 3, abs=0.03)
