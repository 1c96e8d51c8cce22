"""Render people's Markdown as sanitised HTML."""

from __future__ import annotations

import hashlib
from html.parser import HTMLParser

import nh3
from django.core.cache import cache
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("em", "strong", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_KEEP_SECONDS = 24 * 3600


def _render(text: str) -> str:
    """HTML whose headings begin one level lower: the page has a title of its own."""
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    return str(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def render(text: str) -> SafeString:
    """`text` as HTML: no raw HTML, no images (nothing comes from another host), http(s) and mail links only.

    Marked safe, so that templates write it as it is: it comes out of the sanitiser. Cached by the text
    itself, because a long text takes a quarter of a second.
    """
    key = "markdown:2:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    html = cache.get(key)
    if html is None:
        html = nh3.clean(
            _render(text),
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )
        cache.set(key, html, _KEEP_SECONDS)
    return mark_safe(html)


MAX_TREE_TEXT = 200_000
_VOID = {"br", "hr"}
Node = str | list["Node"]


class _TreeBuilder(HTMLParser):
    """Clean HTML as lists. Addresses stay text beside what they are linked from: nothing leads elsewhere."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[Node] = ["div"]
        self.open: list[list[Node]] = [self.root]
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node: list[Node] = ["span" if tag == "a" else tag]
        if tag == "a":
            self.addresses.append(dict(attrs).get("href") or "")
        self.open[-1].append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or len(self.open) == 1:
            return
        node = self.open.pop()
        if tag == "a" and self.addresses and (address := self.addresses.pop()) and node[1:] != [address]:
            node.append(f" ({address})")

    def handle_data(self, data: str) -> None:
        self.open[-1].append(data)


def tree(text: str) -> list[Node]:
    """`text` as the nodes of a document without links: a node is a text, or `[tag, node …]`.

    Longer texts than `MAX_TREE_TEXT` come back as they are.
    """
    if len(text) > MAX_TREE_TEXT:
        return [["pre", text]]
    builder = _TreeBuilder()
    builder.feed(render(text))
    builder.close()
    return builder.root[1:]
