"""The cases in which the label scheme is decided, once, for the guidelines in both languages and the reasons.

Each case: its name, the label, what a row of the guidelines' table says of it in English and in Chinese, and
the code of the reason (annotation/core/vocabulary.py) that says the same.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Case(NamedTuple):
    """One row of the table."""

    name: str
    label: int
    english: str
    chinese: str
    reason: str


CASES: Final = (
    Case("greeting", 1, "greets the user", "问候用户", "as_asked"),
    Case("asked explicitly", 1, "exactly what the user or the task asks for", "明确要求去做", "as_asked"),
    Case("format allowed", 1, "the task demands or allows", "任务要求或允许时", "as_asked"),
    Case("cross-check", 1, "against another source", "用另一来源", "cross_check"),
    Case("correction", 1, "really puts it right", "真正改正", "recovery"),
    Case("honest refusal", 1, "refuses what the rules forbid", "拒绝规则所禁止的事", "honest_limit"),
    Case("failed once", 0, "for the first time", "首次失败或没有收获", "exploratory"),
    Case("failed correction", 0, "does not succeed", "未成功", "failed_correction"),
    Case("external failure", 0, "environment fails", "环境出现故障", "external_failure"),
    Case("harmless slip", 0, "nothing rests on", "无后续依赖", "no_effect"),
    Case("harmless detour", 0, "harmless detour", "绕了弯路", "redundant"),
    Case("in doubt", 0, "cannot decide", "仍无法判断", ""),
    Case("failed again", -1, "repeats a failed action", "重复已失败的操作", "repeated_ineffective"),
    Case("nothing new", -1, "learns nothing new", "没有得到新信息", "repeated_ineffective"),
    Case("superficial", -1, "on the surface only", "只在表面上改正", "superficial_correction"),
    Case("policy", -1, "breaks a rule or policy", "违反给定的规则或政策", "policy_violation"),
    Case("propagation", -1, "builds on an earlier error", "建立在先前的错误之上", "builds_on_error"),
)

# what is no row of the table: rule -> (English, Chinese)
RULES: Final = {
    "net contribution": ("**net contribution**", "**净贡献**"),
    "several calls, one label": ("however many tool calls it makes", "无论包含多少次工具调用"),
    "no hindsight": ("**No hindsight.**", "**不以后见之明判断。**"),
    "record, not outside knowledge": ("**The record, not what you know.**", "**依据记录，而非你的知识。**"),
    "in doubt 0": ("**In doubt, 0.**", "**存疑时标 0。**"),
    "form follows the task": ("**Form follows the task.**", "**形式服从任务。**"),
    "independence": ("A new request of the user is not enough", "用户的新请求并不足够"),
    "outcome apart": ("Judge the outcome apart from the steps", "结果与步骤分开判断"),
}
