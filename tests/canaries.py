"""Canaries: strings that stand nowhere by accident, and what each of them tells of."""

from __future__ import annotations

from typing import Any

CANARY = "canary"


def canary(*words: str) -> str:
    """A string that stands nowhere by accident, and says what it is."""
    return "-".join((CANARY, *words, "7f3a9c"))


def words(kinds: tuple[str, ...], places: tuple[str, ...]) -> set[str]:
    """The words of the canaries of these kinds at these places."""
    return {f"{kind}-{place}" for kind in kinds for place in places}


# what a canary of a kind tells, as (step by ordinal, None: the outcome or all of it; kind)
LABELS: set[tuple[int | None, str]] = {(None, "label"), (None, "consensus")}
TELLS: dict[str, set[tuple[int | None, str]]] = {
    **dict.fromkeys(("note", "remark", "reason", "decision", "case", "label", "said", "revised"), LABELS),
    **{kind: {(None, "consensus")} for kind in ("example", "corrected")},
    "proposed": {(1, "suggestion")},
    "suggested-first": {(0, "suggestion")},
    "suggested-second": {(1, "suggestion")},
    **{kind: {(None, "suggestion")} for kind in ("suggested-outcome", "comment", "answered")},
}
OWN = {"decision": "judith", "case": "judith"}


def judgement(canary: str, user: Any) -> tuple[str, set[tuple[int | None, str]]] | None:
    """The place that a canary is about and what it tells of it; None: no judgement, or this person's own."""
    kind, _, place = canary.rpartition("-")
    if kind.startswith(("note-", "remark-", "said-", "revised-", "corrected-")):
        kind, _, author = kind.partition("-")
    elif canary == "reason-cleo":
        kind, author, place = "reason", "cleo", "returned"
    else:
        author = OWN.get(kind, "")
    if kind not in TELLS or (user is not None and user.username == author):
        return None
    return place, TELLS[kind]
