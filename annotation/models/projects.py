"""A project, its guidelines, its members and the subsets its data is divided into."""

import secrets

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.influence.experiment import ARMS, Unit
from annotation.core.influence.triage import BATCH, MAX_BATCH
from annotation.core.kinds import KINDS, STEPS, Feature, ProjectKind
from annotation.core.vocabulary import (
    UNSEEN_POLICIES,
    Degree,
    PauseReason,
    PayPer,
    QueueTurn,
    Role,
    SecondReader,
    SuggestionPolicy,
)

from .versioned import Versioned

MAX_ANNOTATORS = 9
MAX_CLAIMS = 100
MAX_CLAIM_DAYS = 365
MAX_RETEST_DAYS = 365
MAX_GOLD_PERCENT = 30
GOLD_BOUND = 70
MAX_YEARS = 80
JUDGED_SAMPLE = 100
MAX_JUDGED_SAMPLE = 1_000
WITH_JUDGES_FIRST = [kind.name for kind in KINDS.values() if kind.has(Feature.JUDGES_FIRST)]
WITH_PROPAGATION = [kind.name for kind in KINDS.values() if kind.has(Feature.PROPAGATION)]


def new_recheck_seed() -> int:
    """A secret seed of rechecks, of trajectories and people: nobody can guess it, and it fits a column."""
    return secrets.randbits(62)


class Project(Versioned, models.Model):
    """One benchmark under construction.

    `kind` is fixed when it is created, by a trigger (models.frozen) too, so that no figure pools two kinds.
    `annotators_per_trajectory` is N (docs/design.md, "Who may see what"): locked after the first claim
    (services.projects sees to that). `second_reader`: with judges, some trajectories have one place
    (`SecondPerson`). `claim_limit` is how many unfinished trajectories a person may hold, and
    `claim_days` after how many days without use such a claim expires (null: never). `retest_percent` says
    which share of the resolved trajectories one of its annotators labels again, after `retest_days`
    (docs/sealing.md, "Rechecks"); `recheck_seed` is the secret that draws them, and places in the queue.
    `gold_percent` of what annotators are given are gold; whose share of steps labelled as in its key is below
    `gold_bound` percent is paused (docs/training.md).
    With `judges_first`, people are asked only about what judges do not settle (docs/judges.md, "Judges
    first"), and about `judged_sample` trajectories that they do.
    `experiment_seed` randomises when annotators see suggestions (core.influence.experiment), in place of
    `suggestion_policy`, in `experiment_arms` arms; null: no experiment. What is dealt to an arm is
    `experiment_unit`: a person on a task, whose arms stand in `Allocation`, or, in older experiments, a whole
    task. `triage_seed` is that of the queue's last triage; null: the queue is in an order of chance.
    `pay_rate` is what annotators get, in `pay_currency` (ISO 4217), for an hour at work or a submitted
    trajectory (`pay_per`); null: not said. It holds for all that was done before, too.
    `checklist_closed`: its admins want the list of first steps no more.
    """

    EDITED = (
        *("name", "description", "annotators_per_trajectory", "second_reader", "claim_limit", "claim_days"),
        *("retest_percent", "retest_days", "gold_percent", "gold_bound", "suggestion_policy"),
        *("show_reference_answer", "show_reward_hints", "carry_forward", "judges_first", "judged_sample"),
        *("pay_rate", "pay_currency", "pay_per"),
    )

    slug = models.SlugField(_("slug"), max_length=64, unique=True)
    kind = models.CharField(
        _("kind"), max_length=16, choices=[(name, name) for name in KINDS], default=STEPS.name, editable=False
    )
    name = models.CharField(_("name"), max_length=120)
    description = models.TextField(_("description"), blank=True)
    annotators_per_trajectory = models.PositiveSmallIntegerField(
        _("annotators per trajectory"),
        default=2,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_ANNOTATORS)],
    )
    second_reader = models.CharField(
        _("second reader"),
        max_length=8,
        choices=[(reader.value, reader.value) for reader in SecondReader],
        default=SecondReader.PERSON.value,
    )
    claim_limit = models.PositiveSmallIntegerField(
        _("unfinished trajectories a person may hold"),
        default=2,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_CLAIMS)],
    )
    claim_days = models.PositiveSmallIntegerField(
        _("days after which an unused claim expires"),
        default=14,
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_CLAIM_DAYS)],
    )
    suggestion_policy = models.CharField(
        _("when annotators see suggestions"),
        max_length=16,
        choices=[(policy.value, policy.value) for policy in SuggestionPolicy],
        default=SuggestionPolicy.AFTER_LABEL.value,
    )
    show_reference_answer = models.BooleanField(_("annotators see the reference answer"), default=True)
    show_reward_hints = models.BooleanField(_("annotators see reward hints"), default=False)
    carry_forward = models.BooleanField(_("propose +1 after an explicit +1"), default=False)
    retest_percent = models.PositiveSmallIntegerField(
        _("percent of their trajectories that annotators label again"),
        default=5,
        validators=[MaxValueValidator(100)],
    )
    retest_days = models.PositiveSmallIntegerField(
        _("days after which annotators label again"),
        default=7,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_RETEST_DAYS)],
    )
    judges_first = models.BooleanField(_("judges first"), default=False)
    gold_percent = models.PositiveSmallIntegerField(
        _("percent of gold among what annotators are given"),
        default=0,
        validators=[MaxValueValidator(MAX_GOLD_PERCENT)],
    )
    gold_bound = models.PositiveSmallIntegerField(
        _("percent of gold steps to label as in the key"),
        default=GOLD_BOUND,
        validators=[MaxValueValidator(100)],
    )
    judged_sample = models.PositiveSmallIntegerField(
        _("judged trajectories that people label as well"),
        default=JUDGED_SAMPLE,
        validators=[MaxValueValidator(MAX_JUDGED_SAMPLE)],
    )
    recheck_seed = models.PositiveBigIntegerField(default=new_recheck_seed, editable=False)
    experiment_seed = models.PositiveBigIntegerField(_("seed of the experiment"), null=True, blank=True)
    experiment_unit = models.CharField(
        max_length=10, choices=[(unit.value, unit.value) for unit in Unit], default=Unit.TASK.value
    )
    experiment_arms = models.PositiveSmallIntegerField(default=len(ARMS))
    triage_seed = models.PositiveBigIntegerField(_("seed of triage"), null=True, blank=True)
    triage_batch_size = models.PositiveSmallIntegerField(
        _("batch size of triage"),
        default=BATCH,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_BATCH)],
    )
    pay_rate = models.DecimalField(
        _("pay"),
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    pay_currency = models.CharField(
        _("currency"),
        max_length=3,
        blank=True,
        validators=[RegexValidator("^[A-Z]{3}$")],
    )
    pay_per = models.CharField(
        _("paid for"),
        max_length=12,
        choices=[(per.value, per.value) for per in PayPer],
        default=PayPer.HOUR.value,
    )
    checklist_closed = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("name", "pk")
        constraints = (
            models.CheckConstraint(condition=Q(kind__in=list(KINDS)), name="project_kind_known"),
            models.CheckConstraint(
                condition=Q(carry_forward=False) | Q(kind__in=WITH_PROPAGATION),
                name="project_carry_forward_fits",
            ),
            models.CheckConstraint(
                condition=Q(annotators_per_trajectory__gte=1, annotators_per_trajectory__lte=MAX_ANNOTATORS),
                name="project_annotators_in_range",
            ),
            models.CheckConstraint(
                condition=Q(claim_limit__gte=1, claim_limit__lte=MAX_CLAIMS),
                name="project_claim_limit_in_range",
            ),
            models.CheckConstraint(
                condition=Q(claim_days__isnull=True) | Q(claim_days__gte=1, claim_days__lte=MAX_CLAIM_DAYS),
                name="project_claim_days_in_range",
            ),
            models.CheckConstraint(
                condition=Q(suggestion_policy__in=[policy.value for policy in SuggestionPolicy]),
                name="project_suggestion_policy_known",
            ),
            models.CheckConstraint(
                condition=Q(second_reader=SecondReader.PERSON.value)
                | Q(
                    second_reader=SecondReader.JUDGES.value,
                    annotators_per_trajectory=2,
                    suggestion_policy__in=[policy.value for policy in UNSEEN_POLICIES],
                    experiment_seed__isnull=True,
                ),
                name="project_second_reader_fits",
            ),
            models.CheckConstraint(
                condition=Q(judges_first=False)
                | Q(
                    kind__in=WITH_JUDGES_FIRST,
                    second_reader=SecondReader.PERSON.value,
                    suggestion_policy__in=[policy.value for policy in UNSEEN_POLICIES],
                    experiment_seed__isnull=True,
                    triage_seed__isnull=True,
                ),
                name="project_judges_first_fits",
            ),
            models.CheckConstraint(
                condition=Q(pay_rate__isnull=True) | (Q(pay_rate__gte=0) & ~Q(pay_currency="")),
                name="project_pay_has_currency",
            ),
            models.CheckConstraint(
                condition=Q(pay_per__in=[per.value for per in PayPer]), name="project_pay_per_known"
            ),
            models.CheckConstraint(
                condition=Q(judged_sample__lte=MAX_JUDGED_SAMPLE), name="project_judged_sample_in_range"
            ),
            models.CheckConstraint(
                condition=Q(experiment_unit=Unit.ANNOTATOR.value, experiment_arms__in=(2, 3))
                | Q(experiment_unit=Unit.TASK.value, experiment_arms=3),
                name="project_experiment_known",
            ),
            models.CheckConstraint(
                condition=Q(triage_batch_size__gte=1, triage_batch_size__lte=MAX_BATCH),
                name="project_triage_batch_in_range",
            ),
            models.CheckConstraint(
                condition=Q(retest_percent__lte=100),
                name="project_rechecks_in_range",
            ),
            models.CheckConstraint(
                condition=Q(retest_days__gte=1, retest_days__lte=MAX_RETEST_DAYS),
                name="project_retest_days_in_range",
            ),
            models.CheckConstraint(
                condition=Q(gold_percent__lte=MAX_GOLD_PERCENT, gold_bound__lte=100),
                name="project_gold_in_range",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def of_kind(self) -> ProjectKind:
        """Its kind, which says what it has."""
        return KINDS[self.kind]


class Guideline(models.Model):
    """One version of a project's labelling guidelines (Markdown); the newest is in force."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(_("guidelines"), blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("project", "-version")
        constraints = (models.UniqueConstraint(fields=("project", "version"), name="guideline_version_once"),)

    def __str__(self) -> str:
        return f"{self.project_id} v{self.version}"


class Membership(Versioned, models.Model):
    """The roles of a person in a project: one or more.

    `claim_cursor` is the queue position before which nothing is left for this person to claim: it makes
    claim-next independent of how many trajectories they have done. Whatever frees a slot lowers it.
    `recheck_gap` is how many claims from the queue still come before the next recheck may.
    `guideline_seen` is the version of the guidelines that they have read last (0: none).
    `tutorial_done_at`: since when the tutorial is behind them, `tutorial_skipped` by an admin's leave.
    `paused_at`, for `pause_reason`: they are given nothing new. `gold_since`: gold that was submitted before
    does not count any more (an admin has resumed them); null: all of it does.
    `from_groups`: the roles come from groups of the organisation, and follow them at each sign-in.
    """

    EDITED = ("is_annotator", "is_adjudicator", "is_admin")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    is_annotator = models.BooleanField(_("annotator"), default=False)
    is_adjudicator = models.BooleanField(_("adjudicator"), default=False)
    is_admin = models.BooleanField(_("admin"), default=False)
    claim_cursor = models.BigIntegerField(default=0)
    recheck_gap = models.PositiveSmallIntegerField(default=0)
    guideline_seen = models.PositiveIntegerField(default=0)
    tutorial_done_at = models.DateTimeField(null=True, blank=True)
    tutorial_skipped = models.BooleanField(default=False)
    paused_at = models.DateTimeField(null=True, blank=True)
    pause_reason = models.CharField(max_length=8, blank=True)
    gold_since = models.DateTimeField(null=True, blank=True)
    from_groups = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("project", "user")
        constraints = (
            models.UniqueConstraint(fields=("project", "user"), name="membership_once"),
            models.CheckConstraint(
                condition=Q(is_annotator=True) | Q(is_adjudicator=True) | Q(is_admin=True),
                name="membership_has_a_role",
            ),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True, pause_reason="")
                | Q(paused_at__isnull=False, pause_reason__in=[reason.value for reason in PauseReason]),
                name="membership_pause_has_reason",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} in {self.project_id}"

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles held, in the order of the pipeline."""
        held = (
            (Role.ANNOTATOR, self.is_annotator),
            (Role.ADJUDICATOR, self.is_adjudicator),
            (Role.ADMIN, self.is_admin),
        )
        return tuple(role for role, has in held if has)


class Qualification(Versioned, models.Model):
    """Notes of admins on a member: degree, its field, years of work in it, and languages (a list with
    commas), which a release counts; and on their pay: `pay_rate` takes the place of the project's (null: that
    one holds). For admins only. It goes with the membership."""

    COUNTED = ("degree", "field", "years", "languages")
    EDITED = (*COUNTED, "pay_rate")

    membership = models.OneToOneField(Membership, on_delete=models.CASCADE, related_name="qualification")
    degree = models.CharField(
        _("highest degree"), max_length=10, choices=[(one.value, one.value) for one in Degree], blank=True
    )
    field = models.CharField(_("field"), max_length=80, blank=True)
    years = models.PositiveSmallIntegerField(
        _("years in the field"), null=True, blank=True, validators=[MaxValueValidator(MAX_YEARS)]
    )
    languages = models.CharField(_("languages"), max_length=200, blank=True)
    pay_rate = models.DecimalField(
        _("pay"), max_digits=10, decimal_places=2, null=True, blank=True, validators=[MinValueValidator(0)]
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(pay_rate__isnull=True) | Q(pay_rate__gte=0), name="qualification_pay_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(degree__in=["", *(one.value for one in Degree)]),
                name="qualification_degree_known",
            ),
            models.CheckConstraint(
                condition=Q(years__isnull=True) | Q(years__lte=MAX_YEARS),
                name="qualification_years_in_range",
            ),
        )

    def __str__(self) -> str:
        return f"qualifications of {self.membership_id}"


class Subset(Versioned, models.Model):
    """A named part of a project's data.

    A `training` subset holds keyed trajectories for tutorial, tests and gold, or those of a pilot
    (docs/training.md), and nothing that is labelled for a release. `required_test`: only who has passed it
    is given trajectories of this subset.
    `suspend_on_user_turn`: an error run does not propagate past a user message (docs/design.md, "Labels and
    propagation"; right for BFCL-like multi-turn tasks, wrong for τ²-like conversations).
    `turn`: its trajectories come first, as others do, or last; their positions say the same
    (core.rechecks.sampling.position).
    """

    EDITED = ("suspend_on_user_turn", "turn")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="subsets")
    name = models.SlugField(_("name"), max_length=64)
    suspend_on_user_turn = models.BooleanField(_("a user message suspends an error run"), default=False)
    turn = models.CharField(
        _("turn in the queue"),
        max_length=6,
        choices=[(turn.value, turn.value) for turn in QueueTurn],
        default=QueueTurn.NORMAL.value,
    )
    training = models.BooleanField(_("training"), default=False)
    required_test = models.ForeignKey(
        "ProficiencyTest", on_delete=models.SET_NULL, null=True, blank=True, related_name="opens"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("project", "name")
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="subset_name_once"),
            models.CheckConstraint(
                condition=Q(turn__in=[turn.value for turn in QueueTurn]), name="subset_turn_known"
            ),
        )

    def __str__(self) -> str:
        return self.name
