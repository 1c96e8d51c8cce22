"""The pure part of exporting a release: which files, which columns, which rows, and what is said of them.

`options` are the choices of an export; `layout` says which files they make; `columns` holds the schemas as
data, `rows` and `training` make rows of a record, `protocols` decides what a step's label is, `split` which
side a task is on. `card` writes README.md, `croissant` croissant.json, `checksums` checksums.json. Nothing
here knows how Parquet is written: services.release.parquet does that.
"""

from annotation.core.releases.exports.options import DATASET_FORMATS, FORMATS, ExportOptions, export_options

__all__ = ["DATASET_FORMATS", "FORMATS", "ExportOptions", "export_options"]
