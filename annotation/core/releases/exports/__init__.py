"""The pure part of exporting a release: which files, which columns, which rows, and what is said of them.

`formats` is the registry: what each format is called, which tables, columns and rows it has, which choices.
`options` are the choices of an export as people give them; `layout` says which files they make, `split` which
side a task is on. `card` writes README.md, `croissant` croissant.json, `checksums` checksums.json. Nothing
here knows how Parquet is written: services.release.parquet does that.
"""

from annotation.core.releases.exports.formats import BY_NAME, FORMATS, PLAIN, ExportOptions
from annotation.core.releases.exports.options import export_options

__all__ = ["BY_NAME", "FORMATS", "PLAIN", "ExportOptions", "export_options"]
