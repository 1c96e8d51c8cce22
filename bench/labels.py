"""The topic `labels`: importing people's labels against importing the trajectories that they are of.

Two annotators' files, the second of which settles every trajectory. CPU time of processes of the same run is
compared: a busy machine slows all of them.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from bench import inside, records
from bench.installations import Installation, Stock
from bench.report import Limit, Report, Say, megabytes, number, table

SIZES = (1_000, 10_000)
QUICK_SIZES = (100, 300)
OF_THE_IMPORT = 3.0
FLAT_MEMORY = 1.3
ANNOTATORS = ("first", "second")
# of ten trajectories the second annotator sees so many otherwise
DISPUTED = 3
WHY = "The search is well aimed, and what it finds names the place that the question asks for. " * 2


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """All sizes on one kind of database: print, compare with what is expected."""
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for size in QUICK_SIZES if quick else SIZES:
        found[size] = measure(stock.installation(f"labels_{size}"), folder, size)
        say(f"{stock.kind}: labels of {size:,} in {found[size]['second']['seconds']:.1f} s")
    table(
        f"Labels from files, {stock.kind}",
        (
            "trajectories",
            "import, a CPU second",
            *(
                f"{who} annotator, {what}"
                for who in ANNOTATORS
                for what in ("a CPU second", "of the import", "peak")
            ),
        ),
        [
            (
                f"{size:,}",
                number(size / works["import"]["cpu_seconds"]),
                *(
                    cell
                    for who in ANNOTATORS
                    for cell in (
                        number(size / works[who]["cpu_seconds"]),
                        number(share(works, who)),
                        megabytes(works[who]["peak_bytes"]),
                    )
                ),
            )
            for size, works in found.items()
        ],
    )
    small, large = min(found), max(found)
    for who in ANNOTATORS:
        for size, works in found.items():
            report.line("labels", kind=stock.kind, who=who, of=share(works, who), **works[who])
            what = f"{stock.kind}: labels of {size:,} by the {who} annotator, CPU of the import"
            report.limit(Limit(what, share(works, who), OF_THE_IMPORT))
        peaks = [found[size][who]["peak_bytes"] for size in (small, large)]
        what = f"{stock.kind}: labels by the {who} annotator, peak memory, {large:,} against {small:,}"
        report.limit(Limit(what, peaks[1] / peaks[0], FLAT_MEMORY))


def share(works: dict[str, dict[str, Any]], who: str) -> float:
    """CPU time of somebody's labels, in that of the import of the trajectories."""
    return float(works[who]["cpu_seconds"] / works["import"]["cpu_seconds"])


def measure(installation: Installation, folder: Path, size: int) -> dict[str, dict[str, Any]]:
    """Import so many trajectories and both annotators' labels, each in a process of its own; the answers."""
    path = folder / f"labels-{size}.jsonl"
    if not path.exists():
        records.write(path, size)
        for disputed, who in zip((0, DISPUTED), ANNOTATORS, strict=True):
            write(folder / f"labels-{size}-{who}.jsonl", size, disputed)
    installation.inside(inside.start, "labelled")
    found = {"import": installation.inside(inside.import_file, "labelled", path)}
    for who in ANNOTATORS:
        file = folder / f"labels-{size}-{who}.jsonl"
        found[who] = installation.inside(import_labels, "labelled", file, who)
    expected = size * DISPUTED // 10
    if found["second"]["states"] != {"disputed": expected, "unanimous": size - expected}:
        raise RuntimeError(f"the trajectories were settled otherwise: {found['second']['states']}")
    return found


def import_labels(slug: str, path: str, annotator: str) -> dict[str, Any]:
    """Import somebody's labels as the command does, and count how many trajectories are in which state then
    (inside the product's process)."""
    from annotation.models import Project, Trajectory
    from annotation.policies import OPERATOR
    from annotation.services import label

    project = Project.objects.get(slug=slug)

    def work() -> dict[str, Any]:
        with Path(path).open("rb") as stream:
            made = label.import_labels(
                actor=OPERATOR, project=project, annotator=annotator, stream=stream, filename=path
            )
        return {"trajectories": made.created, "labels": made.labels}

    found = inside.spent(work)
    states = Trajectory.objects.filter(project=project, live=True).values_list("state", flat=True)
    return found | {"states": Counter(states.order_by())}


def write(path: Path, how_many: int, disputed: int) -> None:
    """Labels of the records that `records` makes, with reasons; of ten trajectories the first `disputed`
    have another label of their first step."""
    with path.open("w", encoding="utf-8") as file:
        for place, record in enumerate(records.records(how_many)):
            labels = dict(record["step_labels"])
            if place % 10 < disputed:
                first = next(iter(labels))
                labels[first] = -1 if labels[first] == 1 else 1
            line = {
                "data_source": record["data_source"],
                "query_index": record["query_index"],
                "sample_index": record["sample_index"],
                "step_labels": labels,
                "final_label": record["final_label"],
                "explanations": {"steps": dict.fromkeys(labels, WHY), "final": WHY},
                "updated_at": "2026-02-05T02:15:19.524419+00:00",
            }
            file.write(json.dumps(line) + "\n")
