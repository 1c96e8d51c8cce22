"""Python that loads an export, for the card and the page."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.core.releases.record_format import AGENTPROCESSBENCH

from .options import TRAINING


def snippets(format: str, config: str, split: str) -> Iterator[tuple[str, str]]:
    """(title, code) of each way to load an export of `format`; `config` and `split` are of the example."""
    if format == AGENTPROCESSBENCH:
        yield (
            "json",
            "import json\n\n"
            f'with open("{config}.jsonl", encoding="utf-8") as lines:\n'
            "    records = [json.loads(line) for line in lines]",
        )
        yield (
            "datasets",
            "from datasets import load_dataset\n\n"
            f'records = load_dataset("json", data_files="{config}.jsonl", split="train")',
        )
        return
    rows = "trajectories"
    if format == TRAINING:
        rows = "rewards"
        after = 'steps = rewards.select_columns(["prompt", "completions", "labels"])  # for trl.PRMTrainer'
    else:
        after = (
            "row = trajectories[0]\n"
            'messages = json.loads(row["messages"])\n'
            'labels = dict(zip(row["step_indexes"], row["step_labels"]))'
        )
    yield (
        "datasets",
        ("" if format == TRAINING else "import json\n\n")
        + "from datasets import load_dataset\n\n"
        + f'{rows} = load_dataset(".", "{config}", split="{split}")\n{after}',
    )
    yield (
        "mlcroissant",
        "import mlcroissant\n\n"
        'dataset = mlcroissant.Dataset("croissant.json")\n'
        "name = dataset.metadata.record_sets[0].id\n"
        "rows = list(dataset.records(name))",
    )
    yield (
        "pyarrow",
        f'import pyarrow.parquet as parquet\n\ntable = parquet.read_table("data/{config}/{split}.parquet")',
    )
