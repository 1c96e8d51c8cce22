"""The parts of a dataset card that explain: the scheme, how labels came about, agreement, the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...kinds import Feature, of_manifest
from ...vocabulary import ConsensusKind
from ..qualifications import qualification_sentences
from .formats.base import ExportOptions
from .formats.columns import CellKind
from .formats.protocols import INDEPENDENT
from .layout import DataFile
from .markup import markdown_text

_KINDS: Final = {
    "judged": "no annotator: three judges or more all put the options in the order of the source’s key, or "
    "all in its reverse",
    "one_person": "one annotator, about whose labels a stack of judges had little doubt",
    "unanimous": "all annotators said the same on their own",
    "discussed": "the annotators came to the same in a discussion",
    "majority": "an adjudicator accepted what most annotators said",
    "adjudicated": "an adjudicator decided",
}
FIGURES: Final = (
    ("percent_agreement", "Agreement"),
    ("kappa", "Cohen’s κ"),
    ("quadratic_kappa", "κ, quadratic weights"),
)


def about_labels(
    manifest: Mapping[str, Any], options: ExportOptions, files: Sequence[DataFile]
) -> Iterator[str]:
    """The label scheme, the protocol, and how labels came about."""
    yield "## Labels"
    yield ""
    project = of_manifest(manifest)
    words = project.steps
    yield (
        f"{project.card} **+1** is {words[1]}, **0** {words[0]}, **−1** {words[-1]}. {project.card_outcome}"
    )
    yield ""
    if project.has(Feature.PROPAGATION):
        yield from _protocol(options, files)
        yield ""
    kinds = manifest.get("label_kinds") or {}
    number = manifest.get("annotators_per_trajectory")
    guideline = manifest.get("guideline_version")
    yield (
        f"How they came about: {_people(number, kinds)} labelled each trajectory without seeing each other’s "
        "labels"
        + (f", by version {guideline} of the guidelines" if guideline else "")
        + ". Labels of steps by how they were reached:"
    )
    yield ""
    for kind, count in kinds.items():
        yield f"- {markdown_text(kind)}: {count} ({_KINDS.get(kind, 'see the manifest')})"
    yield ""
    if sentences := qualification_sentences(manifest.get("qualifications") or {}):
        yield "Of the annotators (a count of few people is not stated):"
        yield ""
        yield from (f"- {markdown_text(sentence)}" for sentence in sentences)
        yield ""
    yield from _sight(manifest)
    if options.blind_labels:
        rows = sum(file.rows for file in files if file.table.blind)
        yield (
            "The configurations `….blind_labels` hold what each annotator said before they had seen a "
            f"suggestion or another’s label: {rows} rows. `annotator` is a pseudonym that tells no name."
            if rows
            else "Blind labels were asked for; nobody labelled a trajectory of this release blind."
        )
        yield ""


def _protocol(options: ExportOptions, files: Sequence[DataFile]) -> Iterator[str]:
    """The label of a consequence of an error."""
    if options.protocol == INDEPENDENT:
        without = sum(file.labels[None] for file in files if not file.table.blind)
        kept = None in dict(options.format.labels).values()
        lost = f" In this export {without} steps have no label." if kept else ""
        yield (
            "Protocol **independent**: each step is judged for itself. An error of its own is −1. A −1 that "
            "only follows from an earlier error has no label (null), because nobody said what the step would "
            f"be without that error; nor has a −1 of which people did not agree where it began.{lost}"
        )
    else:
        yield "Protocol **propagated**: a consequence of an error is −1 like the error itself, as frozen."


def _people(number: int | None, kinds: Mapping[str, int]) -> str:
    if number and ConsensusKind.JUDGED in kinds:
        return f"0 to {number} annotators"
    if number and ConsensusKind.ONE_PERSON in kinds:
        return f"1 to {number} annotators"
    return f"{number or 'an unknown number of'} annotators"


def _sight(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The number of labels given in sight of a suggestion, and the certificate of labels."""
    exposure = manifest.get("exposure") or {}
    if exposure.get("labels"):
        yield (
            f"Of the {exposure['labels']} labels that annotators gave to steps, "
            f"{exposure['labels_in_sight']} were given in sight of a judge’s suggestion or another’s label."
        )
        yield ""
    audited = (manifest.get("label_audit") or {}).get("certificate")
    if audited is not None:
        most, steps = audited["bound_after_correction"], audited["drawn_from"]["steps"]
        yield (
            f"Of the {steps:,} labels that an audit drew from, at most {most:.2%} are wrong, with 95 % "
            "confidence (`label_audit` in the manifest)."
        )
        yield ""
    audit = (manifest.get("judges_first") or {}).get("audit")
    if audit and audit["done"]:
        yield (
            f"Of the records that judges alone settled, {audit['done']:,} drawn by chance were labelled by "
            f"people as well: {audit['agreed']:,} have the same order (95 % interval by Wilson "
            f"{audit['low']:.2%} to {audit['high']:.2%}; `judges_first` in the manifest)."
        )
        yield ""


def agreement(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The figures of agreement, by what they are over."""
    yield "## Agreement of the annotators"
    yield ""
    written = False
    for title, figures in _figures(manifest):
        rows = [
            f"| {name} | {_value(figures[key])} | {_interval(figures[key])} |"
            for key, name in FIGURES
            if isinstance(figures.get(key), Mapping)
        ]
        if rows:
            yield from (
                f"{title}:",
                "",
                "| figure | value | 95 % interval |",
                "| --- | ---: | --- |",
                *rows,
                "",
            )
            written = True
    if not written:
        yield "The manifest states none."
        yield ""


def _figures(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for title, name in (
        ("Over the blind pairs of labels of these trajectories", "release"),
        (
            "Over the blind pairs of labels of all resolved trajectories of the project when it was frozen",
            "project",
        ),
    ):
        yield title, manifest["agreement"][name]["overall"]


def _value(measure: Mapping[str, Any]) -> str:
    value = measure.get("value")
    if value is None:
        return f"undefined: {markdown_text(str(measure.get('reason') or 'unknown'))}"
    return f"{value:.4f}"


def _interval(measure: Mapping[str, Any]) -> str:
    interval = measure.get("interval")
    if interval is None:
        return markdown_text(measure.get("interval_reason") or "–")
    return f"{interval[0]:.4f} to {interval[1]:.4f}"


def _example(names: Sequence[str]) -> str:
    """The column that shows how JSON is read: the messages where there are any."""
    return "messages" if "messages" in names or not names else names[0]


def columns_table(files: Sequence[DataFile]) -> Iterator[str]:
    """The content of each column, and the way to read JSON in one."""
    yield "## Columns"
    yield ""
    seen: list[Any] = []
    for file in files:
        if file.table.columns in seen:
            continue
        seen.append(file.table.columns)
        if file.table.blind:
            yield "Of the blind labels:"
            yield ""
        yield "| column | holds | what |"
        yield "| --- | --- | --- |"
        for column in file.table.columns:
            yield f"| `{column.name}` | {column.kind} | {column.says} |"
        yield ""
    if files and files[0].table.lines:
        yield "Each line is one JSON object with these keys."
        yield ""
        return
    json_columns = [
        column.name for column in (files[0].table.columns if files else ()) if column.kind is CellKind.JSON
    ]
    names = ", ".join(f"`{name}`" for name in json_columns)
    yield (
        f"{names} hold one JSON value each, as its shape varies from record to record: "
        f'`json.loads(row["{_example(json_columns)}"])` gives back exactly what was frozen. Where a value '
        "does not fit its column (a text with lone surrogates, an integer beyond 64 bits), the column holds "
        "a text with U+FFFD or null, and `other` has the exact value under the column’s name."
    )
    yield ""
