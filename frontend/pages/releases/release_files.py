"""Downloads of a release: its files, the data sets made of it, and how each is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from annotation.core.kinds import of_manifest
from annotation.core.releases.exports import FORMATS
from annotation.core.releases.record_format import file_name
from annotation.language import translated
from annotation.models import Release
from frontend.forms.release_exports import ExportForm
from frontend.pages.releases.release_pictures import distribution
from frontend.pages.shared.common import ProjectPage
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.tristep import mark


class FileRow(NamedTuple):
    """A file, and what the manifest says of its subset and of the file."""

    name: str
    part: Mapping[str, Any]
    file: Mapping[str, Any]


def export_form(opened: ProjectPage, data: Any = None) -> ExportForm:
    """The form of choices, as far as the viewer may have them."""
    return ExportForm(data, kind=opened.project.of_kind, blind=opened.may("agreement.pairs"))


def files_table(manifest: Mapping[str, Any], address: Callable[[str], str]) -> Table:
    """The file of each subset: its counts, size and checksum."""

    def labels(row: FileRow) -> str:
        shares = distribution(row.part["label_distribution"])["rows"]
        return cells.cluster(*(cells.beside(mark(one["value"]), one["count"]) for one in shares))

    columns = [
        Column("file", _("File"), cell=lambda row: cells.link(row.name, address(row.name))),
        Column(
            "records",
            translated(of_manifest(manifest).records),
            lambda row: row.part["records"],
            look="number",
        ),
        Column(
            "labels", _("Labels"), lambda row: sum(row.part["label_distribution"].values()), look="number"
        ),
        Column("distribution", _("+1, 0, −1"), cell=labels),
        Column("size", _("Size"), cell=lambda row: filesizeformat(row.file["bytes"]), look="number"),
        Column("sha256", "SHA-256", cell=lambda row: cells.code(row.file["sha256"]), look="break small"),
    ]
    files = manifest["files"]
    rows = [
        FileRow(file_name(name), part, files[file_name(name)]) for name, part in manifest["subsets"].items()
    ]
    return Table(columns, rows)


def files_context(opened: ProjectPage, release: Release, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The context of releases/release_files.html: the files, the form, the snippets."""
    place = (opened.project.slug, release.version)
    subset, kind = min(manifest["subsets"], default=""), opened.project.of_kind
    return {
        "files": files_table(manifest, lambda name: at("release-export", *place, name)),
        "export_form": export_form(opened),
        "snippets": [
            {
                "format": format.name,
                "title": translated(format.title),
                "rows": [
                    {"title": title, "code": code, "lines": code.count("\n") + 1}
                    for title, code in format.snippets_of(next(iter(format.tables_of(kind)), None))(
                        subset, format.whole
                    )
                ],
            }
            for format in sorted(FORMATS, key=lambda format: not format.options)
            if kind.has(format.needs)
        ],
    }
