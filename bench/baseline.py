"""How good the baseline is on labelled files, in a cross-validation grouped by task: docs/judges.md, "The
baseline".

    .venv/bin/python -m bench.baseline FILE.jsonl … [--deals N]

The files are AgentProcessBench's, with labels. The first deal of tasks into folds is the one that Tristep
itself uses; how far the others are from it is how much of a figure is the luck of the deal.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from annotation.core.baseline.features import step_features
from annotation.core.baseline.training import Example, task_of, train
from annotation.core.judging import JudgeInput
from annotation.core.seed import SEED

FIGURES = (
    ("step_accuracy", "StepAcc", "always_plus_one"),
    ("first_error_accuracy", "FirstErrAcc", "always_plus_one"),
    ("kappa", "κ", "always_plus_one"),
    ("quadratic_kappa", "quadratic κ", "always_plus_one"),
    ("outcome_accuracy", "outcome right", "always_plus_one"),
    ("log_loss", "log-loss", "shares"),
    ("brier", "Brier score", "shares"),
)


def labelled_examples(paths: Iterable[Path]) -> Iterator[Example]:
    """The trajectories of labelled files of AgentProcessBench. Raises KeyError on a step without a label."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            one = json.loads(line)
            material = JudgeInput.of(one)
            yield Example(
                task=task_of(one["question"], f"{path.name} {number}"),
                features=step_features(material),
                labels=tuple(one["step_labels"][str(index)] for index in material.steps),
                outcome=one["final_label"],
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--deals", type=int, default=1, help="so many deals of the tasks into folds")
    options = parser.parse_args()
    begun = time.process_time()
    examples = list(labelled_examples(options.files))
    steps, tasks = sum(len(one.labels) for one in examples), len({one.task for one in examples})
    print(f"{steps:,} steps, {len(examples):,} trajectories, {tasks:,} tasks", end="")
    print(f", read in {time.process_time() - begun:.1f} s of processor time")
    begun = time.process_time()
    found = [train(examples, seed=SEED + deal)[1] for deal in range(options.deals)]
    print(f"each training {(time.process_time() - begun) / len(found):.1f} s of processor time\n")
    heads = f"{'baseline':>8} {'95 % interval':>15} {'for comparison':>15}"
    print(f"{'':<14} {heads}  mean of {len(found)} deals (sd)")
    first = found[0]["cv"]
    for name, title, beside in FIGURES:
        low, high = first["intervals"].get(name) or (None, None)
        interval = f"{low:.3f} – {high:.3f}" if low is not None else ""
        every = [one["cv"][name] for one in found]
        spread = f" ({statistics.stdev(every):.3f})" if len(every) > 1 else ""
        print(
            f"{title:<14} {first[name]:>8.3f} {interval:>15} {found[0][beside][name]:>15.3f}"
            f"  {statistics.fmean(every):.3f}{spread}"
        )


if __name__ == "__main__":
    main()
