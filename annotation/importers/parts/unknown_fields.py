"""Fields of a record that its converter does not understand."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from annotation.importers.conversion import Conversation, SourceLabel
from annotation.importers.records import LABEL_KEYS

__all__ = ["keep_rest"]


def keep_rest(conversation: Conversation, record: Mapping[str, Any], understood: Container[str]) -> None:
    """Keep every key that is not understood as a hint, labels in our own words as labels of the file."""
    for key, value in record.items():
        if key in understood:
            continue
        if key in LABEL_KEYS:
            conversation.labels.append(SourceLabel(None, key, value))
        else:
            conversation.hints[key] = value
