"""JSON as structure on a page: every value a text node of its own, built by format_html alone."""

from __future__ import annotations

import re
from typing import Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from annotation.core.structure import LONG, Fields, Items, Node, Passage, Passages, Text, Value
from frontend.visible import shown

register = template.Library()

_LONG_DECIMALS: Final = re.compile(r"(-?\d+\.\d{4})\d{3,}")


def _shortened(number: re.Match[str]) -> str:
    return f"{number[1]}…"


@register.simple_tag
def structure(node: Node) -> SafeString:
    """The HTML of a structure."""
    if isinstance(node, Text):
        return _text(node.text)
    if isinstance(node, Value):
        return format_html('<span class="v v--literal">{}</span>', shown(node.text))
    if isinstance(node, Passages):
        few = "" if len(node.items) <= 4 else " passages--many"
        return format_html(
            '<ol class="passages{}">{}</ol>',
            few,
            format_html_join("", "{}", ((_passage(p),) for p in node.items)),
        )
    return _fields(node) if isinstance(node, Fields) else _items(node)


def _text(text: str) -> SafeString:
    if not text:
        return format_html('<span class="v v--literal">{}</span>', gettext("(empty)"))
    block = len(text) > LONG or "\n" in text
    return format_html('<span class="v{}" dir="auto">{}</span>', " v--block" if block else "", shown(text))


def _is_documents(node: Node) -> bool:
    lists = node.items if isinstance(node, Items) else (node,)
    return all(isinstance(one, Passages) for one in lists)


def _fields(node: Fields) -> SafeString:
    rows = ((shown(name), structure(one)) for name, one in node.items)
    kind = " tree--flat" if node.flat else ""
    if len(node.items) == 1 and _is_documents(node.items[0][1]):
        kind = " tree--only"  # {"result": […]}: the documents need no more of a name
    return format_html(
        '<ul class="tree{}">{}</ul>',
        kind,
        format_html_join("", '<li><b class="k">{}</b> {}</li>', rows),
    )


def _items(node: Items) -> SafeString:
    if all(isinstance(one, Passages) for one in node.items):
        return _groups(node)
    rows = ((structure(one),) for one in node.items)
    return format_html(
        '<ol class="tree {}">{}</ol>',
        "tree--chips" if node.flat else "tree--items",
        format_html_join("", "<li>{}</li>", rows),
    )


def _groups(node: Items) -> SafeString:
    """The documents found for several questions, list by list."""
    title = gettext("List {number} of {count}")
    rows = (
        (title.format(number=number, count=len(node.items)), structure(one))
        for number, one in enumerate(node.items, 1)
    )
    return format_html(
        '<ol class="tree tree--groups">{}</ol>',
        format_html_join("", '<li><p class="passages__title">{}</p>{}</li>', rows),
    )


def _passage(one: Passage) -> SafeString:
    facts = " · ".join(
        f"{shown(name)} {_LONG_DECIMALS.sub(_shortened, shown(value))}" for name, value in one.facts
    )
    return format_html(
        '<li class="passage"><p class="passage__head"><b class="passage__title" dir="auto">{}</b>{}</p>'
        '{}<p class="passage__text" dir="auto">{}</p></li>',
        shown(one.title) or gettext("Untitled"),
        format_html(' <span class="passage__facts">{}</span>', facts) if facts else "",
        format_html('<p class="passage__address">{}</p>', shown(one.address)) if one.address else "",
        shown(one.text),
    )
