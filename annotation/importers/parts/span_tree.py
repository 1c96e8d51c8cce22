"""The spans of one trace as a forest, whatever order, gaps or knots they came with.

Everything here is iterative and linear in the number of spans (sorting apart): a trace may have 100,000
spans, nested as deeply as there are spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from annotation.core.i18n import translatable

__all__ = ["Span", "SpanTree"]

DUPLICATES: Final = translatable("duplicate spans, left out")
ORPHANS: Final = translatable("spans whose parent is not in the file")
CIRCLES: Final = translatable("spans that name one another as parents")


@dataclass(slots=True, eq=False)
class Span:
    """One span, in whichever format it came. Times are nanoseconds since 1970, 0 when unknown.

    `attributes` are plain values by their full name. `error` is the message of a span that failed, `""` of
    one that did not. `events` are (name, attributes). `order` is its place in the file.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    error: str = ""
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    order: int = 0


class SpanTree:
    """The spans of one trace by their parents.

    A span that comes twice counts once (the later copy: exporters send a span again when it is complete); a
    span whose parent is not there is a root; of spans that are one another's ancestors the earliest becomes a
    root. `notes` counts all three. Children and roots are in the order of their start.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self.notes: Counter[str] = Counter()
        self._by_id: dict[str, Span] = {}
        without_id: list[Span] = []
        for span in spans:
            if not span.span_id:
                without_id.append(span)
                continue
            if span.span_id in self._by_id:
                self.notes[DUPLICATES] += 1
            self._by_id[span.span_id] = span
        self.spans = sorted([*self._by_id.values(), *without_id], key=_moment)
        self._parent: dict[Span, Span] = {}
        for span in self.spans:
            if not span.parent_id:
                continue
            parent = self._by_id.get(span.parent_id)
            if parent is None:
                self.notes[ORPHANS] += 1
            elif parent is not span:
                self._parent[span] = parent
            else:
                self.notes[CIRCLES] += 1
        self._cut_circles()
        self._children: dict[Span | None, list[Span]] = {}
        for span in self.spans:
            self._children.setdefault(self._parent.get(span), []).append(span)

    def _cut_circles(self) -> None:
        """Make the earliest span of every circle of parents a root."""
        done: set[Span] = set()
        for span in self.spans:
            path: list[Span] = []
            on_path: set[Span] = set()
            at: Span | None = span
            while at is not None and at not in done and at not in on_path:
                path.append(at)
                on_path.add(at)
                at = self._parent.get(at)
            if at is not None and at in on_path:
                circle = path[path.index(at) :]
                del self._parent[min(circle, key=_moment)]
                self.notes[CIRCLES] += len(circle)
            done.update(path)

    def parent(self, span: Span) -> Span | None:
        """The span above `span`, or `None` for a root."""
        return self._parent.get(span)

    def roots(self) -> list[Span]:
        """The spans without a parent, in the order of their start."""
        return self._children.get(None, [])

    def walk(self) -> Iterator[Span]:
        """Every span, each before its children."""
        waiting = list(reversed(self.roots()))
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(self._children.get(span, [])))

    def nearest(self, matches: Callable[[Span], bool]) -> dict[Span, Span | None]:
        """For every span the nearest span above it (never itself) that `matches`, or `None`."""
        nearest: dict[Span, Span | None] = {}
        for span in self.walk():
            above = self._parent.get(span)
            if above is None:
                nearest[span] = None
            else:
                nearest[span] = above if matches(above) else nearest[above]
        return nearest


def _moment(span: Span) -> tuple[int, int]:
    return span.start, span.order
