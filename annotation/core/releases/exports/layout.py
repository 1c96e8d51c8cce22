"""Data files of an export, and the counts made while each was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from annotation.core.kinds import ProjectKind

from .formats import FORMATS
from .formats.base import ExportOptions, ExportTable
from .formats.columns import Row
from .split import TEST, TRAIN

README: Final = "README.md"
CROISSANT: Final = "croissant.json"
CHECKSUMS: Final = "checksums.json"
CHECKSUMS_SIGNATURE: Final = "checksums.json.sig"
EXPORT_KEY: Final = "export-key.pem"
DATA_PATTERNS: Final = frozenset(
    f"{table.folder}/**/*.{ending}"
    for format in FORMATS
    for table in format.tables
    for ending in ("jsonl", "parquet")
)
"""Patterns of the names of all data files that an export may have."""


@dataclass(slots=True)
class DataFile:
    """One Parquet file: the rows of one configuration (`config`) and split. Filled in while it is written:
    `sha256`, `size` in bytes, `rows`, `left_out` (trajectories that make no row), and how often each `label`
    of a step and each `outcome` occurs."""

    table: ExportTable
    subset: str
    split: str
    sha256: str = ""
    size: int = 0
    rows: int = 0
    left_out: int = 0
    labels: Counter[Any] = field(default_factory=Counter)
    outcomes: Counter[Any] = field(default_factory=Counter)

    @property
    def path(self) -> str:
        """Its path within the export."""
        ending = "jsonl" if self.table.lines else "parquet"
        return f"{self.table.folder}/{self.subset}/{self.split}.{ending}"

    @property
    def config(self) -> str:
        """The name of its configuration. That of a subset is a slug, without a dot."""
        return f"{self.subset}.{self.table.folder}" if self.table.blind else self.subset

    def rows_of(self, record: Mapping[str, Any], options: ExportOptions) -> Iterator[Row]:
        """The rows that a record makes in this file, counted."""
        rows = list(self.table.rows(record, options))
        self.left_out += not rows
        for row in rows:
            self.rows += 1
            if self.table.labels:
                self.labels.update(row[self.table.labels])
                self.outcomes[row["final_label"]] += 1
            yield row


def data_files(subsets: Sequence[str], options: ExportOptions, kind: ProjectKind) -> list[DataFile]:
    """The data files of an export of a project of this kind, in the order in which they are written."""
    splits = (options.format.whole,) if options.split is None else (TRAIN, TEST)
    return [
        DataFile(table, subset, split)
        for subset in subsets
        for table in options.format.tables_of(kind)
        if options.blind_labels or not table.blind
        for split in splits
    ]
