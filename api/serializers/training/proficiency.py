"""Training: subsets, items, keys."""

from __future__ import annotations

from rest_framework import serializers

from annotation import models
from annotation.core.bounds import MAX_INT
from annotation.core.training.choosing import FEWEST
from annotation.core.vocabulary import AttemptState, KeyOrigin
from annotation.models.people.training import MAX_ATTEMPTS, MAX_WAIT_HOURS
from annotation.services.ingest.examples import LANGUAGES
from annotation.services.training.keys import MAX_NOTE
from annotation.services.training.tutorial import MOST_ITEMS

from ..base import Chosen, Input, Output, Query, Refusal, StoredText, Value, Whole, words
from ..people import Person


class TrainingSubset(Output):
    """A training subset, and how much of it is ready and used."""

    name = serializers.CharField()
    items = serializers.IntegerField()
    keyed = serializers.IntegerField(help_text="Items whose key labels the outcome.")
    used = serializers.IntegerField(help_text="Items of the tutorial or a test.")


class NewTrainingSubset(Input):
    """A new subset, or one that nobody has worked on."""

    name = serializers.SlugField(max_length=64)


class NewTrainingExamples(Input):
    """The language of the explanations."""

    language = serializers.ChoiceField(
        required=False, choices=LANGUAGES, help_text="Left out: one's own, else English."
    )


class TrainingItem(Output):
    """A training trajectory, and what it is used for."""

    id = serializers.IntegerField()
    record_id = StoredText()
    step_count = serializers.IntegerField()
    labels = serializers.IntegerField(help_text="Labels in its key: steps and outcome.")
    key_errors = serializers.IntegerField(source="errors", help_text="Steps that are −1 in its key.")
    whole = serializers.BooleanField(help_text="Whether its key labels every step and the outcome.")
    in_tutorial = serializers.BooleanField()
    tests = serializers.IntegerField(help_text="Tests that it is in.")
    as_gold = serializers.BooleanField()


class ItemsOfResolved(Input):
    """Resolved trajectories to make training items of."""

    trajectories = Chosen()


class TrainingItemsMade(Output):
    """The items that were made, and the trajectories of which none was."""

    made = serializers.ListField(child=serializers.IntegerField())
    refused = Refusal(many=True)


class KeyLabel(Output):
    """A label of a key; `message_index` null: that of the outcome."""

    message_index = serializers.IntegerField(source="step.message_index", allow_null=True, default=None)
    value = Value()
    reason = serializers.CharField(help_text="A code of the scheme, or empty.")
    note = StoredText()
    origin = serializers.ChoiceField(choices=words(KeyOrigin))


class TrainingKey(Output):
    """The key of a training item."""

    missing = serializers.IntegerField(help_text="So many labels it still needs.")
    labels = KeyLabel(many=True)


class KeyLabelChange(Input):
    """A label of a key, and why."""

    message_index = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)
    value = Value()
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=40)


# ── The tutorial ──────────────────────────
class TutorialItem(Output):
    """An item of the tutorial."""

    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    place = serializers.IntegerField(help_text="From 0.")


class Tutorial(Output):
    """The items of the tutorial in their order."""

    items = TutorialItem(many=True)


class NewTutorial(Input):
    """The items from now on, by the ids of training trajectories, in their order; none ends the tutorial."""

    trajectories = Chosen(min_length=0)


# ── Proficiency tests ─────────────────────
def _mark(help_text: str) -> serializers.FloatField:
    return serializers.FloatField(
        required=False, allow_null=True, min_value=0, max_value=1, help_text=f"{help_text}; null: not asked."
    )


class TestChange(Input):
    """Changes to a test and to its trajectories; what is left out stays."""

    trajectories = Chosen(required=False)
    agreement = _mark("The share of labels to give as in the key")
    error_recall = _mark("The share of the key's errors to find")
    first_error = _mark("The share of first errors to find")
    attempts = Whole(required=False, min_value=1, max_value=MAX_ATTEMPTS)
    wait_hours = Whole(required=False, min_value=0, max_value=MAX_WAIT_HOURS)
    each_guideline = serializers.BooleanField(
        required=False, help_text="Whether new guidelines ask for it again."
    )
    per_attempt = Whole(
        required=False,
        allow_null=True,
        min_value=FEWEST,
        max_value=MAX_INT,
        help_text="So many items are drawn for an attempt; null: all.",
    )


class NewTest(TestChange):
    """A test: at least ten training trajectories, by id, and at least one mark."""

    trajectories = Chosen()


class ProficiencyTest(Output):
    """A test of a project. `passed` and `failed` count attempts."""

    number = serializers.IntegerField()
    agreement = serializers.FloatField(allow_null=True)
    error_recall = serializers.FloatField(allow_null=True)
    first_error = serializers.FloatField(allow_null=True)
    attempts = serializers.IntegerField()
    wait_hours = serializers.IntegerField()
    each_guideline = serializers.BooleanField()
    per_attempt = serializers.IntegerField(allow_null=True)
    size = serializers.IntegerField()
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    opens = serializers.SerializerMethodField(help_text="Only who has passed it is given of these subsets.")
    created_at = serializers.DateTimeField()

    def get_opens(self, row: models.ProficiencyTest) -> list[str]:
        """The subsets, by name."""
        return [subset.name for subset in row.opens.all()]


class FalsePass(Output):
    """The chance that a rule passes, with its 95 % interval; `as_they_are`: it does on all of these items."""

    judge = serializers.CharField(help_text="The judge that is copied; empty: always +1.")
    chance = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    as_they_are = serializers.BooleanField()
    too_likely = serializers.BooleanField(help_text="Whether it is above 1 %.")


class KeyedTrajectory(Output):
    """A training trajectory."""

    trajectory = serializers.IntegerField(source="pk")
    record_id = StoredText()
    subset = serializers.CharField(source="subset.name")


class TestDetail(Output):
    """A test, its items, and the chance of a false pass."""

    test = ProficiencyTest()
    items = KeyedTrajectory(many=True)
    false_passes = FalsePass(many=True)


class Size(Query):
    """The number of items to propose."""

    size = serializers.IntegerField(required=False, default=FEWEST, min_value=FEWEST, max_value=MOST_ITEMS)


class ProposedItems(Output):
    """Training trajectories, by id."""

    trajectories = serializers.ListField(child=serializers.IntegerField())


class Opens(Input):
    """A subset, by name, and whether the test is needed for it from now on."""

    subset = serializers.CharField(max_length=64)
    needed = serializers.BooleanField(default=True)


class Attempt(Output):
    """Somebody's attempt at a test. The marks are null while it runs."""

    id = serializers.IntegerField()
    test = serializers.IntegerField(source="test.number")
    annotator = Person()
    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=words(AttemptState))
    waived = serializers.BooleanField(help_text="Another was granted in its place.")
    guideline_version = serializers.IntegerField()
    agreement = serializers.FloatField(allow_null=True)
    error_recall = serializers.FloatField(allow_null=True)
    first_error = serializers.FloatField(allow_null=True)
    begun_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class Standing(Output):
    """The standing of a person before a test; `size` is the number of items of an attempt, `done` that of the
    labelled ones of the running attempt."""

    state = serializers.ChoiceField(choices=["passed", "running", "ready", "waiting", "used_up"])
    left = serializers.IntegerField()
    size = serializers.IntegerField()
    done = serializers.IntegerField()
    next_at = serializers.DateTimeField(allow_null=True)
    attempts = Attempt(many=True)


class Difference(Output):
    """A label that is not the key's; `number` null: the outcome, `own` null: it was not labelled."""

    number = serializers.IntegerField(allow_null=True)
    own = Value(allow_null=True)
    key = Value()
    reason = serializers.CharField()
    note = serializers.CharField(help_text="Why, in Markdown.")


class ItemResult(Output):
    """One item of an attempt; `labels` counts those of its key."""

    trajectory = serializers.IntegerField(source="trajectory.pk")
    record_id = StoredText(source="trajectory.record_id")
    labels = serializers.IntegerField()
    differences = Difference(many=True)


class AttemptResult(Output):
    """An attempt that is over, and where it differs from the keys."""

    attempt = Attempt()
    items = ItemResult(many=True)
