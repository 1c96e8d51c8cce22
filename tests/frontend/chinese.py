"""Sentences for a Chinese reader, and the parts left in English."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from annotation.models import User
from tests.people import Cast

CHINESE = re.compile("[\u4e00-\u9fff]")
CONTENT = ("k", "prose")


class Words(HTMLParser):
    """The words of a page: its texts and the attributes people read or hear, content and machine text
    apart."""

    SAID = ("aria-label", "title", "placeholder", "alt")
    SILENT = ("script", "style", "code", "kbd", "textarea", "pre")
    VOID = ("meta", "link", "input", "img", "br", "hr", "path", "rect", "wbr")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.silent: list[bool] = []
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        if not any(self.silent):
            self.found += [value for name, value in attrs if name in self.SAID and value]
            self.found += [
                value
                for name, value in attrs
                if name.startswith("data-")
                and value
                and " " in value
                and not value.startswith(("/", "M", "{"))
            ]
        if tag not in self.VOID:
            self.silent.append(
                tag in self.SILENT or held.get("dir") == "auto" or held.get("class") in CONTENT
            )

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID and self.silent:
            self.silent.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and not any(self.silent):
            self.found.append(data)


ENGLISH = re.compile(r"[A-Za-z][a-z]{2,}(?:[’'][a-z]+)?")
# Names, and what has one name in every language.
NAMES = re.compile(
    r"\w+\.jsonl?(\.sig)?|release-key\.pem|\.(?:json|eval|traj|traj\.json)\b|\bzip\b"
    r"|\b(?:Inspect|ATIF|Anthropic Messages|Claude (?:Agent SDK|Code)|OpenAI Responses|Agents SDK|Codex"
    r"|Lang(?:Chain|Graph|Smith)|(?:mini-)?SWE-agent|OpenHands|OpenTelemetry|GenAI|OpenInference|Phoenix|MLflow|Langfuse|Who&When|ShareGPT"
    r"|LLaMA-Factory)"
    r"|“[\w$-]+”|\[redacted\]|\{\w+\}|[0-9a-f]{32,}"
    r"|(?:https?|file)://[^\s，。、（）]+|TRISTEP_\w+|/[\w/]+|[A-Z]\w+/[\w/ -]+"
    r"|[A-Z][\w .]+ \((?:CC|ODC|ODbL|PDDL|CDLA|Apache|MIT)[\w.-]*\)"
    r"|\b(?:Tristep|AgentProcessBench|agentprocessbench|OpenAI|JSON Lines|Markdown|JavaScript"
    r"|Cohen|Dawid|Krippendorff|Gwet|Skene|English|scripted|token|Authorization|Bearer|assistant|chat-completions|vLLM|Ollama"
    r"|record_id|step_labels|final_label|explanations"
    r"|StepAcc|FirstErrAcc|Top p|Model [AB]|Ctrl|Shift|Esc|Hugging Face|Parquet|Croissant"
    r"|S3|GCS|MinIO|R2|id:secret)"
    r"|\b(?:[Aa]dmin|[Aa]nn|[Bb]en|[Cc]leo|[Jj]udith|[Oo]scar|[Rr]oot|[Gg]uest\d?)\b"
    r"|participant-[0-9a-f]+|Prolific|(?:Standard )?Webhooks?|\bhttps?\b|\btraining\b"
    r"|\bHub\b|tristep-releases/project/version|\bJSON\b|public:secret|has\(tags, \"prod\"\)"
    r"|\bspan\b|\bruns\b|\bdemo\b|\bHouse\b|tags\.stage = 'test'"
    r"|Project \w+|bench|other\d|sample-\d|Question \d|Version \d|Truth \d|tiny|search|target|total_index"
)


def english(texts: list[str]) -> list[str]:
    return [text.strip() for text in texts if ENGLISH.search(NAMES.sub(" ", text))]


def speak_chinese(cast: Cast) -> None:
    User.objects.update(language="zh-hans")
    for person in cast.everybody.values():
        person.refresh_from_db()
