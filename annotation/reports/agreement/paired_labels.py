"""Read a project's paired labels, once: they are kept in memory and only what is new is read again.

Rows of paired labels are added when trajectories are settled and change no more (models.PairedLabels), so
that how many there are, and the largest id, say whether those in memory are all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeVar, cast

import numpy as np
from django.db import connections
from django.db.models import Count, Max

from annotation import models as m
from annotation.core.agreement.pair_counts import CountedRows
from annotation.core.agreement.pair_table import PairedRows, empty

R = TypeVar("R")

KEPT: Final = 4
"""So many projects are kept in memory; a million pairs of labels take some 20 MB."""
RESULTS: Final = 64
"""So many results of a project are kept, until labels change."""

# In the order of `ROW_COLUMNS`, but for the model and the length, which are worked out.
COLUMNS: Final = (
    "trajectory_id",
    "task_id",
    "subset_id",
    "first_id",
    "second_id",
    "first_guideline",
    "second_guideline",
    "week",
    "outcome",
)
NAMES: Final = tuple(name.removesuffix("_id") for name in COLUMNS)


@dataclass(slots=True)
class KeptLabels:
    """A project's paired labels in memory with their counts, and what was worked out from them."""

    count: int
    newest: int
    counted: CountedRows
    results: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)

    @property
    def rows(self) -> PairedRows:
        """The labels themselves."""
        return self.counted.rows

    def result(self, key: Hashable, make: Callable[[], R]) -> R:
        """The value of `make`, made once for a key."""
        with _lock:
            if key in self.results:
                self.results.move_to_end(key)
                return cast(R, self.results[key])
        made = make()
        with _lock:
            self.results[key] = made
            while len(self.results) > RESULTS:
                self.results.popitem(last=False)
        return made


in_memory: OrderedDict[int, KeptLabels] = OrderedDict()
_lock = Lock()


def paired_rows(project: m.Project) -> KeptLabels:
    """All paired labels of a project. One query, two when there are new ones."""
    stored = m.PairedLabels.objects.filter(project=project)
    totals = stored.order_by().aggregate(count=Count("pk"), newest=Max("pk"))
    count, newest = totals["count"], totals["newest"] or 0
    with _lock:
        kept = in_memory.get(project.pk)
        if kept is None or (kept.count, kept.newest) != (count, newest):
            kept = _renewed(stored, kept, count, newest)
        in_memory[project.pk] = kept
        in_memory.move_to_end(project.pk)
        while len(in_memory) > KEPT:
            in_memory.popitem(last=False)
    return kept


def _renewed(stored: Any, kept: KeptLabels | None, count: int, newest: int) -> KeptLabels:
    """The kept labels with those added since; read whole when something else happened than adding."""
    if kept is not None and newest > kept.newest:
        added = _read(stored.filter(pk__gt=kept.newest, pk__lte=newest), kept.rows.models)
        # rows of a transaction that began earlier and ended later have smaller ids
        if len(kept.rows) + len(added) == count:
            return KeptLabels(count, newest, kept.counted.joined(CountedRows.in_blocks(added)))
    rows = _read(stored.filter(pk__lte=newest), ())
    return KeptLabels(len(rows), newest, CountedRows.in_blocks(rows))


def _read(stored: Any, models: tuple[str, ...]) -> PairedRows:
    query = stored.order_by("pk").values_list(*COLUMNS, "policy_model", "steps")
    statement, values = query.query.sql_with_params()
    with connections[query.db].cursor() as cursor:
        cursor.execute(statement, values)
        columns = list(zip(*cursor.fetchall(), strict=True))
    if not columns:
        return empty()
    number = {name: index for index, name in enumerate(dict.fromkeys((*models, *columns[-2])))}
    steps = [bytes(one) for one in columns[-1]]
    arrays = {name: np.array(column, dtype=np.int64) for name, column in zip(NAMES, columns, strict=False)}
    arrays["model"] = np.array([number[name] for name in columns[-2]], dtype=np.int64)
    arrays["length"] = np.array([len(step) for step in steps], dtype=np.int64)
    return PairedRows.of(arrays, np.frombuffer(b"".join(steps), dtype=np.uint8), tuple(number))
