"""A format of exports, its tables, and the choices of one export."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.core.kinds import Feature, ProjectKind
from annotation.core.vocabulary import SIGNS, VALUES

from ..split import TEST
from .columns import ExportColumn, Row
from .protocols import PROPAGATED

ZERO_TRUE: Final = "true"
ZERO_FALSE: Final = "false"
ZERO_MERGE: Final = "merge"
ZERO_CUT: Final = "cut"
Snippets = Callable[[str, str], Iterator[tuple[str, str]]]
"""Makes (title, code) of each way to load a configuration and split."""

LABELS: Final = tuple((SIGNS[value], value) for value in reversed(VALUES))
ZEROS: Final = (ZERO_TRUE, ZERO_FALSE, ZERO_MERGE, ZERO_CUT)


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A kind of Parquet file: below `folder` one for each subset and split, with the `rows` of each record.

    `labels` is the column of the labels of steps, "" where rows have none. A `blind` table is written on
    request only, one that `needs` a feature only of projects that have it. `lines`: in place of Parquet it is
    JSON Lines. `snippets`: its own ways to be loaded, in place of the format's.
    """

    folder: str
    columns: tuple[ExportColumn, ...]
    rows: Callable[[Mapping[str, Any], ExportOptions], Iterable[Row]]
    labels: str = "step_labels"
    blind: bool = False
    lines: bool = False
    needs: Feature | None = None
    snippets: Snippets | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A format: one file of this package, one entry in `FORMATS`.

    `title` is shown to people, `contents` stands in the card, both in English. A format with `tables` is a
    data set; one without is the files of the release as they were frozen. `options` are the choices that it
    has, as `ExportOptions` calls them; without a split all of it is the split `whole`. `labels` are the
    values of a step's label, each with its name in the card. `snippets` makes (title, code) of each way to
    load a configuration and split, `about` lines of the card, given the trajectories that were left out.
    Only kinds of projects with the feature `needs` have it.
    """

    name: str
    title: str
    snippets: Snippets
    aliases: tuple[str, ...] = ()
    contents: str = "step-level labels"
    options: tuple[str, ...] = ()
    tables: tuple[ExportTable, ...] = ()
    whole: str = TEST
    needs: Feature | None = None
    labels: tuple[tuple[str, Any], ...] = LABELS
    tags: tuple[str, ...] = ()
    about: Callable[[ExportOptions, int], Iterable[str]] = lambda _options, _left_out: ()

    def snippets_of(self, table: ExportTable | None) -> Snippets:
        """The ways to load a table of this format: the table's own, else the format's."""
        return (table and table.snippets) or self.snippets

    def tables_of(self, kind: ProjectKind) -> tuple[ExportTable, ...]:
        """The tables that it has for a kind of projects."""
        return tuple(table for table in self.tables if kind.has(table.needs))


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The choices of an export.

    The share `split` of each subset's tasks goes to the test split (None: no split), drawn with `seed`.
    `protocol` says what a consequence of an error is labelled, `zero` what becomes of the label 0 in a
    training set.
    """

    format: ExportFormat
    split: float | None = None
    seed: int = 0
    protocol: str = PROPAGATED
    blind_labels: bool = False
    zero: str = ZERO_TRUE

    def as_json(self) -> dict[str, Any]:
        """The choices that bear on this format, as an export says them of itself."""
        chosen = {name: getattr(self, name) for name in self.format.options}
        if self.split is None:
            chosen.pop("seed", None)
        return {"format": self.format.name, **chosen}


def load_snippet(name: str, config: str, split: str) -> str:
    """Code by which `datasets` reads a configuration into `name`. It takes no "." for a folder, whose name it
    needs."""
    return (
        "from pathlib import Path\n\n"
        "from datasets import load_dataset\n\n"
        f'{name} = load_dataset(str(Path.cwd()), "{config}", split="{split}")\n'
    )


def dataset_snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """Ways to load any data set."""
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
