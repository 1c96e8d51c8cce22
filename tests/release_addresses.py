"""Every address of releases, and of models that are scored on them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.address import Address, of_release, pk, slug, version


def release_pages() -> Iterator[Address]:
    """The pages."""
    f = "frontend:"
    known = {"unresolved": "on", "doubtful": "on", "final": "on"}
    yield Address(f + "release-freeze", slug, body={"version": "2.0", **known})
    for name in ("freeze-detail", "freeze-status", "freeze-cancel"):
        yield Address(f + name, pk("freeze", of_project=True))
    yield Address(f + "release", version())
    yield Address(f + "release-verify", version())
    yield Address(f + "release-withdraw", version(), body={"reason": "faulty"})
    yield from (Address(f + name, version()) for name in ("leaderboard", "predictions-import"))
    yield Address(f + "release-errors", of_release("predictions"), query="released=-1&predicted=1")
    yield Address(f + "release-predicted", lambda world: {**of_release("predictions")(world), "ordinal": 1})
    yield Address(f + "release-record", version(ordinal=0))
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
    yield Address(a + "release-verify", version())
    yield Address(a + "release-manifest", version())
    yield Address(a + "release-signature", version())
    yield Address(a + "release-key", version())
    yield Address(a + "release-export", version(subset="tiny"))
    yield Address(a + "release-archive", version())
    yield Address(a + "release-withdraw", version(), body={"reason": "faulty"})
    yield from (Address(a + name, version()) for name in ("prediction-sets", "leaderboard", "best-of-n"))
    yield Address(a + "scored-judges", version(), body=lambda world: {"judge": world.ids["judge"]})
    yield Address(a + "prediction-set", of_release("predictions"))
