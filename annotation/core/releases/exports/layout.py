"""Which data files an export has, and what was counted while each was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .formats.columns import BLIND_COLUMNS, TRAINING_COLUMNS, TRAJECTORY_COLUMNS, Column
from .formats.huggingface import Row, blind_rows, trajectory_row
from .formats.training import training_row
from .options import TRAINING, ExportOptions
from .split import TEST, TRAIN

README: Final = "README.md"
CROISSANT: Final = "croissant.json"
CHECKSUMS: Final = "checksums.json"
CHECKSUMS_SIGNATURE: Final = "checksums.json.sig"
EXPORT_KEY: Final = "export-key.pem"
DATA: Final = "data"
BLIND_LABELS: Final = "blind_labels"
DATA_FOLDERS: Final = (DATA, BLIND_LABELS)


@dataclass(slots=True)
class DataFile:
    """One Parquet file: the rows of one configuration (`config`) and split. Filled in while it is written:
    `sha256`, `size` in bytes, `rows`, `left_out` (trajectories that make no row), and how often each `label`
    of a step and each `outcome` occurs."""

    path: str
    config: str
    subset: str
    split: str
    columns: Sequence[Column]
    blind: bool = False
    sha256: str = ""
    size: int = 0
    rows: int = 0
    left_out: int = 0
    labels: Counter[Any] = field(default_factory=Counter)
    outcomes: Counter[Any] = field(default_factory=Counter)

    def rows_of(self, record: Mapping[str, Any], options: ExportOptions) -> Iterator[Row]:
        """The rows that a record makes in this file, counted."""
        made: list[Row]
        if self.blind:
            made = list(blind_rows(record))
        elif options.format == TRAINING:
            row = training_row(record, options.protocol, options.zero)
            made = [] if row is None else [row]
        else:
            made = [trajectory_row(record, options.protocol)]
        self.left_out += not made
        for row in made:
            self.rows += 1
            self.labels.update(row["labels"] if options.format == TRAINING else row["step_labels"])
            self.outcomes[row["final_label"]] += 1
            yield row


def data_files(subsets: Sequence[str], options: ExportOptions) -> list[DataFile]:
    """The data files of an export, in the order in which they are written.

    Without a split all of a benchmark is `test` and all of a training set is `train`. The name of a subset is
    a slug, so that the name of a configuration with a dot in it is never that of a subset.
    """
    training = options.format == TRAINING
    splits = (TRAIN, TEST) if options.share is not None else (TRAIN,) if training else (TEST,)
    columns = TRAINING_COLUMNS if training else TRAJECTORY_COLUMNS
    found = []
    for subset in subsets:
        for split in splits:
            found.append(DataFile(f"{DATA}/{subset}/{split}.parquet", subset, subset, split, columns))
        if options.blind_labels:
            found += [
                DataFile(
                    f"{BLIND_LABELS}/{subset}/{split}.parquet",
                    f"{subset}.{BLIND_LABELS}",
                    subset,
                    split,
                    BLIND_COLUMNS,
                    blind=True,
                )
                for split in splits
            ]
    return found
