"""Audits of labels, and their cases."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.vocabulary import LabelAuditState
from annotation.services.judged_steps import MAX_NOTE
from annotation.services.label_audits import MOST_DRAWS

from .base import Input, Output, Query, Value, Whole, words
from .trajectories import Trajectory

MIXED = "Whether what stacked judges doubt is drawn more often; if not, draws go by steps alone."


class AuditPlanAsked(Query):
    """The share of wrong labels that is to be proved."""

    wished = serializers.FloatField(min_value=0.001, max_value=0.99, help_text="0.01 is 1 %.")
    mixed = serializers.BooleanField(default=True, help_text=MIXED)


class AuditPlan(Output):
    """The numbers of draws that prove the wished bound: where nothing is wrong, and where the share `error`
    of the labels is; null: no feasible number. `mixed`: what stacked judges doubt is drawn more often."""

    wished = serializers.FloatField()
    draws = serializers.IntegerField(allow_null=True)
    draws_with_errors = serializers.IntegerField(allow_null=True)
    error = serializers.FloatField()
    mixed = serializers.BooleanField()


class NewLabelAudit(Input):
    """An audit to begin."""

    wished = serializers.FloatField(min_value=0.001, max_value=0.99, help_text="0.01 is 1 %.")
    draws = Whole(min_value=1, max_value=MOST_DRAWS)
    mixed = serializers.BooleanField(default=True, help_text=MIXED)


class MoreDraws(Input):
    """Draws to add to an audit."""

    draws = Whole(min_value=1, max_value=MOST_DRAWS)


class LabelAudit(Output):
    """An audit of a project's labels. Its certificate is with the label quality."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=words(LabelAuditState))
    wished = serializers.FloatField()
    mixed = serializers.BooleanField()
    begun_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class UnnamedLabels(Output):
    """Three labels of a step (`message_index` null: of the outcome) in an order drawn by chance: the
    consensus and two readers', nobody says which."""

    message_index = serializers.IntegerField(allow_null=True)
    labels = serializers.ListField(child=serializers.IntegerField())


class AuditCase(Output):
    """A case of an audit that one has taken: what is to be decided, and the trajectory."""

    id = serializers.IntegerField()
    to_decide = UnnamedLabels(many=True)
    trajectory = Trajectory()


class AuditRuling(Input):
    """The decision of a step, or with `message_index` null of the outcome."""

    message_index = Whole(allow_null=True, min_value=0, max_value=MAX_INT)
    value = Value()
    note = serializers.CharField(required=False, allow_blank=True, max_length=MAX_NOTE, default="")


class AuditRulings(Input):
    """The decisions of a case: of all that is to be decided."""

    rulings = AuditRuling(many=True)


class TakenCase(Output):
    """The case that was taken."""

    id = serializers.IntegerField()


class DecidedCase(Output):
    """A decided case: on how many steps the consensus was wrong, and is corrected."""

    id = serializers.IntegerField()
    wrong = serializers.IntegerField()
