"""Figures and labels as pandas frames; pandas is loaded when one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .errors import MissingPackage


def frame(rows: Iterable[Mapping[str, Any]], columns: Iterable[str] | None = None) -> Any:
    """A pandas DataFrame of rows. Raises MissingPackage without pandas."""
    try:
        import pandas
    except ImportError:
        raise MissingPackage("Frames need pandas: pip install 'tristep-client[pandas]'.") from None
    return pandas.DataFrame(list(rows), columns=None if columns is None else list(columns))


def figure_rows(agreement: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The figures of agreement: of all labels, of each subset, and of the parts of the cut one asked for.

    `low` and `high` are the ends of the interval; where a figure or its interval is None, `reason` says why.
    """
    parts = [("", "", agreement["overall"]["figures"])]
    parts += [("subset", name, part["figures"]) for name, part in agreement["subsets"].items()]
    if (cut := agreement["cut"])["by"] != "subset":
        parts += [(cut["by"], part["key"], {cut["figure"]: part["figure"]}) for part in cut["parts"]]
    for by, part, figures in parts:
        for name, figure in figures.items():
            low, high = figure["interval"] or (None, None)
            reason = figure["reason"] or figure["interval_reason"]
            yield {
                **{"by": by, "part": part, "figure": name, "value": figure["value"]},
                **{"low": low, "high": high, "n": figure["n"], "reason": reason},
            }


def label_rows(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The labels of a release's records, a row each; that of the outcome has no message index."""
    for record in records:
        names = {key: record[key] for key in ("data_source", "query_index", "sample_index")}
        for index, value in record["step_labels"].items():
            yield {**names, "message_index": int(index), "label": value}
        yield {**names, "message_index": None, "label": record["final_label"]}


def model_rows(leaderboard: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The models of a leaderboard with their figures over the whole release."""
    for model in leaderboard["models"]:
        yield {"model": model["model"], "prompt_version": model["prompt_version"], **model["overall"]}
