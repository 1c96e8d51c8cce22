"""Write Parquet files: the same rows give the same bytes, as long as the same pyarrow writes them.

pyarrow is imported where it is used: a process that writes no Parquet starts without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import RawIOBase
from types import TracebackType
from typing import IO, Any

from annotation.core.releases.exports.formats.columns import CellKind, ExportColumn

GROUP_ROWS = 1_000
GROUP_CHARACTERS = 8 << 20
"""A row group is written when it has so many rows, or texts of so many characters; memory is that of one."""


def writer_version() -> str:
    """The library and version that writes, which is part of the bytes."""
    import pyarrow

    return f"pyarrow {pyarrow.__version__}"


class ParquetFile:
    """A file that is written row by row to `sink`, which is left open. To be used with `with`."""

    def __init__(self, sink: IO[bytes] | RawIOBase, columns: Sequence[ExportColumn]) -> None:
        import pyarrow
        from pyarrow import parquet

        types = {
            CellKind.TEXT: pyarrow.string(),
            CellKind.JSON: pyarrow.string(),
            CellKind.INTEGER: pyarrow.int64(),
            CellKind.LABEL: pyarrow.int8(),
            CellKind.TEXTS: pyarrow.list_(pyarrow.string()),
            CellKind.INTEGERS: pyarrow.list_(pyarrow.int32()),
            CellKind.LABELS: pyarrow.list_(pyarrow.int8()),
            CellKind.BOOLEANS: pyarrow.list_(pyarrow.bool_()),
        }
        self._schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns])
        self._rows: list[Mapping[str, Any]] = []
        self._characters = 0
        self._table = pyarrow.Table.from_pydict
        self._writer = parquet.ParquetWriter(
            sink,
            self._schema,
            version="2.6",
            compression="zstd",
            compression_level=3,
            use_dictionary=["subset", "policy_model", "data_source", "final_kind", "annotator"],
            write_statistics=False,
            store_schema=False,
            data_page_version="1.0",
        )

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row, sooner or later."""
        self._rows.append(row)
        self._characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._rows) >= GROUP_ROWS or self._characters >= GROUP_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        columns = {name: [row[name] for row in self._rows] for name in self._schema.names}
        self._writer.write_table(self._table(columns, schema=self._schema), row_group_size=GROUP_ROWS)
        self._rows, self._characters = [], 0
