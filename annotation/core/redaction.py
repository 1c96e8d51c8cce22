"""Take secrets out of logs: keys and tokens whose form gives them away.

Only forms with next to no false alarms are known here. What looks like any other text (a password in a
sentence) is not found, and nobody should rely on it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from .i18n import translatable

PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        translatable("private keys, redacted"),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY-----.{0,20000}?"
            r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY-----",
            re.DOTALL,
        ),
    ),
    (
        translatable("keys of model servers, redacted"),
        re.compile(
            r"\b(?:sk-(?:ant-|proj-|lf-)?[A-Za-z0-9_-]{20,200}|AIza[0-9A-Za-z_-]{35}|hf_[A-Za-z0-9]{30,60})"
        ),
    ),
    (translatable("AWS keys, redacted"), re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    (
        translatable("tokens of GitHub, GitLab or Slack, redacted"),
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,255}"
            r"|glpat-[A-Za-z0-9_-]{20,64}|xox[abprs]-[A-Za-z0-9-]{10,200})"
        ),
    ),
    (
        translatable("signed web tokens, redacted"),
        re.compile(r"\beyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{10,2000}"),
    ),
    (
        translatable("authorization headers, redacted"),
        re.compile(r"(?i)\b(?:bearer|basic)[ ]+[A-Za-z0-9._~+/=-]{20,4000}"),
    ),
    (
        translatable("passwords in addresses, redacted"),
        re.compile(r"(?<=://)[^\s/:@\"']{1,100}:[^\s/@\"']{1,200}(?=@)"),
    ),
)
"""The name of each kind, and its form. Bounded repetitions: the text is hostile."""

MARK: Final = "[redacted]"


def redact_text(text: str, counts: Counter[str]) -> str:
    """`text` without what matches; `counts` by kind."""
    for kind, pattern in PATTERNS:
        text, count = pattern.subn(MARK, text)
        if count:
            counts[kind] += count
    return text


def redact(value: Any, counts: Counter[str]) -> Any:
    """Any JSON value without what matches in its texts, those of keys included."""
    if isinstance(value, str):
        return redact_text(value, counts)
    if isinstance(value, list):
        return [redact(item, counts) for item in value]
    if isinstance(value, dict):
        return {redact_text(key, counts): redact(item, counts) for key, item in value.items()}
    return value
