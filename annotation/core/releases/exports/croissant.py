"""croissant.json: an export in the words of Croissant 1.0 (http://mlcommons.org/croissant/1.0)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .formats.base import ExportOptions
from .formats.columns import CellKind, ExportColumn, well_formed
from .layout import DataFile
from .licences import licence_address

CONFORMS_TO: Final = "http://mlcommons.org/croissant/1.0"
CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
PARQUET: Final = "application/x-parquet"
JSON_LINES: Final = "application/jsonlines"
_TYPES: Final = {
    CellKind.INTEGER: "sc:Integer",
    CellKind.LABEL: "sc:Integer",
    CellKind.INTEGERS: "sc:Integer",
    CellKind.LABELS: "sc:Integer",
    CellKind.BOOLEANS: "sc:Boolean",
}
_NUMBERS: Final = re.compile(r"[0-9]+(?:\.[0-9]+){0,2}", re.ASCII)


def croissant(manifest: Mapping[str, Any], options: ExportOptions, files: Sequence[DataFile]) -> bytes:
    """The file. Every data file has its SHA-256; a configuration and split is a record set."""
    several = len({file.split for file in files}) > 1
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": well_formed(manifest.get("title") or manifest["name"]),
        "description": _description(manifest, options),
        "version": _version(manifest["version"]),
        "datePublished": manifest["created_at"],
        "citeAs": well_formed(f"{manifest['name']}, release {manifest['version']} ({manifest['digest']})"),
        "distribution": [_distribution(file) for file in files],
        "recordSet": [_record_set(file, several) for file in files if file.rows],
    }
    if licence := manifest.get("licence"):
        document["license"] = well_formed(licence_address(licence))
    return json.dumps(document, indent=2, ensure_ascii=True).encode() + b"\n"


def _description(manifest: Mapping[str, Any], options: ExportOptions) -> str:
    text = (
        f"Release {manifest['version']} of {manifest['name']}: {options.format.contents} of trajectories of "
        "tool-using agents."
    )
    return well_formed(" ".join(part for part in (text, manifest.get("note")) if part))


def _version(version: str) -> str:
    """A version as Croissant has them, MAJOR.MINOR.PATCH; any other stays as it is."""
    if _NUMBERS.fullmatch(version):
        return ".".join((*version.split("."), "0", "0")[:3])
    return version


def _distribution(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": JSON_LINES if file.table.lines else PARQUET,
        "sha256": file.sha256,
    }


def _record_set(file: DataFile, several: bool) -> dict[str, Any]:
    name = f"{file.config}.{file.split}" if several else file.config
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{file.rows} rows of {file.subset}, {file.split}",
        "field": [_field(file, name, column) for column in file.table.columns],
    }


def _field(file: DataFile, record_set: str, column: ExportColumn) -> dict[str, Any]:
    described: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column.name}",
        "name": column.name,
        "description": column.says,
        "dataType": _TYPES.get(column.kind, "sc:Text"),
        "source": {"fileObject": {"@id": file.path}, "extract": {"column": column.name}},
    }
    return described | {"repeated": True} if column.kind.repeated else described
