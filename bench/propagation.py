"""How often the propagation rule proposes −1 wrongly, with and without suspension at user messages.

    python -m bench.propagation data/bfcl.jsonl data/tau2.jsonl

The files are labelled records in AgentProcessBench's layout. Each trajectory is gone through from its first
step to its last, as by an annotator who gives the published labels: at each step the rule proposes what
follows from the labels before it. A proposal is wrong where the published label is not −1.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from annotation.core.propagation import Rules, StepInput, resolve
from annotation.core.trajectories.conversation_turns import turns_stand_alone


def inputs(record: Mapping[str, Any]) -> list[StepInput]:
    """The steps of a record with their published labels, as explicit ones."""
    labels = {int(index): label for index, label in record["step_labels"].items()}
    steps: list[StepInput] = []
    turn = False
    for index, message in enumerate(record["messages"]):
        turn = turn or message["role"] == "user"
        if index in labels:
            steps.append(StepInput(index, labels[index], "explicit", after_user_turn=turn and bool(steps)))
            turn = False
    return steps


def proposals(steps: list[StepInput], rules: Rules) -> Counter[str]:
    """How many −1 were proposed, and how many of them are `wrong`."""
    found: Counter[str] = Counter()
    for position, step in enumerate(steps):
        unlabelled = StepInput(step.message_index, after_user_turn=step.after_user_turn)
        proposal = resolve([*steps[:position], unlabelled], rules)[-1].proposal
        if proposal is not None and proposal.value == -1:
            found["proposed"] += 1
            found["wrong"] += step.value != -1
    return found


def measured(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of a file."""
    without: Counter[str] = Counter()
    suspended: Counter[str] = Counter()
    count, alone = 0, 0
    for record in records:
        steps = inputs(record)
        without += proposals(steps, Rules())
        suspended += proposals(steps, Rules(suspend_on_user_turn=True))
        count += 1
        alone += turns_stand_alone(record["messages"], record.get("ground_truth"))
    return {"trajectories": count, "turns stand alone": alone, "without": without, "suspended": suspended}


def main() -> None:
    """Print the figures of each file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    for path in parser.parse_args().files:
        with path.open(encoding="utf-8") as lines:
            found = measured(map(json.loads, lines))
        alone = f"{found['turns stand alone']} of them with turns that stand alone"
        print(f"{path.name}: {found['trajectories']} trajectories, {alone}")
        for name in ("without", "suspended"):
            counts = found[name]
            share = f"{counts['wrong'] / counts['proposed']:.1%}" if counts["proposed"] else "none proposed"
            print(f"  {name}: {counts['wrong']} of {counts['proposed']} proposals wrong ({share})")


if __name__ == "__main__":
    main()
