"""The topic `scale`: a project of a million trajectories on PostgreSQL, of a hundred thousand on SQLite, and
beside it one of ten thousand in the same run.

Each takes minutes, so `make bench` leaves it out: `make bench ARGS="--only scale --database postgres"`.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from bench import inside, records, releases, requests
from bench.client import Client
from bench.inside import PASSWORD
from bench.installations import Installation, Served, Stock
from bench.report import MEGABYTE, Limit, Report, Say, megabytes, number, percentiles, table

SIZES = {"sqlite": (10_000, 100_000), "postgres": (10_000, 1_000_000)}
QUICK_SIZES = (400, 2_000)
IMPORTED = 2_000  # of each, by a real import, before the copies
MORE = 2_000  # imported again when the project has its size
# by two people; seven of ten are resolved: of the million a release holds a tenth
LABELLED = {"sqlite": 0.9, "postgres": 1 / 7}
TURNS, QUICK_TURNS = 60, 2
LOOKS = 5
FLAT = 1.5
PAGE_MS = 60  # each page of a hundred thousand, p50
SLUG = "scale"
WORKS = ("freeze", "export", "dataset", "verify")

PAGES = {
    "admin": {
        "page: home": "/",
        "page: overview": "/p/{slug}/",
        "page: trajectories": "/p/{slug}/trajectories/",
        "page: disputed trajectories": "/p/{slug}/trajectories/?state=disputed",
        "page: trajectories by agreement": "/p/{slug}/trajectories/?labels=1&sort=agreement",
        "page: board": "/p/{slug}/board/",
        "page: hours": "/p/{slug}/hours/",
        "page: members": "/p/{slug}/members/",
        "page: imports": "/p/{slug}/import/",
        "page: claims": "/p/{slug}/claims/",
        "page: agreement": "/p/{slug}/agreement/",
        "page: label quality": "/p/{slug}/label-quality/",
        "page: influence": "/p/{slug}/influence/",
        "page: releases": "/p/{slug}/releases/",
        "page: freeze": "/p/{slug}/freeze/",
        "api: progress": "/api/v1/projects/{slug}/progress/",
    },
    "judith": {"page: disputes": "/p/{slug}/adjudication/"},
    "ann": {"page: my work": "/p/{slug}/work/"},
}
HOT = ("claim next", "open trajectory (page)", "open trajectory (API)", "save label", "submit")


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Both sizes on one kind of database: print, and hold the large one to the small one."""
    sizes = QUICK_SIZES if quick else SIZES[stock.kind]
    found = {size: measure(stock, folder, size, quick, say) for size in sizes}
    small, large = sizes
    rows = []
    for what in found[large]["seconds"]:
        one, other = (percentiles(found[size]["seconds"][what]) for size in sizes)
        rows.append((what, *(f"{1000 * value:.1f}" for value in (*one, *other)), f"{other[0] / one[0]:.2f}"))
        report.line("scale", kind=stock.kind, what=what, small=one, large=other)
    heads = ("", f"p50 of {small:,}", "p95", f"p50 of {large:,}", "p95", "ratio of p50")
    table(f"Requests at scale, {stock.kind} (ms)", heads, rows)
    table(
        f"Work at scale, {stock.kind}",
        ("", *(f"{size:,}" for size in sizes)),
        [(what, *(number(found[size]["work"][what]) for size in sizes)) for what in found[large]["work"]],
    )
    table(
        f"Sizes on disk, {stock.kind}",
        ("", *(f"{size:,}" for size in sizes)),
        [
            (what, *(megabytes(found[size]["disk"].get(what, 0)) for size in sizes))
            for what in found[large]["disk"]
        ],
    )
    report.line("scale", kind=stock.kind, work={size: found[size]["work"] for size in sizes})
    report.line("scale", kind=stock.kind, disk={size: found[size]["disk"] for size in sizes})
    for what in HOT:
        before, after = (percentiles(found[size]["seconds"][what])[0] for size in sizes)
        report.limit(Limit(f"{stock.kind}: {what}, {large:,} against {small:,}", after / before, FLAT))
    for what in [name for pages in PAGES.values() for name in pages] if stock.kind == "sqlite" else ():
        p50 = 1000 * percentiles(found[large]["seconds"][what])[0]
        report.limit(Limit(f"{stock.kind}: {what}, p50 of {large:,} (ms)", p50, PAGE_MS))


def measure(stock: Stock, folder: Path, size: int, quick: bool, say: Say) -> dict[str, Any]:
    """Build a project of that size, work in it, freeze and export what is resolved."""
    imported, share = min(IMPORTED, size // 4), LABELLED[stock.kind]
    installation = stock.installation(f"{SLUG}_{size}")
    first, more = (folder / f"{SLUG}-{size}-{name}.jsonl" for name in ("first", "more"))
    records.write_small(first, imported)
    records.write_small(more, imported, after=imported)
    installation.inside(inside.start, SLUG)
    work: dict[str, float] = {}
    told = installation.inside(inside.import_file, SLUG, first)
    work["import into nothing, a second"] = imported / told["seconds"]
    told = installation.inside(inside.multiply, SLUG, str(size // imported))
    say(f"{installation.name}: {told['trajectories']:,} trajectories, {told['steps']:,} steps")
    told = installation.inside(inside.fill, SLUG, str(share))
    say(f"{installation.name}: {told['labels']:,} labels of {told['labelled']:,} trajectories")
    told = installation.inside(inside.import_file, SLUG, more)
    work["import into all, a second"] = imported / told["seconds"]
    seconds = worked_in(installation, size, share, QUICK_TURNS if quick else TURNS)
    say(f"{installation.name}: worked in")
    for name in WORKS:
        told = installation.inside(releases.publish, name, SLUG, installation.folder)
        say(f"{installation.name}: {name} of {told['records']:,} in {told['seconds']:.0f} s")
        work[f"{name}, records"] = told["records"]
        work[f"{name}, a second"] = told["records"] / told["seconds"]
        work[f"{name}, peak MB"] = told["peak_bytes"] / MEGABYTE
    return {"work": work, "seconds": seconds, "disk": installation.inside(inside.on_disk)}


def worked_in(installation: Installation, size: int, share: float, turns: int) -> dict[str, list[float]]:
    """Seconds of each kind of request: of one annotator's turns, and of the pages of everybody."""
    found = requests.Found()
    with contextlib.ExitStack() as stack:
        served = Served(installation)
        stack.callback(served.stop)
        for username, pages in PAGES.items():
            client = Client(served.port)
            stack.callback(client.close)
            client.sign_in(username, PASSWORD)
            person = requests.Annotator(client, SLUG, size, found, share)
            if username == "ann":
                requests.label([person], turns)
            for _ in range(LOOKS):
                person.look(pages)
    return {what: found.seconds[what, size, share] for what in found.names(share)}
