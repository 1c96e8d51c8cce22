"""Every address of releases, and of models that are scored on them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.address import Address, of_release, pair, pk, slug, version


def release_pages() -> Iterator[Address]:
    """The pages."""
    f = "frontend:"
    known = {"unresolved": "on", "doubtful": "on", "final": "on"}
    yield Address(f + "release-freeze", slug, body={"version": "2.0", **known})
    for name in ("freeze-detail", "freeze-status", "freeze-cancel"):
        yield Address(f + name, pk("freeze", of_project=True))
    yield Address(f + "release", version())
    yield Address(f + "release-compare", slug, query="new=1.1&old=1.0")
    for name in ("release-diff", "release-changelog"):
        yield Address(f + name, pair())
    yield Address(f + "release-public", version(), body={"is_open": "on"})
    yield Address(f + "robots")
    for number, state in (("1.0", "off"), ("1.1", "on")):
        yield Address(f + "public-release", version(version=number), state)
        yield Address(f + "public-file", version(version=number, name="tiny.jsonl"), f"{state}-tiny.jsonl")
    yield Address(f + "public-file", version(version="1.1", name="all.zip"), "on-all.zip")
    yield Address(f + "release-verify", version())
    yield Address(f + "release-derive", version(), body={"into": "bench"})
    named = {"name": "prompts-1", "shots": "0", "split": "0.5", "seed": "0", "tokens": "2000"}
    yield Address(f + "release-prompts", version(), body=named)
    asked = version(name="asked")
    yield Address(f + "release-prompt-set", asked, body=lambda world: {"judge": world.ids["judge"]})
    for name in ("release-prompts-status", "release-prompts-file"):
        yield Address(f + name, version(name="asked"))
    yield Address(f + "release-withdraw", version(), body={"reason": "faulty"})
    yield from (Address(f + name, version()) for name in ("leaderboard", "predictions-import"))
    yield Address(f + "release-errors", of_release("predictions"), query="released=-1&predicted=1")
    yield Address(f + "release-predicted", lambda world: {**of_release("predictions")(world), "ordinal": 1})
    numbers = {"title": "GAIA", "numbers": "Sage, 0.5"}
    yield Address(f + "outside-numbers", version(), body=numbers)
    yield Address(f + "release-best-of-n", version())
    yield Address(f + "release-benchmark", version())
    yield Address(f + "release-record", version(ordinal=0))
    yield Address(f + "release-record", version(ordinal=0), "part", query="at=2&only=run")
    yield Address(f + "release-message", version(ordinal=1, message=2))
    yield Address(f + "release-image", version(ordinal=1, message=2, part=0))
    yield Address(f + "scored-judges", version(), body=lambda world: {"judge": world.ids["judge"]})
    yield from (Address(f + name, of_release("predictions")) for name in ("model", "predictions-delete"))
    yield Address(f + "release-export", version(name="tiny.jsonl"), "jsonl")
    yield Address(f + "release-export", version(name="manifest.json"), "manifest")
    yield Address(f + "release-export", version(name="all.zip"), "zip")


def release_api() -> Iterator[Address]:
    """The same over the API."""
    a = "api:"
    yield Address(a + "releases", slug, body={"version": "2.0"})
    yield from (Address(a + name, pk("freeze")) for name in ("freeze", "freeze-cancel"))
    yield Address(a + "release", version())
    yield Address(a + "release-statistics", version())
    yield Address(a + "release-verify", version())
    for name in ("release-diff", "release-changes", "release-changelog"):
        yield Address(a + name, pair())
    yield Address(a + "release-public", version(), body={"is_open": True})
    for number, state in (("1.0", "off"), ("1.1", "on")):
        yield Address(a + "public-release", version(version=number), state)
    yield Address(a + "release-manifest", version())
    yield Address(a + "release-signature", version())
    yield Address(a + "release-key", version())
    yield Address(a + "release-export", version(subset="tiny"))
    yield Address(a + "release-archive", version())
    derived = {"into": "bench", "set": "first", "recipe": "shared"}
    yield Address(a + "derivations", version(), body=derived, query="into=bench&recipe=shared")
    yield Address(a + "prompts", version(), body={"name": "prompts-1"})
    yield from (Address(a + name, version(name="asked")) for name in ("prompt-set", "prompts-file"))
    yield Address(a + "release-withdraw", version(), body={"reason": "faulty"})
    yield from (Address(a + name, version()) for name in ("prediction-sets", "leaderboard", "best-of-n"))
    yield Address(a + "benchmark", version())
    numbers = {"title": "GAIA", "numbers": {"Sage": 0.5}}
    yield Address(a + "outside-numbers", version(), body=numbers)
    yield Address(a + "scored-judges", version(), body=lambda world: {"judge": world.ids["judge"]})
    yield Address(a + "prediction-set", of_release("predictions"))


def published(address: Address, records: set[str]) -> set[str]:
    """The canaries that everybody meets at an address: of the public release its note, and in its files those
    of its `records`."""
    if not address.name.rpartition(":")[2].startswith("public-") or not address.tag.startswith("on"):
        return set()
    return {"public-note"} | (records if address.tag.endswith((".jsonl", ".zip")) else set())
