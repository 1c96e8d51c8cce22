"""The topic `releases`: CPU time and memory of freezing, exporting, verifying and deriving questions, small
against large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import inside, records
from bench.installations import Installation, Stock
from bench.report import Limit, Report, Say, megabytes, number, table

SIZES = (1_000, 12_000)
QUICK_SIZES = (100, 400)
RATE = 1_000
LINEAR = 1.3
FLAT_MEMORY = 1.3
EXPORTS = {"export": "agentprocessbench", "dataset": "huggingface", "rewards": "training"}
PROMISED = ("freeze", *EXPORTS, "verify")
"""The works with a promised speed: deriving imports what it makes, and is as fast as that."""
WORKS = (*PROMISED, "derive")


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """All sizes on one kind of database: print, compare with what is expected."""
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for size in QUICK_SIZES if quick else SIZES:
        found[size] = measure(stock.installation(f"release_{size}"), folder, size)
        say(f"{stock.kind}: {size:,} frozen in {found[size]['freeze']['seconds']:.1f} s")
    table(
        f"Releases, {stock.kind}",
        ("records", *(f"{work}, {what}" for work in WORKS for what in ("a second", "a CPU second", "peak"))),
        [
            (
                f"{size:,}",
                *(
                    cell
                    for work in WORKS
                    for cell in (
                        number(size / works[work]["seconds"]),
                        number(size / works[work]["cpu_seconds"]),
                        megabytes(works[work]["peak_bytes"]),
                    )
                ),
            )
            for size, works in found.items()
        ],
    )
    small, large = min(found), max(found)
    for work in WORKS:
        for works in found.values():
            report.line("release", kind=stock.kind, work=work, **works[work])
        costs = {size: works[work]["cpu_seconds"] / size for size, works in found.items()}
        name = f"{stock.kind}: {work}"
        if work in PROMISED:
            rate = large / found[large][work]["seconds"]
            report.limit(Limit(f"{name}, {large:,}, a second", rate, RATE, True))
        report.limit(
            Limit(f"{name}, CPU a record, {large:,} against {small:,}", costs[large] / costs[small], LINEAR)
        )
        peaks = [found[size][work]["peak_bytes"] for size in (small, large)]
        report.limit(Limit(f"{name}, peak memory", peaks[1] / peaks[0], FLAT_MEMORY))


def measure(installation: Installation, folder: Path, size: int) -> dict[str, dict[str, Any]]:
    """Freeze, export, verify and derive from so many records, each in a process of its own; the answers."""
    path = folder / f"release-{size}.jsonl"
    if not path.exists():
        records.write(path, size)
    installation.inside(inside.start, "released")
    installation.inside(inside.import_file, "released", path)
    installation.inside(inside.fill, "released", "1", "unanimous")
    found = {work: installation.inside(publish, work, "released", installation.folder) for work in WORKS}
    if any(works["records"] != size for works in found.values()):
        raise RuntimeError(f"not all of {size} records were frozen, exported, verified and derived from")
    return found


def publish(work: str, slug: str, folder: str) -> dict[str, Any]:
    """Freeze, export, verify or derive from release 1.0 of a project as the commands do (inside the product's
    process)."""
    from annotation.core.releases.exports import export_options
    from annotation.models import Project, Release
    from annotation.policies import OPERATOR
    from annotation.services import release

    project = Project.objects.get(slug=slug)
    if work == "freeze":
        return inside.spent(
            lambda: {"records": release.freeze(actor=OPERATOR, project=project, version="1.0").record_count}
        )
    frozen = Release.objects.get(project=project)
    if work == "verify":
        return inside.spent(lambda: {"records": release.verify(actor=OPERATOR, release=frozen).records})
    if work == "derive":
        return inside.spent(lambda: _derived(frozen))
    options, output = export_options({"format": EXPORTS[work]}), Path(folder) / work
    return inside.spent(
        lambda: {
            "records": release.export_release(actor=OPERATOR, release=frozen, options=options, output=output)[
                "records"
            ]
        }
    )


def _derived(frozen: Any) -> dict[str, Any]:
    """Questions of the recipe next-step, in a project of decisions without people."""
    from annotation.policies import OPERATOR
    from annotation.services import derive, projects

    project = projects.create_project(actor=OPERATOR, name="Next", slug="next", kind="decisions")
    source = derive.derive(
        actor=OPERATOR,
        release=frozen,
        project=project,
        subset="next",
        request=derive.DerivationRequest.of(recipe="next-step", fewer=True, anyway=True),
        enqueue=False,
    )
    source = derive.run_import(source_id=source.pk)
    return {"records": source.notes["runs"], "questions": source.created_count}
