"""README.md: the dataset card of an export. Its YAML header is what `datasets.load_dataset` goes by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from annotation.core.vocabulary import VALUES

from .card_sections import about_labels, agreement, columns_table
from .formats.base import ExportOptions
from .layout import DataFile
from .licences import hub_licence, is_address
from .markup import markdown_quote, markdown_text, yaml_text

_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_HUGE: Final = "n>1M"


def card(
    manifest: Mapping[str, Any],
    options: ExportOptions,
    files: Sequence[DataFile],
    withdrawn: str | None = None,
) -> bytes:
    """The card. Everything that people wrote in it is escaped, and is text. `withdrawn`: why the release was
    withdrawn; None: it was not."""
    body = _body(manifest, options, files, withdrawn)
    return "\n".join([*_header(manifest, options, files), "", *body, ""]).encode()


def _title(manifest: Mapping[str, Any]) -> str:
    return str(manifest.get("title") or manifest["name"])


def _header(manifest: Mapping[str, Any], options: ExportOptions, files: Sequence[DataFile]) -> Iterator[str]:
    rows = sum(file.rows for file in files if not file.table.blind)
    yield "---"
    yield f"pretty_name: {yaml_text(_title(manifest))}"
    if licence := manifest.get("licence"):
        hub_name = hub_licence(licence)
        yield f"license: {hub_name}"
        if hub_name == "other":
            yield f"license_name: {yaml_text(licence[:200])}"
            if is_address(licence):
                yield f"license_link: {yaml_text(licence)}"
    yield f"size_categories: [{yaml_text(next((name for most, name in _SIZES if rows < most), _HUGE))}]"
    tags = ("agents", "tool-use", "process-reward", "step-labels", "tristep", *options.format.tags)
    yield f"tags: [{', '.join(tags)}]"
    configs: dict[str, list[DataFile]] = {}
    for file in files:
        if file.rows:
            # `datasets` refuses a split without rows, and with it the whole configuration
            configs.setdefault(file.config, []).append(file)
    if configs:
        yield "configs:"
    for config, own in configs.items():
        yield f"  - config_name: {yaml_text(config)}"
        yield "    data_files:"
        for file in own:
            yield f"      - split: {file.split}"
            yield f"        path: {yaml_text(file.path)}"
    yield "---"


def _body(
    manifest: Mapping[str, Any], options: ExportOptions, files: Sequence[DataFile], withdrawn: str | None
) -> Iterator[str]:
    yield f"# {markdown_text(_title(manifest))}"
    yield ""
    if withdrawn is not None:
        yield "**This release was withdrawn: it is faulty.**"
        yield ""
        yield markdown_quote(withdrawn)
        yield ""
    yield (
        f"{options.format.contents.capitalize()} of trajectories of tool-using agents. "
        f"Release {markdown_text(manifest['version'])} of the "
        f"project {markdown_text(manifest['name'])}, frozen {manifest['created_at']}, "
        f"exported by Tristep. Digest of its records: `{manifest['digest']}`."
    )
    yield ""
    if note := manifest.get("note"):
        yield markdown_quote(note)
        yield ""
    licence = manifest.get("licence")
    yield f"Licence: {markdown_text(licence)}." if licence else "No licence was named when it was frozen."
    yield ""
    yield from _figures(options, files)
    yield from about_labels(manifest, options, files)
    yield from options.format.about(options, sum(file.left_out for file in files))
    yield from agreement(manifest)
    yield from _split(options)
    yield from columns_table(files)
    yield from _loading(options, files)
    yield from _checking()


def _figures(options: ExportOptions, files: Sequence[DataFile]) -> Iterator[str]:
    nulls = any(file.labels[None] for file in files)
    labels = [(name, value) for name, value in options.format.labels if value is not None or nulls]
    yield "## Figures"
    yield ""
    labelled = any(file.table.labels for file in files)
    heads: tuple[str, ...] = ("configuration", "split", "rows")
    if labelled:
        heads += ("labels", *(name for name, _ in labels), "outcome +1", "outcome 0", "outcome −1")
    heads += ("bytes",)
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * 2}{' ---: |' * (len(heads) - 2)}"
    for file in files:
        total = sum(count for value, count in file.labels.items() if value is not None)
        cells: list[Any] = [f"`{file.config}`", file.split, file.rows]
        if labelled:
            cells += [total, *(file.labels[value] for _, value in labels)]
            cells += [file.outcomes[value] for value in reversed(VALUES)]
        yield f"| {' | '.join(map(str, [*cells, file.size]))} |"
    yield ""


def _split(options: ExportOptions) -> Iterator[str]:
    yield "## Splits"
    yield ""
    if options.split is None:
        yield f"It is not split: everything is `{options.format.whole}`."
    else:
        yield (
            f"The tasks of each subset are divided: a share of {options.split:g} of them is `test`, the rest "
            f"`train` (seed {options.seed}). All trajectories of a task are on one side, also where a task "
            "occurs in several subsets. The order of chance is that of SHA-256 over `seed`, a line break and "
            "`task_key`. The single task of a subset is in `train`."
        )
    yield ""


def _loading(options: ExportOptions, files: Sequence[DataFile]) -> Iterator[str]:
    example = next((file for file in files if file.rows), None)
    if example is None:
        yield "There are no rows to load."
        yield ""
        return
    yield "## How to load it"
    yield ""
    yield "In the folder that holds this file:"
    yield ""
    for title, code in options.format.snippets_of(example.table)(example.config, example.split):
        yield f"{title}:"
        yield ""
        yield "```python"
        yield code
        yield "```"
        yield ""
    if any(not file.rows for file in files):
        yield "A configuration or split without rows cannot be loaded, and is not declared."
        yield ""


def _checking() -> Iterator[str]:
    yield "## How to check it"
    yield ""
    yield (
        "`checksums.json` names the SHA-256 of every file, and `checksums.json.sig` is its Ed25519 signature "
        "by the key in `export-key.pem`; `manifest.json` is the release as it was frozen, signed likewise. "
        "`manage.py verify_release --path .` checks all of it. Compare the fingerprint of the key with one "
        "that was published elsewhere."
    )
