"""An annotator's labels as JSON, and the propagation rules that go with them.

The workbench is opened with it, and every save answers with it: the page replaces its labels by the answer's.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from annotation.core.kinds import Feature
from annotation.core.label_fields import LABEL_FIELDS, OUTCOME_FIELDS, LabelFields, OutcomeFields
from annotation.core.propagation import PropagationRules
from annotation.core.text import unescape
from annotation.models import Label, OutcomeLabel, Project, Subset

NO_LABEL = LabelFields()
_of_label = attrgetter(*LABEL_FIELDS)
_of_outcome = attrgetter(*OUTCOME_FIELDS)


def rules_of(project: Project, subset: Subset, *, tested: bool = False) -> PropagationRules:
    """The propagation rules in force for the trajectories of a subset. `tested`: in a test, where nothing is
    carried forward (as in `services.label.rows.READ`)."""
    return PropagationRules(
        suspend_on_user_turn=subset.suspend_on_user_turn,
        carry_forward=project.carry_forward and not tested,
        propagates=project.of_kind.has(Feature.PROPAGATION),
        others=project.of_kind.has(Feature.PAIRS),
    )


def fields_of(label: Label, index_of: Mapping[int, int]) -> LabelFields:
    """A stored label of a step. `index_of` gives the message index of each step of the trajectory by its
    pk."""
    fields = {name: getattr(label, name) for name in LABEL_FIELDS if name != "root"}
    return LabelFields(**fields, root=None if label.root_id is None else index_of.get(label.root_id))


def label_json(message_index: int, label: LabelFields | None) -> dict[str, Any]:
    """One step's label; version 0 when it has never been touched."""
    label = label or NO_LABEL
    fields = dict(zip(LABEL_FIELDS, _of_label(label), strict=True))
    fields |= {"message_index": message_index, "source": label.source or None, "note": unescape(label.note)}
    return fields


def outcome_json(outcome: OutcomeFields | OutcomeLabel | None) -> dict[str, Any]:
    """The outcome of a trajectory; version 0 when it has never been touched."""
    outcome = outcome or NO_LABEL
    return {**dict(zip(OUTCOME_FIELDS, _of_outcome(outcome), strict=True)), "note": unescape(outcome.note)}
