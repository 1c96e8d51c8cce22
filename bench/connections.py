"""The topic `connections`: how fast traces are pulled from a real server, and in how much memory.

The servers are those of `make test-connections`, which installs them and says how: REAL_SERVERS.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from bench import inside
from bench.installations import Stock
from bench.report import Limit, Report, Say, megabytes, number, table
from tests.connections import real

SIZES: Final = (500, 5_000)
QUICK_SIZES: Final = (20, 100)
LOGGED_AT_ONCE: Final = 500
TIMES_THE_BARE_LOOP: Final = 2.0
FLAT_MEMORY: Final = 1.3
SERVERS: Final = {"mlflow": real.mlflow, "phoenix": real.phoenix}


@dataclass
class Pulled:
    """Seconds to read so many traces by a bare loop, to pull them, and to pull them again when all of them
    are known; the peak of the process that pulled, in bytes."""

    kind: str
    server: str
    traces: int
    bare: float
    seconds: float
    again: float
    peak: int
    idle: int


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Log traces, read them by a bare loop, pull them, print, compare with what is promised."""
    for name, server in SERVERS.items():
        if not real.REAL or not Path(real.REAL, name).is_dir():
            say(f"{name} is not installed: see `make bench-connections`")
            continue
        place = folder / f"{stock.kind}-{name}-server"
        place.mkdir()
        with server(place) as side:
            found = [measure(stock, side, size, say) for size in (QUICK_SIZES if quick else SIZES)]
        _told(stock, name, found, report)


def measure(stock: Stock, side: Any, size: int, say: Say) -> Pulled:
    """So many traces of their own place on the server."""
    side.settle(f"of-{size}")
    # Phoenix takes a span once, whatever its project: no two sizes have a number in common
    for start in range(size, 2 * size, LOGGED_AT_ONCE):
        side.log(*range(start, min(start + LOGGED_AT_ONCE, 2 * size)))
    say(f"{side.kind}: {size:,} traces logged")
    installation = stock.installation(f"pull_{size}")
    installation.settings["TRISTEP_CONNECTION_URLS"] = side.url
    installation.inside(inside.start, "zero")
    begun = time.perf_counter()
    read = BARE[side.kind](side.url, side.source)
    bare = time.perf_counter() - begun
    told = installation.inside(inside.pull, "zero", side.kind, side.url, side.source)
    again = installation.inside(inside.pull, "zero", side.kind, side.url, side.source)
    if not read == told["new"] == again["known"] == size:
        raise RuntimeError(f"{size} traces were logged, {read} read, {told} and {again} pulled")
    say(f"{stock.kind}: {size:,} of {side.kind} in {told['seconds']:.1f} s, read in {bare:.1f} s")
    return Pulled(
        kind=stock.kind,
        server=side.kind,
        traces=size,
        bare=bare,
        seconds=told["seconds"],
        again=again["seconds"],
        peak=told["peak_bytes"],
        idle=told["idle_bytes"],
    )


def bare_mlflow(url: str, source: str) -> int:
    """Read every trace with its spans, twenty at once, as the product does; how many."""
    count, token = 0, ""
    with httpx.Client(base_url=url, timeout=60) as client:
        found = client.get("/api/2.0/mlflow/experiments/get-by-name", params={"experiment_name": source})
        experiment = {"experiment_id": found.json()["experiment"]["experiment_id"]}
        body: dict[str, Any] = {
            "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": experiment}],
            "max_results": 100,
            "order_by": ["timestamp_ms ASC"],
        }
        while True:
            page = client.post("/api/3.0/mlflow/traces/search", json=body | {"page_token": token}).json()
            ids = [info["trace_id"] for info in page.get("traces", ())]
            for start in range(0, len(ids), 20):
                wanted = {"trace_ids": ids[start : start + 20]}
                count += len(client.get("/api/3.0/mlflow/traces/batchGet", params=wanted).json()["traces"])
            token = page.get("next_page_token", "")
            if not token:
                return count


def bare_phoenix(url: str, source: str) -> int:
    """Read every span, a thousand at once; of how many traces they are."""
    traces: set[str] = set()
    query: dict[str, Any] = {"limit": 1000}
    with httpx.Client(base_url=url, timeout=60) as client:
        while True:
            page = client.get(f"/v1/projects/{source}/spans", params=query).json()
            traces |= {span["context"]["trace_id"] for span in page["data"]}
            if not page.get("next_cursor"):
                return len(traces)
            query["cursor"] = page["next_cursor"]


BARE: Final[dict[str, Callable[[str, str], int]]] = {"mlflow": bare_mlflow, "phoenix": bare_phoenix}


def _told(stock: Stock, name: str, found: Sequence[Pulled], report: Report) -> None:
    table(
        f"Pull from {name}, {stock.kind}",
        ("traces", "bare loop, s", "pulled, s", "of the bare loop", "again, s", "peak", "at start"),
        list(_rows(found)),
    )
    for one in found:
        report.line("pull", **asdict(one))
    small, large = found[0], found[-1]
    what = f"{stock.kind}: pull of {large.traces:,} traces from {name}, times a bare loop"
    report.limit(Limit(what, large.seconds / large.bare, TIMES_THE_BARE_LOOP))
    what = f"{stock.kind}: peak memory of a pull from {name}, {large.traces:,} against {small.traces:,}"
    report.limit(Limit(what, large.peak / small.peak, FLAT_MEMORY))


def _rows(found: Sequence[Pulled]) -> Iterator[tuple[str, ...]]:
    for one in found:
        yield (
            f"{one.traces:,}",
            number(one.bare),
            number(one.seconds),
            number(one.seconds / one.bare),
            number(one.again),
            megabytes(one.peak),
            megabytes(one.idle),
        )
