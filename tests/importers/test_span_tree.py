"""Spans as a forest: any order, gaps, circles, copies, and very many of them."""

import random
import time

from annotation.importers.parts.span_tree import CIRCLES, DUPLICATES, ORPHANS, Span, SpanTree


def span(span_id: str, parent: str = "", start: int = 0, name: str = "") -> Span:
    return Span("t", span_id, parent, name or span_id, start, start + 1, {}, order=start)


def names(tree: SpanTree) -> list[str]:
    return [one.name for one in tree.walk()]


def test_tree_is_the_same_in_whichever_order_the_spans_came() -> None:
    spans = [
        span("root", "", 1), span("a", "root", 2), span("b", "a", 3), span("c", "a", 4), span("d", "root", 5),
    ]  # fmt: skip
    for seed in range(5):
        random.Random(seed).shuffle(spans)
        assert names(SpanTree(spans)) == ["root", "a", "b", "c", "d"]


def test_tree_takes_the_later_copy_of_a_span_and_counts_it() -> None:
    tree = SpanTree([span("a", "", 1, "first"), span("a", "", 1, "second"), span("", "", 2, "without an id")])
    assert names(tree) == ["second", "without an id"]
    assert tree.notes == {DUPLICATES: 1}


def test_tree_makes_roots_of_orphans_and_of_the_earliest_in_a_circle() -> None:
    tree = SpanTree(
        [span("x", "gone", 9), span("b", "a", 2), span("a", "c", 1), span("c", "b", 3), span("s", "s", 4)]
    )
    assert [root.name for root in tree.roots()] == ["a", "s", "x"]
    assert names(tree) == ["a", "b", "c", "s", "x"]
    assert tree.notes == {ORPHANS: 1, CIRCLES: 4}


def test_nearest_is_the_next_above_and_never_the_span_itself() -> None:
    spans = [span("A", "", 1), span("b", "A", 2), span("C", "b", 3), span("d", "C", 4)]
    nearest = SpanTree(spans).nearest(lambda one: one.name.isupper())
    assert {one.name: above and above.name for one, above in nearest.items()} == {
        "A": None,
        "b": "A",
        "C": "A",
        "d": "C",
    }


def test_tree_of_a_hundred_thousand_spans_in_end_order_takes_linear_time() -> None:
    """As deep as it is large: recursion fails, and a walk up from every span takes 5 · 10⁹ turns."""
    count = 100_000
    spans = [span(str(i), str(i - 1) if i else "", i) for i in reversed(range(count))]
    started = time.process_time()
    tree = SpanTree(spans)
    assert sum(1 for _ in tree.walk()) == count
    assert len(tree.nearest(lambda one: one.order % 2 == 0)) == count
    assert time.process_time() - started < 20  # a second on a slow machine
