"""The fields of a person's label, stated once.

In memory a label is one of these. The columns (`models.LabelColumns`), the rule's input
(`core.propagation.StepInput`), the API (`api.serializers.assignments`) and the workbench
(`state/labels.js`) have the same names, which `tests/test_label_fields.py` holds them to.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(slots=True)
class OutcomeFields:
    """The label of the final result, and what every label has.

    `value` is None without a label; then `version`, note and marks stay. `reason` is a code of the scheme,
    `note` is escaped (core.text). `version` 0 is not stored yet.
    """

    value: int | None = None
    unsure: bool = False
    flagged: bool = False
    note: str = ""
    reason: str = ""
    version: int = 0


@dataclass(slots=True)
class LabelFields(OutcomeFields):
    """The label of a step (docs/design.md, "Labels and propagation").

    `source` is "" without a label; `root` is the message index of the step where the error began, of a −1
    alone, and `root_pinned` that the annotator chose it; `closes` is why a +1 ends an error run.
    """

    source: str = ""
    root: int | None = None
    root_pinned: bool = False
    closes: str = ""


OUTCOME_FIELDS = tuple(field.name for field in dataclasses.fields(OutcomeFields))
LABEL_FIELDS = tuple(field.name for field in dataclasses.fields(LabelFields))
