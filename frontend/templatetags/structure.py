"""JSON as structure on a page: every value a text node of its own, built by format_html alone."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from annotation.core.structure import LONG, Fields, Items, Node, Passage, Passages, Text, Value
from frontend.visible import shown

register = template.Library()


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


def _fields(node: Fields) -> SafeString:
    rows = ((shown(name), structure(one)) for name, one in node.items)
    return format_html(
        '<ul class="tree{}">{}</ul>',
        " tree--flat" if node.flat else "",
        format_html_join("", '<li><b class="k">{}</b> {}</li>', rows),
    )


def _items(node: Items) -> SafeString:
    rows = ((structure(one),) for one in node.items)
    return format_html(
        '<ol class="tree {}">{}</ol>',
        "tree--chips" if node.flat else "tree--items",
        format_html_join("", "<li>{}</li>", rows),
    )


def _passage(one: Passage) -> SafeString:
    facts = " · ".join(f"{shown(name)} {shown(value)}" for name, value in one.facts)
    return format_html(
        '<li class="passage"><p class="passage__head"><b class="passage__title" dir="auto">{}</b>{}</p>'
        '{}<p class="passage__text" dir="auto">{}</p></li>',
        shown(one.title) or gettext("Untitled"),
        format_html(' <span class="passage__facts">{}</span>', facts) if facts else "",
        format_html('<p class="passage__address">{}</p>', shown(one.address)) if one.address else "",
        shown(one.text),
    )
