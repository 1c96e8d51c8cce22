"""Blocks of content, as Anthropic, OpenAI's Responses, Inspect and LangChain write them, as OpenAI's parts.

An image whose bytes lie in the file becomes an `image_url` part with a data URI; one by address keeps its
address, which is never fetched. What is not understood stays the block that it was, to be shown as JSON.
"""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["as_json", "call_of", "content_of", "data_uri", "part_of", "parts_of", "text_of", "without"]

_TEXT: Final = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
_IMAGES: Final = frozenset({"image", "image_url", "input_image"})
_FILES: Final = frozenset({"document", "file", "input_file", "audio", "input_audio", "video"})
_SECRET: Final = frozenset({"encrypted_content", "encrypted_index", "signature", "cache_control"})


def as_json(value: Any) -> str:
    """A string as it is, nothing as `""`, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def call_of(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A tool call in OpenAI's shape; arguments that are no text become their JSON."""
    call: dict[str, Any] = {"id": as_json(call_id)} if call_id not in (None, "") else {}
    call["type"] = "function"
    call["function"] = {"name": as_json(name), "arguments": as_json(arguments)}
    return call


def data_uri(media_type: Any, data: str) -> str:
    """The data URI of base64 `data`, which may be one already."""
    return data if data[:5].lower() == "data:" else f"data:{as_json(media_type) or 'image/png'};base64,{data}"


def parts_of(content: Any) -> list[dict[str, Any]]:
    """The content of a message or a tool result, which may be text, a block or a list of blocks, as parts."""
    if content is None or content == "":
        return []
    blocks = content if isinstance(content, list) else [content]
    return [part_of(piece) for block in blocks for piece in _single(block)]


def _single(block: Any) -> list[Any]:
    """A block with several images (`image_urls`) as one for each; any other as it is."""
    several = block.get("image_urls") if isinstance(block, dict) and block.get("type") == "image" else None
    if not isinstance(several, list):
        return [block]
    return [{"type": "image_url", "image_url": address} for address in several]


def content_of(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Parts as the content of a message: plain text where there is nothing but one text."""
    if not parts:
        return ""
    only = parts[0] if len(parts) == 1 else {}
    if only.keys() == {"type", "text"} and isinstance(only["text"], str):
        return only["text"]
    return parts


def text_of(parts: list[dict[str, Any]]) -> str:
    """All the text of these parts, joined by newlines."""
    texts = (part.get("text") for part in parts if part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def part_of(block: Any) -> dict[str, Any]:
    """One block as a part: text, an image, or the block itself without what nobody can read in it."""
    if not isinstance(block, dict):
        return {"type": "text", "text": as_json(block)}
    kind = block.get("type")
    if isinstance(kind, str):
        if kind in _TEXT and isinstance(block.get("text"), str):
            return {"type": "text", "text": block["text"]}
        if kind in _IMAGES:
            return _image(block)
        if kind in _FILES:
            return _file(block)
    elif kind is None and isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    return without(block)


def without(block: dict[str, Any]) -> dict[str, Any]:
    """A block without signatures and encrypted text, also in the blocks within its `content`."""
    kept = {key: value for key, value in block.items() if key not in _SECRET}
    if isinstance(kept.get("content"), list):
        kept["content"] = [without(item) if isinstance(item, dict) else item for item in kept["content"]]
    return kept


def _image(block: dict[str, Any]) -> dict[str, Any]:
    address = _address(block)
    if address is None:
        return without(block)
    return {"type": "image_url", "image_url": {"url": address}}


def _address(block: dict[str, Any]) -> str | None:
    """The data URI or the address of an image, however its format says it; `None` for a mere file id."""
    source = block.get("source")
    if isinstance(source, dict):
        if isinstance(source.get("data"), str):
            return data_uri(source.get("media_type"), source["data"])
        return source["url"] if isinstance(source.get("url"), str) else None
    address = block.get("image_url", block.get("image"))
    if isinstance(address, dict):
        address = address.get("url")
    if isinstance(address, str) and address:
        return address
    for key in ("base64", "data"):
        if isinstance(block.get(key), str):
            return data_uri(block.get("mime_type"), block[key])
    return block["url"] if isinstance(block.get("url"), str) else None


def _file(block: dict[str, Any]) -> dict[str, Any]:
    """A file as text where it is text; else what it is called, without its bytes."""
    source = block.get("source")
    held = source if isinstance(source, dict) else block
    named = block.get("title") or block.get("filename") or block.get("name")
    title = f"[{block['type']}: {as_json(named)}]" if named else f"[{block['type']}]"
    if held.get("type") == "text" and isinstance(held.get("data"), str):
        return {"type": "text", "text": f"{title}\n{held['data']}"}
    if isinstance(held.get("content"), list | str) and held is source:
        inner = text_of(parts_of(held["content"]))
        return {"type": "text", "text": f"{title}\n{inner}"}
    for key in ("data", "file_data", "base64"):
        if isinstance(held.get(key), str):
            return {**without(block), "source": None, key: f"({len(held[key]):,} characters of base64)"}
    return without(block)
