"""Every table but that of people, with the triggers that keep releases frozen, the audit log as it was written,
and the kind of a project as it began.

With 0001 it stands for the migrations that commit 1aeae231 had (docs/operations.md, "Upgrading"); columns have
the order in which those added them.
"""

from decimal import Decimal
from uuid import uuid4

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import migrations, models
from django.db.migrations.operations.base import Operation
from django.db.models import F, Q

from annotation.models import frozen
from annotation.models.connections.transfers import new_uid
from annotation.models.consensus import new_letter_seed
from annotation.models.projects import new_recheck_seed

USER = settings.AUTH_USER_MODEL


def fields(**by_name):
    return list(by_name.items())


def columns(**by_name):
    key = models.BigAutoField("ID", auto_created=True, primary_key=True, serialize=False)
    return fields(id=key, **by_name)


def job():
    """The columns of models.jobs.JobFields."""
    return {
        "lease_until": models.DateTimeField(blank=True, null=True),
        "heartbeat_at": models.DateTimeField(blank=True, null=True),
        "attempt": models.PositiveIntegerField(default=0),
        "progress_done": models.BigIntegerField(default=0),
        "progress_failed": models.BigIntegerField(default=0),
        "progress_total": models.BigIntegerField(default=0),
        "error": models.TextField(blank=True),
    }


class CreateTables(Operation):
    """Many CreateModel as one operation, in any order: what refers to what is looked up when all are there.

    At each operation Django makes every model of its state anew that is related to a changed one, and here all
    are related to people: one by one these take five seconds, and together a third of one.
    """

    def __init__(self, tables):
        self.tables = tables

    def describe(self):
        return f"Create {len(self.tables)} models"

    def state_forwards(self, app_label, state):
        # what is rendered is rendered again at its first use, as Django does after backward migrations
        if "apps" in vars(state):
            del state.apps
        for table in self.tables:
            table.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for table in self.tables:
            table.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for table in reversed(self.tables):
            table.database_backwards(app_label, schema_editor, from_state, to_state)


GUARDED = (*frozen.RELEASES, *frozen.LOG, frozen.PROJECT)


def keep(apps, schema_editor):
    frozen.install(schema_editor.connection, GUARDED)


def give_up(apps, schema_editor):
    frozen.lift(schema_editor.connection, GUARDED)


TABLES = [
    migrations.CreateModel(
        "ApiToken",
        columns(
            name=models.CharField("name", max_length=80),
            prefix=models.CharField(max_length=12, help_text="The first characters, to tell tokens apart."),
            digest=models.CharField(max_length=64, unique=True),
            created_at=models.DateTimeField(),
            expires_at=models.DateTimeField(blank=True, null=True),
            last_used_at=models.DateTimeField(blank=True, null=True),
            revoked_at=models.DateTimeField(blank=True, null=True),
            user=models.ForeignKey(USER, models.CASCADE, related_name="api_tokens"),
            scope=models.CharField(
                max_length=8,
                default="admin",
                choices=[("read", "read"), ("label", "label"), ("admin", "admin")],
            ),
        ),
        options={
            "ordering": ("-created_at",),
            "constraints": [
                models.CheckConstraint(
                    name="apitoken_expires_after_creation",
                    condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
                ),
                models.CheckConstraint(
                    name="apitoken_scope_known", condition=Q(scope__in=["read", "label", "admin"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Project",
        columns(
            slug=models.SlugField("slug", max_length=64, unique=True),
            name=models.CharField("name", max_length=120),
            description=models.TextField("description", blank=True),
            annotators_per_trajectory=models.PositiveSmallIntegerField(
                "annotators per trajectory",
                default=2,
                validators=[MinValueValidator(1), MaxValueValidator(9)],
            ),
            suggestion_policy=models.CharField(
                "when annotators see suggestions",
                max_length=16,
                default="after_label",
                choices=[
                    ("after_label", "after_label"),
                    ("after_submit", "after_submit"),
                    ("always", "always"),
                    ("never", "never"),
                ],
            ),
            show_reference_answer=models.BooleanField("annotators see the reference answer", default=True),
            show_reward_hints=models.BooleanField("annotators see reward hints", default=False),
            carry_forward=models.BooleanField("propose +1 after an explicit +1", default=False),
            experiment_seed=models.PositiveBigIntegerField("seed of the experiment", blank=True, null=True),
            triage_seed=models.PositiveBigIntegerField("seed of triage", blank=True, null=True),
            triage_batch_size=models.PositiveSmallIntegerField(
                "batch size of triage", default=25, validators=[MinValueValidator(1), MaxValueValidator(1000)]
            ),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            claim_days=models.PositiveSmallIntegerField(
                "days after which an unused claim expires",
                blank=True,
                null=True,
                default=14,
                validators=[MinValueValidator(1), MaxValueValidator(365)],
            ),
            claim_limit=models.PositiveSmallIntegerField(
                "unfinished trajectories a person may hold",
                default=2,
                validators=[MinValueValidator(1), MaxValueValidator(100)],
            ),
            checklist_closed=models.BooleanField(default=False),
            recheck_seed=models.PositiveBigIntegerField(default=new_recheck_seed, editable=False),
            retest_days=models.PositiveSmallIntegerField(
                "days after which annotators label again",
                default=7,
                validators=[MinValueValidator(1), MaxValueValidator(365)],
            ),
            retest_percent=models.PositiveSmallIntegerField(
                "percent of their trajectories that annotators label again",
                default=5,
                validators=[MaxValueValidator(100)],
            ),
            experiment_arms=models.PositiveSmallIntegerField(default=3),
            experiment_unit=models.CharField(
                max_length=10, default="task", choices=[("annotator", "annotator"), ("task", "task")]
            ),
            second_reader=models.CharField(
                "second reader",
                max_length=8,
                default="person",
                choices=[("person", "person"), ("judges", "judges")],
            ),
            kind=models.CharField(
                "kind",
                max_length=16,
                default="steps",
                editable=False,
                choices=[("steps", "steps"), ("decisions", "decisions")],
            ),
            judges_first=models.BooleanField("judges first", default=False),
            judged_sample=models.PositiveSmallIntegerField(
                "judged trajectories that people label as well",
                default=100,
                validators=[MaxValueValidator(1000)],
            ),
            gold_bound=models.PositiveSmallIntegerField(
                "percent of gold steps to label as in the key",
                default=70,
                validators=[MaxValueValidator(100)],
            ),
            gold_percent=models.PositiveSmallIntegerField(
                "percent of gold among what annotators are given",
                default=0,
                validators=[MaxValueValidator(30)],
            ),
            pay_rate=models.DecimalField(
                "pay",
                blank=True,
                null=True,
                validators=[MinValueValidator(0)],
                max_digits=10,
                decimal_places=2,
            ),
            pay_currency=models.CharField(
                "currency", max_length=3, blank=True, validators=[RegexValidator("^[A-Z]{3}$")]
            ),
            pay_per=models.CharField(
                "paid for",
                max_length=12,
                default="hour",
                choices=[("hour", "hour"), ("trajectory", "trajectory")],
            ),
        ),
        options={
            "ordering": ("name", "pk"),
            "constraints": [
                models.CheckConstraint(
                    name="project_annotators_in_range",
                    condition=Q(annotators_per_trajectory__gte=1, annotators_per_trajectory__lte=9),
                ),
                models.CheckConstraint(
                    name="project_suggestion_policy_known",
                    condition=Q(suggestion_policy__in=["after_label", "after_submit", "always", "never"]),
                ),
                models.CheckConstraint(
                    name="project_triage_batch_in_range",
                    condition=Q(triage_batch_size__gte=1, triage_batch_size__lte=1000),
                ),
                models.CheckConstraint(
                    name="project_claim_limit_in_range", condition=Q(claim_limit__gte=1, claim_limit__lte=100)
                ),
                models.CheckConstraint(
                    name="project_claim_days_in_range",
                    condition=Q(claim_days__isnull=True) | Q(claim_days__gte=1, claim_days__lte=365),
                ),
                models.CheckConstraint(
                    name="project_retest_days_in_range", condition=Q(retest_days__gte=1, retest_days__lte=365)
                ),
                models.CheckConstraint(
                    name="project_experiment_known",
                    condition=Q(experiment_arms__in=(2, 3), experiment_unit="annotator")
                    | Q(experiment_arms=3, experiment_unit="task"),
                ),
                models.CheckConstraint(
                    name="project_rechecks_in_range", condition=Q(retest_percent__lte=100)
                ),
                models.CheckConstraint(
                    name="project_second_reader_fits",
                    condition=Q(second_reader="person")
                    | Q(
                        annotators_per_trajectory=2,
                        experiment_seed__isnull=True,
                        second_reader="judges",
                        suggestion_policy__in=["after_submit", "never"],
                    ),
                ),
                models.CheckConstraint(
                    name="project_kind_known", condition=Q(kind__in=["steps", "decisions"])
                ),
                models.CheckConstraint(
                    name="project_carry_forward_fits",
                    condition=Q(carry_forward=False) | Q(kind__in=["steps"]),
                ),
                models.CheckConstraint(
                    name="project_judges_first_fits",
                    condition=Q(judges_first=False)
                    | Q(
                        experiment_seed__isnull=True,
                        kind__in=["decisions"],
                        second_reader="person",
                        suggestion_policy__in=["after_submit", "never"],
                        triage_seed__isnull=True,
                    ),
                ),
                models.CheckConstraint(
                    name="project_judged_sample_in_range", condition=Q(judged_sample__lte=1000)
                ),
                models.CheckConstraint(
                    name="project_gold_in_range", condition=Q(gold_bound__lte=100, gold_percent__lte=30)
                ),
                models.CheckConstraint(
                    name="project_pay_has_currency",
                    condition=Q(pay_rate__isnull=True) | (Q(pay_rate__gte=0) & ~Q(pay_currency="")),
                ),
                models.CheckConstraint(
                    name="project_pay_per_known", condition=Q(pay_per__in=["hour", "trajectory"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Invitation",
        columns(
            email=models.EmailField("e-mail address", max_length=254, blank=True),
            is_annotator=models.BooleanField("annotator", default=False),
            is_adjudicator=models.BooleanField("adjudicator", default=False),
            is_admin=models.BooleanField("admin", default=False),
            digest=models.CharField(max_length=64, unique=True),
            created_at=models.DateTimeField(),
            expires_at=models.DateTimeField(),
            accepted_at=models.DateTimeField(blank=True, null=True),
            revoked_at=models.DateTimeField(blank=True, null=True),
            accepted_by=models.ForeignKey(USER, models.SET_NULL, blank=True, null=True, related_name="+"),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="invitations"),
            declined_at=models.DateTimeField(blank=True, null=True),
            name=models.CharField("name", max_length=120, blank=True),
        ),
        options={
            "ordering": ("-created_at",),
            "constraints": [
                models.CheckConstraint(
                    name="invitation_has_a_role",
                    condition=Q(is_annotator=True) | Q(is_adjudicator=True) | Q(is_admin=True),
                )
            ],
        },
    ),
    migrations.CreateModel(
        "Guideline",
        columns(
            version=models.PositiveIntegerField(),
            text=models.TextField("guidelines", blank=True),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="guidelines"),
        ),
        options={
            "ordering": ("project", "-version"),
            "constraints": [
                models.UniqueConstraint(name="guideline_version_once", fields=("project", "version"))
            ],
        },
    ),
    migrations.CreateModel(
        "Membership",
        columns(
            is_annotator=models.BooleanField("annotator", default=False),
            is_adjudicator=models.BooleanField("adjudicator", default=False),
            is_admin=models.BooleanField("admin", default=False),
            claim_cursor=models.BigIntegerField(default=0),
            created_at=models.DateTimeField(),
            user=models.ForeignKey(USER, models.CASCADE, related_name="memberships"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="memberships"),
            guideline_seen=models.PositiveIntegerField(default=0),
            recheck_gap=models.PositiveSmallIntegerField(default=0),
            gold_since=models.DateTimeField(blank=True, null=True),
            pause_reason=models.CharField(max_length=8, blank=True),
            paused_at=models.DateTimeField(blank=True, null=True),
            tutorial_done_at=models.DateTimeField(blank=True, null=True),
            tutorial_skipped=models.BooleanField(default=False),
            from_groups=models.BooleanField(default=False),
        ),
        options={
            "ordering": ("project", "user"),
            "constraints": [
                models.UniqueConstraint(name="membership_once", fields=("project", "user")),
                models.CheckConstraint(
                    name="membership_has_a_role",
                    condition=Q(is_annotator=True) | Q(is_adjudicator=True) | Q(is_admin=True),
                ),
                models.CheckConstraint(
                    name="membership_pause_has_reason",
                    condition=Q(pause_reason="", paused_at__isnull=True)
                    | Q(pause_reason__in=["gold", "admin"], paused_at__isnull=False),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "AuditEvent",
        columns(
            verb=models.CharField(max_length=60),
            object_type=models.CharField(max_length=40, blank=True),
            object_id=models.CharField(max_length=64, blank=True),
            detail=models.JSONField(blank=True, default=dict),
            created_at=models.DateTimeField(),
            actor=models.ForeignKey(USER, models.PROTECT, null=True, related_name="+"),
            project=models.ForeignKey(
                "annotation.project", models.PROTECT, blank=True, null=True, related_name="audit_events"
            ),
        ),
        options={
            "ordering": ("-created_at", "-pk"),
            "indexes": [
                models.Index(name="audit_by_project", fields=["project", "-created_at"]),
                models.Index(name="audit_by_verb", fields=["project", "verb", "-created_at"]),
                models.Index(name="audit_by_actor", fields=["project", "actor", "-created_at"]),
                models.Index(name="audit_by_object", fields=["project", "object_type", "object_id"]),
            ],
        },
    ),
    migrations.CreateModel(
        "InterimAnalysis",
        columns(
            percent=models.PositiveSmallIntegerField(),
            settled=models.PositiveIntegerField(),
            planned=models.PositiveIntegerField(),
            looked_at=models.DateTimeField(),
            looked_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="interim_analyses", db_index=False
            ),
        ),
        options={
            "db_table": "annotation_interimlook",
            "ordering": ("percent",),
            "constraints": [
                models.UniqueConstraint(name="interim_look_once", fields=("project", "percent")),
                models.CheckConstraint(
                    name="interim_look_percent_in_range", condition=Q(percent__gte=1, percent__lte=100)
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Release",
        fields(
            id=models.UUIDField(primary_key=True, default=uuid4, editable=False, serialize=False),
            number=models.PositiveIntegerField(),
            version=models.CharField(max_length=40),
            note=models.TextField(blank=True),
            digest=models.CharField(max_length=64),
            record_count=models.PositiveIntegerField(),
            label_count=models.PositiveIntegerField(),
            manifest=models.TextField(),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.PROTECT, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.PROTECT, related_name="releases"),
            signature=models.TextField(blank=True, null=True),
        ),
        options={
            "ordering": ("project", "-number"),
            "constraints": [
                models.UniqueConstraint(name="release_number_once", fields=("project", "number")),
                models.UniqueConstraint(name="release_version_once", fields=("project", "version")),
            ],
        },
    ),
    migrations.CreateModel(
        "ReleaseRecord",
        columns(
            ordinal=models.PositiveIntegerField(),
            subset=models.CharField(max_length=64),
            record_id=models.CharField(max_length=255),
            sha256=models.CharField(max_length=64),
            body=models.BinaryField(),
            release=models.ForeignKey(
                "annotation.release", models.PROTECT, related_name="records", db_index=False
            ),
        ),
        options={
            "ordering": ("release", "ordinal"),
            "constraints": [
                models.UniqueConstraint(name="release_ordinal_once", fields=("release", "ordinal")),
                models.UniqueConstraint(
                    name="release_record_once", fields=("release", "subset", "record_id")
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "ReleaseLabel",
        columns(
            message_index=models.PositiveIntegerField(blank=True, null=True),
            value=models.SmallIntegerField(),
            kind=models.CharField(max_length=12),
            release=models.ForeignKey(
                "annotation.release", models.PROTECT, related_name="labels", db_index=False
            ),
            record=models.ForeignKey(
                "annotation.releaserecord", models.PROTECT, related_name="labels", db_index=False
            ),
        ),
        options={
            "ordering": ("record", "message_index"),
            "indexes": [models.Index(name="release_label_by_value", fields=["release", "value"])],
            "constraints": [
                models.UniqueConstraint(
                    name="release_label_once",
                    fields=("record", "message_index"),
                    condition=Q(message_index__isnull=False),
                ),
                models.UniqueConstraint(
                    name="release_outcome_once", fields=("record",), condition=Q(message_index__isnull=True)
                ),
                models.CheckConstraint(name="release_label_value_known", condition=Q(value__in=(-1, 0, 1))),
            ],
        },
    ),
    migrations.CreateModel(
        "ReleaseWithdrawal",
        columns(
            reason=models.TextField(),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.PROTECT, null=True, related_name="+"),
            release=models.OneToOneField("annotation.release", models.PROTECT, related_name="withdrawal"),
            signature=models.TextField(blank=True, null=True),
        ),
    ),
    migrations.CreateModel(
        "PublicRelease",
        fields(
            release=models.OneToOneField(
                "annotation.release",
                models.PROTECT,
                primary_key=True,
                serialize=False,
                related_name="public_release",
            ),
            is_open=models.BooleanField(default=False),
            shows_leaderboard=models.BooleanField(default=False),
            may_be_indexed=models.BooleanField(default=False),
            changed_at=models.DateTimeField(),
            changed_by=models.ForeignKey(USER, models.PROTECT, null=True, related_name="+"),
        ),
    ),
    migrations.CreateModel(
        "Freeze",
        columns(
            **job(),
            version=models.CharField(max_length=40),
            title=models.CharField(max_length=200, blank=True),
            licence=models.TextField(blank=True),
            note=models.TextField(blank=True),
            leave_out=models.JSONField(blank=True, default=list),
            state=models.CharField(max_length=12, default="queued"),
            created_at=models.DateTimeField(),
            finished_at=models.DateTimeField(blank=True, null=True),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="freezes", db_index=False
            ),
            release=models.OneToOneField(
                "annotation.release", models.PROTECT, blank=True, null=True, related_name="freeze"
            ),
            difficulty=models.JSONField(blank=True, null=True),
        ),
        options={
            "ordering": ("-created_at", "-pk"),
            "indexes": [models.Index(name="freeze_by_project", fields=["project", "-created_at"])],
            "constraints": [
                models.UniqueConstraint(
                    name="freeze_unfinished_once",
                    fields=("project",),
                    condition=Q(state__in=["queued", "running"]),
                ),
                models.CheckConstraint(
                    name="freeze_state_known",
                    condition=Q(state__in=["queued", "running", "frozen", "failed", "cancelled"]),
                ),
                models.CheckConstraint(
                    name="freeze_release_when_frozen",
                    condition=Q(release__isnull=False, state="frozen")
                    | (~Q(state="frozen") & Q(release__isnull=True)),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "ReleaseOutline",
        fields(
            release=models.OneToOneField(
                "annotation.release",
                models.PROTECT,
                primary_key=True,
                serialize=False,
                related_name="outline",
            ),
            labels=models.BinaryField(),
            baseline=models.BinaryField(null=True),
            fit_again_at=models.DateTimeField(null=True),
            method=models.CharField(max_length=20, blank=True),
            stacked=models.BinaryField(null=True),
            blind=models.BinaryField(null=True),
            details=models.BinaryField(blank=True, null=True),
            unlabelled=models.BinaryField(null=True),
        ),
    ),
    migrations.CreateModel(
        "AuditLink",
        fields(
            event=models.OneToOneField(
                "annotation.auditevent",
                models.PROTECT,
                primary_key=True,
                serialize=False,
                related_name="link",
            ),
            position=models.PositiveBigIntegerField(unique=True),
            sha256=models.CharField(max_length=64),
        ),
    ),
    migrations.CreateModel(
        "OutsideNumber",
        columns(
            title=models.CharField(max_length=80),
            model=models.CharField(max_length=120),
            value=models.FloatField(),
            updated_at=models.DateTimeField(),
            release=models.ForeignKey("annotation.release", models.PROTECT, related_name="outside_numbers"),
        ),
        options={
            "ordering": ("release", "title", "model"),
            "constraints": [
                models.UniqueConstraint(name="outside_number_once", fields=("release", "title", "model"))
            ],
        },
    ),
    migrations.CreateModel(
        "SavedView",
        columns(
            list=models.CharField(max_length=40),
            name=models.CharField(max_length=60),
            query=models.TextField(),
            owner=models.ForeignKey(USER, models.CASCADE, blank=True, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="saved_views"),
        ),
        options={
            "ordering": ("name", "pk"),
            "constraints": [
                models.UniqueConstraint(
                    name="saved_view_once_a_person",
                    fields=("project", "list", "owner", "name"),
                    condition=Q(owner__isnull=False),
                ),
                models.UniqueConstraint(
                    name="saved_view_once_a_project",
                    fields=("project", "list", "name"),
                    condition=Q(owner__isnull=True),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Tag",
        columns(
            name=models.CharField(max_length=40),
            key=models.CharField(max_length=120),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="tags", db_index=False
            ),
        ),
        options={
            "ordering": ("key",),
            "constraints": [models.UniqueConstraint(name="tag_once", fields=("project", "key"))],
        },
    ),
    migrations.CreateModel(
        "LabelAudit",
        columns(
            state=models.CharField(max_length=8, default="running"),
            wished=models.FloatField(),
            seed=models.PositiveBigIntegerField(default=new_recheck_seed, editable=False),
            mixed=models.BooleanField(default=False),
            begun_at=models.DateTimeField(),
            ended_at=models.DateTimeField(blank=True, null=True),
            begun_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="label_audits"),
        ),
        options={
            "ordering": ("-pk",),
            "constraints": [
                models.UniqueConstraint(
                    name="label_audit_running_once", fields=("project",), condition=Q(state="running")
                ),
                models.CheckConstraint(
                    name="label_audit_state_known",
                    condition=Q(ended_at__isnull=True, state="running")
                    | Q(ended_at__isnull=False, state="ended"),
                ),
                models.CheckConstraint(
                    name="label_audit_wished_in_range", condition=Q(wished__gt=0, wished__lt=1)
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "SecondPersonFit",
        columns(
            number=models.PositiveSmallIntegerField(),
            taught=models.JSONField(),
            judges=models.JSONField(),
            rule=models.JSONField(),
            created_at=models.DateTimeField(),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="second_person_fits", db_index=False
            ),
        ),
        options={
            "ordering": ("project", "-number"),
            "constraints": [
                models.UniqueConstraint(name="second_person_fit_once", fields=("project", "number"))
            ],
        },
    ),
    migrations.CreateModel(
        "PromptSet",
        columns(
            **job(),
            name=models.CharField(max_length=64),
            options=models.TextField(),
            state=models.CharField(max_length=12, default="queued"),
            drawn=models.TextField(blank=True),
            counts=models.TextField(blank=True),
            marked=models.BinaryField(default=bytes),
            digest=models.CharField(max_length=64, blank=True),
            created_at=models.DateTimeField(),
            finished_at=models.DateTimeField(blank=True, null=True),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            release=models.ForeignKey(
                "annotation.release", models.PROTECT, related_name="prompt_sets", db_index=False
            ),
        ),
        options={
            "ordering": ("release", "-created_at", "-pk"),
            "indexes": [models.Index(name="prompt_set_by_release", fields=["release", "-created_at"])],
            "constraints": [
                models.UniqueConstraint(name="prompt_set_once", fields=("release", "name")),
                models.CheckConstraint(
                    name="prompt_set_state_known",
                    condition=Q(state__in=["queued", "running", "made", "failed"]),
                ),
                models.CheckConstraint(
                    name="prompt_set_digest_when_made", condition=~Q(state="made") | ~Q(digest="")
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "ProficiencyTest",
        columns(
            number=models.PositiveIntegerField(),
            agreement=models.FloatField(
                "agreement to reach",
                blank=True,
                null=True,
                validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
            ),
            error_recall=models.FloatField(
                "share of errors to find",
                blank=True,
                null=True,
                validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
            ),
            first_error=models.FloatField(
                "share of first errors to find",
                blank=True,
                null=True,
                validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
            ),
            attempts=models.PositiveSmallIntegerField(
                "attempts", default=3, validators=[MinValueValidator(1), MaxValueValidator(20)]
            ),
            wait_hours=models.PositiveIntegerField(
                "hours before the next attempt", default=24, validators=[MaxValueValidator(2160)]
            ),
            each_guideline=models.BooleanField("asked again for new guidelines", default=False),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="tests", db_index=False
            ),
            per_attempt=models.PositiveSmallIntegerField(
                "items of an attempt", blank=True, null=True, validators=[MinValueValidator(10)]
            ),
        ),
        options={
            "ordering": ("project", "number"),
            "constraints": [
                models.UniqueConstraint(name="test_number_once", fields=("project", "number")),
                models.CheckConstraint(
                    name="test_marks_in_range",
                    condition=(Q(agreement__isnull=True) | Q(agreement__gte=0, agreement__lte=1))
                    & (Q(error_recall__isnull=True) | Q(error_recall__gte=0, error_recall__lte=1))
                    & (Q(first_error__isnull=True) | Q(first_error__gte=0, first_error__lte=1)),
                ),
                models.CheckConstraint(
                    name="test_asks_something",
                    condition=Q(agreement__isnull=False)
                    | Q(error_recall__isnull=False)
                    | Q(first_error__isnull=False),
                ),
                models.CheckConstraint(
                    name="test_attempts_in_range",
                    condition=Q(attempts__gte=1, attempts__lte=20, wait_hours__lte=2160),
                ),
                models.CheckConstraint(
                    name="test_items_in_range", condition=Q(per_attempt__isnull=True) | Q(per_attempt__gte=10)
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Subset",
        columns(
            name=models.SlugField("name", max_length=64),
            suspend_on_user_turn=models.BooleanField("a user message suspends an error run", default=False),
            created_at=models.DateTimeField(),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="subsets"),
            training=models.BooleanField("training", default=False),
            required_test=models.ForeignKey(
                "annotation.proficiencytest", models.SET_NULL, blank=True, null=True, related_name="opens"
            ),
            turn=models.CharField(
                "turn in the queue",
                max_length=6,
                default="normal",
                choices=[("first", "first"), ("normal", "normal"), ("last", "last")],
            ),
        ),
        options={
            "ordering": ("project", "name"),
            "constraints": [
                models.UniqueConstraint(name="subset_name_once", fields=("project", "name")),
                models.CheckConstraint(
                    name="subset_turn_known", condition=Q(turn__in=["first", "normal", "last"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "ImportFile",
        columns(
            **job(),
            filename=models.CharField(max_length=255),
            stored_as=models.CharField(max_length=255, blank=True),
            format=models.CharField(max_length=40, blank=True),
            sha256=models.CharField(max_length=64),
            size=models.BigIntegerField(),
            replace=models.BooleanField(default=False),
            policy_models=models.JSONField(blank=True, default=dict),
            state=models.CharField(max_length=12, default="uploaded"),
            created_count=models.PositiveIntegerField(default=0),
            unchanged_count=models.PositiveIntegerField(default=0),
            replaced_count=models.PositiveIntegerField(default=0),
            step_count=models.PositiveIntegerField(default=0),
            error_count=models.PositiveIntegerField(default=0),
            errors=models.JSONField(blank=True, default=list),
            created_at=models.DateTimeField(),
            finished_at=models.DateTimeField(blank=True, null=True),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="imports"),
            subset=models.ForeignKey("annotation.subset", models.CASCADE, null=True, related_name="imports"),
            left_out=models.JSONField(blank=True, default=list),
            notes=models.JSONField(blank=True, default=dict),
            options=models.JSONField(blank=True, default=dict),
            standalone_turns_count=models.PositiveIntegerField(default=0),
        ),
        options={
            "ordering": ("-created_at", "-pk"),
            "indexes": [
                models.Index(name="import_by_project", fields=["project", "-created_at"]),
                models.Index(
                    name="import_unfinished",
                    fields=["lease_until"],
                    condition=Q(state__in=["uploaded", "queued", "running"]),
                ),
            ],
            "constraints": [
                models.CheckConstraint(
                    name="import_state_known",
                    condition=Q(
                        state__in=["uploaded", "queued", "running", "published", "failed", "abandoned"]
                    ),
                ),
                models.CheckConstraint(
                    name="import_of_runs_has_a_subset", condition=Q(subset__isnull=False) | Q(format="labels")
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Task",
        columns(
            key=models.CharField(max_length=255),
            question=models.TextField("question", blank=True),
            subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="tasks"),
        ),
        options={"constraints": [models.UniqueConstraint(name="task_key_once", fields=("subset", "key"))]},
    ),
    migrations.CreateModel(
        "Stratum",
        columns(
            origin=models.CharField(max_length=12),
            doubt=models.CharField(max_length=12),
            considered=models.PositiveIntegerField(default=0),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="+", db_index=False),
        ),
        options={
            "constraints": [
                models.UniqueConstraint(name="stratum_once", fields=("project", "subset", "origin", "doubt")),
                models.CheckConstraint(
                    name="stratum_doubt_known", condition=Q(doubt__in=["unknown", "agreed", "differed"])
                ),
                models.CheckConstraint(
                    name="stratum_origin_known",
                    condition=Q(origin__in=["one_person", "unanimous", "discussed", "adjudicated"]),
                ),
            ]
        },
    ),
    migrations.CreateModel(
        "Trajectory",
        columns(
            record_id=models.CharField(max_length=255),
            data_source=models.CharField(max_length=255, blank=True),
            query_index=models.BigIntegerField(blank=True, null=True),
            sample_index=models.BigIntegerField(blank=True, null=True),
            policy_model=models.CharField(max_length=120, blank=True),
            content_digest=models.CharField(max_length=64),
            message_count=models.PositiveIntegerField(),
            step_count=models.PositiveIntegerField(),
            line=models.PositiveIntegerField(default=0),
            live=models.BooleanField(default=False),
            position=models.BigIntegerField(),
            free_slots=models.SmallIntegerField(),
            state=models.CharField(max_length=12, default="labelling"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="trajectories"),
            source=models.ForeignKey("annotation.importfile", models.CASCADE, related_name="trajectories"),
            subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="trajectories"),
            task=models.ForeignKey("annotation.task", models.CASCADE, related_name="trajectories"),
            agreement=models.FloatField(blank=True, null=True),
            doubt=models.FloatField(blank=True, null=True),
            stratum=models.ForeignKey(
                "annotation.stratum", models.SET_NULL, blank=True, null=True, related_name="+", db_index=False
            ),
            copy_of=models.ForeignKey(
                "annotation.trajectory",
                models.SET_NULL,
                blank=True,
                null=True,
                related_name="copies",
                db_index=False,
            ),
            training=models.BooleanField(default=False),
            reserved=models.SmallIntegerField(default=0, db_default=0),
        ),
        options={
            "verbose_name_plural": "trajectories",
            "ordering": ("position", "pk"),
            "indexes": [
                models.Index(
                    name="trajectory_by_state",
                    fields=["project", "state", "position"],
                    condition=Q(live=True),
                ),
                models.Index(
                    name="trajectory_by_subset", fields=["subset", "position"], condition=Q(live=True)
                ),
                models.Index(
                    name="trajectory_by_queue", fields=["project", "position"], condition=Q(live=True)
                ),
                models.Index(
                    name="trajectory_by_record", fields=["project", "record_id"], condition=Q(live=True)
                ),
                models.Index(
                    name="trajectory_by_model", fields=["project", "policy_model"], condition=Q(live=True)
                ),
                models.Index(
                    name="trajectory_by_steps", fields=["project", "step_count"], condition=Q(live=True)
                ),
                models.Index(
                    name="trajectory_by_slots", fields=["project", "free_slots"], condition=Q(live=True)
                ),
                models.Index(
                    name="trajectory_unconsidered",
                    fields=["project", "id"],
                    condition=Q(live=True, state__in=["unanimous", "adjudicated"], stratum__isnull=True),
                ),
                models.Index(
                    name="trajectory_by_stratum", fields=["stratum"], condition=Q(stratum__isnull=False)
                ),
                models.Index(
                    name="trajectory_training",
                    fields=["project", "subset", "position"],
                    condition=Q(training=True),
                ),
                models.Index(
                    name="trajectory_copies", fields=["copy_of"], condition=Q(copy_of__isnull=False)
                ),
                models.Index(
                    name="trajectory_claimable",
                    fields=["project", "position"],
                    condition=Q(free_slots__gt=F("reserved"), live=True),
                ),
                models.Index(
                    name="trajectory_counted",
                    fields=["project", "subset", "state", "free_slots", "step_count"],
                    condition=Q(live=True),
                ),
            ],
            "constraints": [
                models.UniqueConstraint(
                    name="trajectory_record_live_once", fields=("subset", "record_id"), condition=Q(live=True)
                ),
                models.CheckConstraint(
                    name="trajectory_free_slots_not_negative", condition=Q(free_slots__gte=0)
                ),
                models.CheckConstraint(name="trajectory_has_a_step", condition=Q(step_count__gte=1)),
                models.CheckConstraint(
                    name="trajectory_state_known",
                    condition=Q(state__in=["labelling", "unanimous", "disputed", "adjudicated", "judged"]),
                ),
                models.UniqueConstraint(
                    name="trajectory_record_once_per_import",
                    fields=("source", "record_id"),
                    condition=Q(copy_of__isnull=True),
                ),
                models.UniqueConstraint(
                    name="trajectory_record_training_once",
                    fields=("subset", "record_id"),
                    condition=Q(training=True),
                ),
                models.CheckConstraint(
                    name="trajectory_live_or_training",
                    condition=Q(live=False) | Q(copy_of__isnull=True, training=False),
                ),
                models.CheckConstraint(
                    name="trajectory_reserved_fits",
                    condition=Q(reserved__gte=0, reserved__lte=F("free_slots")),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "TrajectoryContent",
        fields(
            trajectory=models.OneToOneField(
                "annotation.trajectory",
                models.CASCADE,
                primary_key=True,
                serialize=False,
                related_name="content",
            ),
            content=models.BinaryField(),
            raw=models.BinaryField(),
            raw_sha256=models.CharField(max_length=64),
            source_labels=models.BinaryField(null=True),
        ),
    ),
    migrations.CreateModel(
        "Step",
        columns(
            message_index=models.PositiveIntegerField(),
            ordinal=models.PositiveIntegerField(),
            after_user_turn=models.BooleanField(default=False),
            trajectory=models.ForeignKey(
                "annotation.trajectory", models.CASCADE, related_name="steps", db_index=False
            ),
        ),
        options={
            "ordering": ("trajectory_id", "message_index"),
            "constraints": [
                models.UniqueConstraint(name="step_once", fields=("trajectory", "message_index"))
            ],
        },
    ),
    migrations.CreateModel(
        "PairedLabels",
        columns(
            policy_model=models.CharField(max_length=120, blank=True),
            first_guideline=models.PositiveIntegerField(),
            second_guideline=models.PositiveIntegerField(),
            week=models.PositiveIntegerField(),
            n=models.PositiveIntegerField(),
            outcome=models.PositiveSmallIntegerField(),
            steps=models.BinaryField(),
            first=models.ForeignKey(USER, models.PROTECT, related_name="+", db_index=False),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            second=models.ForeignKey(USER, models.PROTECT, related_name="+", db_index=False),
            subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="+", db_index=False),
            task=models.ForeignKey("annotation.task", models.CASCADE, related_name="+", db_index=False),
            trajectory=models.ForeignKey(
                "annotation.trajectory", models.CASCADE, related_name="+", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "indexes": [models.Index(name="paired_labels_by_project", fields=["project", "id"])],
            "constraints": [
                models.UniqueConstraint(name="paired_labels_once", fields=("trajectory", "first", "second")),
                models.CheckConstraint(name="paired_labels_in_order", condition=Q(first__lt=F("second"))),
            ],
        },
    ),
    migrations.CreateModel(
        "Consensus",
        columns(
            value=models.SmallIntegerField(),
            kind=models.CharField(max_length=12),
            created_at=models.DateTimeField(),
            step=models.OneToOneField("annotation.step", models.CASCADE, related_name="consensus"),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="consensus"),
            note=models.TextField(blank=True),
            reason=models.CharField(max_length=40, blank=True),
            resolved_at=models.DateTimeField(blank=True, null=True),
            resolved_by=models.ForeignKey(USER, models.PROTECT, blank=True, null=True, related_name="+"),
            root=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+"
            ),
        ),
        options={
            "constraints": [
                models.CheckConstraint(name="consensus_value_known", condition=Q(value__in=(-1, 0, 1))),
                models.CheckConstraint(
                    name="consensus_root_of_errors_only", condition=Q(value=-1) | Q(root__isnull=True)
                ),
                models.CheckConstraint(
                    name="consensus_kind_known",
                    condition=Q(
                        kind__in=["unanimous", "discussed", "adjudicated", "majority", "one_person", "judged"]
                    ),
                ),
            ]
        },
    ),
    migrations.CreateModel(
        "OutcomeConsensus",
        columns(
            value=models.SmallIntegerField(),
            kind=models.CharField(max_length=12),
            created_at=models.DateTimeField(),
            trajectory=models.OneToOneField(
                "annotation.trajectory", models.CASCADE, related_name="outcome_consensus"
            ),
            note=models.TextField(blank=True),
            reason=models.CharField(max_length=40, blank=True),
            resolved_at=models.DateTimeField(blank=True, null=True),
            resolved_by=models.ForeignKey(USER, models.PROTECT, blank=True, null=True, related_name="+"),
        ),
        options={
            "indexes": [models.Index(name="outcome_consensus_by_time", fields=["created_at", "trajectory"])],
            "constraints": [
                models.CheckConstraint(
                    name="outcome_consensus_value_known", condition=Q(value__in=(-1, 0, 1))
                ),
                models.CheckConstraint(
                    name="outcome_consensus_kind_known",
                    condition=Q(
                        kind__in=["unanimous", "discussed", "adjudicated", "majority", "one_person", "judged"]
                    ),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Adjudication",
        columns(
            state=models.CharField(max_length=12, default="open"),
            note=models.TextField(blank=True),
            opened_at=models.DateTimeField(),
            decided_at=models.DateTimeField(blank=True, null=True),
            adjudicator=models.ForeignKey(USER, models.PROTECT, related_name="adjudications"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="adjudications"),
            trajectory=models.ForeignKey(
                "annotation.trajectory", models.CASCADE, related_name="adjudications", db_index=False
            ),
            letter_seed=models.PositiveBigIntegerField(default=new_letter_seed),
        ),
        options={
            "ordering": ("-opened_at", "-pk"),
            "indexes": [models.Index(name="adjudication_mine", fields=["adjudicator", "project", "state"])],
            "constraints": [
                models.UniqueConstraint(
                    name="adjudication_once",
                    fields=("trajectory",),
                    condition=Q(state__in=["open", "decided"]),
                ),
                models.CheckConstraint(
                    name="adjudication_state_known", condition=Q(state__in=["open", "decided", "released"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Decision",
        columns(
            value=models.SmallIntegerField(),
            note=models.TextField(blank=True),
            version=models.PositiveIntegerField(default=1),
            updated_at=models.DateTimeField(),
            adjudication=models.ForeignKey(
                "annotation.adjudication", models.CASCADE, related_name="decisions"
            ),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
            kind=models.CharField(max_length=12, default="adjudicated"),
            reason=models.CharField(max_length=40, blank=True),
            root=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "constraints": [
                models.UniqueConstraint(
                    name="decision_once", fields=("adjudication", "step"), condition=Q(step__isnull=False)
                ),
                models.UniqueConstraint(
                    name="decision_of_outcome_once", fields=("adjudication",), condition=Q(step__isnull=True)
                ),
                models.CheckConstraint(name="decision_value_known", condition=Q(value__in=(-1, 0, 1))),
                models.CheckConstraint(
                    name="decision_kind_known", condition=Q(kind__in=["adjudicated", "majority"])
                ),
                models.CheckConstraint(
                    name="decision_root_of_errors_only", condition=Q(value=-1) | Q(root__isnull=True)
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "CaseEvent",
        columns(
            kind=models.CharField(max_length=12),
            value=models.SmallIntegerField(blank=True, null=True),
            note=models.TextField(blank=True),
            detail=models.JSONField(blank=True, default=dict),
            created_at=models.DateTimeField(),
            actor=models.ForeignKey(USER, models.PROTECT, blank=True, null=True, related_name="+"),
            adjudication=models.ForeignKey("annotation.adjudication", models.CASCADE, related_name="events"),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "constraints": [
                models.CheckConstraint(
                    name="case_event_kind_known", condition=Q(kind__in=["decision", "withdrawal", "erasure"])
                )
            ],
        },
    ),
    migrations.CreateModel(
        "Exposure",
        columns(
            kind=models.CharField(max_length=12),
            created_at=models.DateTimeField(),
            user=models.ForeignKey(USER, models.CASCADE, related_name="exposures", db_index=False),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="exposures"),
        ),
        options={
            "constraints": [
                models.UniqueConstraint(
                    name="exposure_of_step_once",
                    fields=("user", "trajectory", "step", "kind"),
                    condition=Q(step__isnull=False),
                ),
                models.UniqueConstraint(
                    name="exposure_once",
                    fields=("user", "trajectory", "kind"),
                    condition=Q(step__isnull=True),
                ),
                models.CheckConstraint(
                    name="exposure_kind_known",
                    condition=Q(kind__in=["suggestion", "consensus", "label", "source"]),
                ),
            ]
        },
    ),
    migrations.CreateModel(
        "Discussion",
        columns(
            letter_seed=models.PositiveBigIntegerField(),
            opened_at=models.DateTimeField(),
            changed_at=models.DateTimeField(),
            opened_by=models.ForeignKey(USER, models.PROTECT, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="discussions"),
            trajectory=models.OneToOneField(
                "annotation.trajectory", models.CASCADE, related_name="discussion"
            ),
        ),
        options={
            "ordering": ("-changed_at", "-pk"),
            "indexes": [models.Index(name="discussion_newest", fields=["project", "-changed_at"])],
        },
    ),
    migrations.CreateModel(
        "Comment",
        columns(
            voice=models.CharField(max_length=12),
            text=models.TextField(),
            created_at=models.DateTimeField(),
            retracted_at=models.DateTimeField(blank=True, null=True),
            author=models.ForeignKey(USER, models.PROTECT, related_name="comments"),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
            discussion=models.ForeignKey(
                "annotation.discussion", models.CASCADE, related_name="comments", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "indexes": [models.Index(name="comment_in_order", fields=["discussion", "id"])],
            "constraints": [
                models.CheckConstraint(
                    name="comment_voice_known", condition=Q(voice__in=["annotator", "adjudicator", "admin"])
                )
            ],
        },
    ),
    migrations.CreateModel(
        "ThreadRead",
        columns(
            last_read=models.PositiveBigIntegerField(),
            discussion=models.ForeignKey("annotation.discussion", models.CASCADE, related_name="read_marks"),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
            user=models.ForeignKey(USER, models.CASCADE, related_name="+", db_index=False),
        ),
        options={
            "constraints": [
                models.UniqueConstraint(
                    name="thread_read_of_step_once",
                    fields=("user", "discussion", "step"),
                    condition=Q(step__isnull=False),
                ),
                models.UniqueConstraint(
                    name="thread_read_once", fields=("user", "discussion"), condition=Q(step__isnull=True)
                ),
            ]
        },
    ),
    migrations.CreateModel(
        "Dispute",
        fields(
            trajectory=models.OneToOneField(
                "annotation.trajectory",
                models.CASCADE,
                primary_key=True,
                serialize=False,
                related_name="dispute",
            ),
            disputed_steps=models.PositiveIntegerField(),
            sign_flips=models.PositiveIntegerField(),
            neutral_boundaries=models.PositiveIntegerField(),
            first_error=models.BooleanField(),
            outcome=models.BooleanField(),
            arisen_at=models.DateTimeField(),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="+", db_index=False),
        ),
        options={
            "ordering": ("arisen_at", "trajectory_id"),
            "indexes": [
                models.Index(name="dispute_by_age", fields=["project", "arisen_at", "trajectory"]),
                models.Index(name="dispute_of_subset", fields=["subset", "arisen_at", "trajectory"]),
                models.Index(name="dispute_by_size", fields=["project", "disputed_steps", "arisen_at"]),
            ],
            "constraints": [
                models.CheckConstraint(
                    name="dispute_steps_add_up",
                    condition=Q(disputed_steps=F("sign_flips") + F("neutral_boundaries")),
                ),
                models.CheckConstraint(
                    name="dispute_about_something", condition=Q(disputed_steps__gt=0) | Q(outcome=True)
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Example",
        columns(
            title=models.CharField(max_length=720),
            text=models.TextField(),
            excerpt=models.TextField(blank=True),
            value=models.SmallIntegerField(),
            created_at=models.DateTimeField(),
            adjudication=models.ForeignKey("annotation.adjudication", models.CASCADE, related_name="+"),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="examples"),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="+"),
        ),
        options={
            "ordering": ("pk",),
            "constraints": [
                models.UniqueConstraint(
                    name="example_of_step_once",
                    fields=("trajectory", "step"),
                    condition=Q(step__isnull=False),
                ),
                models.UniqueConstraint(
                    name="example_of_case_once", fields=("trajectory",), condition=Q(step__isnull=True)
                ),
                models.CheckConstraint(name="example_value_known", condition=Q(value__in=(-1, 0, 1))),
            ],
        },
    ),
    migrations.CreateModel(
        "Allocation",
        columns(
            arm=models.CharField(max_length=12),
            dealt_at=models.DateTimeField(),
            annotator=models.ForeignKey(USER, models.PROTECT, related_name="allocations"),
            task=models.ForeignKey(
                "annotation.task", models.CASCADE, related_name="allocations", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "constraints": [
                models.UniqueConstraint(name="allocation_once", fields=("task", "annotator")),
                models.CheckConstraint(
                    name="allocation_arm_known", condition=Q(arm__in=["sealed", "after_label", "always"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "TrajectoryTag",
        columns(
            added_by=models.ForeignKey(USER, models.PROTECT, related_name="+"),
            tag=models.ForeignKey("annotation.tag", models.CASCADE, related_name="+", db_index=False),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="+"),
        ),
        options={
            "constraints": [
                models.UniqueConstraint(name="trajectory_tag_once", fields=("tag", "trajectory", "added_by"))
            ]
        },
    ),
    migrations.CreateModel(
        "AuditedTrajectory",
        columns(
            steps=models.PositiveIntegerField(),
            chance=models.FloatField(),
            origin=models.CharField(max_length=12),
            state=models.CharField(max_length=8, default="listed"),
            wrong=models.PositiveIntegerField(blank=True, null=True),
            taken_at=models.DateTimeField(blank=True, null=True),
            letter_seed=models.PositiveBigIntegerField(default=new_letter_seed, editable=False),
            done_at=models.DateTimeField(blank=True, null=True),
            adjudicator=models.ForeignKey(
                USER, models.PROTECT, blank=True, null=True, related_name="+", db_index=False
            ),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="audited"),
            audit=models.ForeignKey(
                "annotation.labelaudit", models.CASCADE, related_name="trajectories", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "indexes": [
                models.Index(
                    name="audited_unfinished",
                    fields=["audit", "state"],
                    condition=Q(state__in=["reading", "deciding"]),
                ),
                models.Index(
                    name="audited_mine",
                    fields=["adjudicator"],
                    condition=Q(adjudicator__isnull=False, state="deciding"),
                ),
            ],
            "constraints": [
                models.UniqueConstraint(name="audited_once", fields=("audit", "trajectory")),
                models.CheckConstraint(
                    name="audited_state_known",
                    condition=Q(state__in=["listed", "reading", "deciding", "done"]),
                ),
                models.CheckConstraint(
                    name="audited_wrong_when_done",
                    condition=Q(done_at__isnull=False, state="done", wrong__isnull=False)
                    | (~Q(state="done") & Q(done_at__isnull=True) & Q(wrong__isnull=True)),
                ),
                models.CheckConstraint(
                    name="audited_wrong_at_most_steps",
                    condition=Q(wrong__isnull=True) | Q(wrong__lte=F("steps")),
                ),
                models.CheckConstraint(
                    name="audited_chance_in_range", condition=Q(chance__gt=0, chance__lte=1)
                ),
                models.CheckConstraint(
                    name="audited_origin_known",
                    condition=Q(origin__in=["one_person", "unanimous", "discussed", "adjudicated"]),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "AuditDraw",
        columns(
            number=models.PositiveIntegerField(),
            audited=models.ForeignKey("annotation.auditedtrajectory", models.CASCADE, related_name="draws"),
            audit=models.ForeignKey(
                "annotation.labelaudit", models.CASCADE, related_name="draws", db_index=False
            ),
        ),
        options={
            "ordering": ("audit", "number"),
            "constraints": [models.UniqueConstraint(name="audit_draw_once", fields=("audit", "number"))],
        },
    ),
    migrations.CreateModel(
        "AuditRuling",
        columns(
            before=models.SmallIntegerField(),
            value=models.SmallIntegerField(),
            note=models.TextField(blank=True),
            ruled_at=models.DateTimeField(),
            audited=models.ForeignKey(
                "annotation.auditedtrajectory", models.CASCADE, related_name="rulings", db_index=False
            ),
            ruled_by=models.ForeignKey(USER, models.PROTECT, related_name="+"),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "constraints": [
                models.UniqueConstraint(
                    name="audit_ruling_once", fields=("audited", "step"), condition=Q(step__isnull=False)
                ),
                models.UniqueConstraint(
                    name="audit_ruling_of_outcome_once", fields=("audited",), condition=Q(step__isnull=True)
                ),
                models.CheckConstraint(
                    name="audit_ruling_value_known", condition=Q(before__in=(-1, 0, 1), value__in=(-1, 0, 1))
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "SecondPerson",
        columns(
            state=models.CharField(max_length=8, default="waiting"),
            doubt=models.FloatField(blank=True, null=True),
            decided_at=models.DateTimeField(blank=True, null=True),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            trajectory=models.OneToOneField(
                "annotation.trajectory", models.CASCADE, related_name="second_person"
            ),
        ),
        options={
            "indexes": [models.Index(name="second_person_by_state", fields=["project", "state"])],
            "constraints": [
                models.CheckConstraint(
                    name="second_person_state_known", condition=Q(state__in=["waiting", "spared", "asked"])
                ),
                models.CheckConstraint(
                    name="second_person_decided_has_time",
                    condition=Q(decided_at__isnull=True, state="waiting")
                    | (~Q(state="waiting") & Q(decided_at__isnull=False)),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "JudgesFirstVerdict",
        columns(
            verdict=models.CharField(max_length=8),
            place=models.FloatField(),
            drawn=models.BooleanField(default=False),
            created_at=models.DateTimeField(),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            trajectory=models.OneToOneField(
                "annotation.trajectory", models.CASCADE, related_name="judges_first"
            ),
        ),
        options={
            "indexes": [models.Index(name="judges_first_by_place", fields=["project", "verdict", "place"])],
            "constraints": [
                models.CheckConstraint(
                    name="judges_first_verdict_known",
                    condition=Q(verdict__in=["judged", "dropped", "people"]),
                ),
                models.CheckConstraint(
                    name="judges_first_drawn", condition=Q(drawn=False) | Q(verdict="judged")
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "KeyLabel",
        columns(
            value=models.SmallIntegerField(),
            reason=models.CharField(max_length=40, blank=True),
            note=models.TextField(blank=True),
            origin=models.CharField(max_length=10),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
            trajectory=models.ForeignKey(
                "annotation.trajectory", models.CASCADE, related_name="key_labels", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "constraints": [
                models.UniqueConstraint(
                    name="key_label_once", fields=("trajectory", "step"), condition=Q(step__isnull=False)
                ),
                models.UniqueConstraint(
                    name="key_label_of_outcome_once", fields=("trajectory",), condition=Q(step__isnull=True)
                ),
                models.CheckConstraint(name="key_label_value_known", condition=Q(value__in=(-1, 0, 1))),
                models.CheckConstraint(
                    name="key_label_origin_known", condition=Q(origin__in=["file", "consensus", "edited"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Pilot",
        columns(
            state=models.CharField(max_length=8, default="running"),
            bound=models.FloatField("Krippendorff’s α to reach"),
            new_guidelines=models.BooleanField("revised guidelines are needed", default=False),
            guideline_version=models.PositiveIntegerField(default=0),
            alpha=models.FloatField(blank=True, null=True),
            begun_at=models.DateTimeField(),
            ended_at=models.DateTimeField(blank=True, null=True),
            begun_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="pilots", db_index=False
            ),
            subset=models.ForeignKey("annotation.subset", models.PROTECT, related_name="pilots"),
        ),
        options={
            "ordering": ("-pk",),
            "constraints": [
                models.UniqueConstraint(
                    name="pilot_running_once", fields=("project",), condition=Q(state="running")
                ),
                models.CheckConstraint(
                    name="pilot_state_known",
                    condition=Q(ended_at__isnull=True, state="running")
                    | Q(ended_at__isnull=False, state__in=("passed", "stopped")),
                ),
                models.CheckConstraint(name="pilot_bound_in_range", condition=Q(bound__gte=-1, bound__lt=1)),
            ],
        },
    ),
    migrations.CreateModel(
        "TestAttempt",
        columns(
            number=models.PositiveSmallIntegerField(),
            state=models.CharField(max_length=8, default="running"),
            guideline_version=models.PositiveIntegerField(default=0),
            agreement=models.FloatField(blank=True, null=True),
            error_recall=models.FloatField(blank=True, null=True),
            first_error=models.FloatField(blank=True, null=True),
            begun_at=models.DateTimeField(),
            ended_at=models.DateTimeField(blank=True, null=True),
            annotator=models.ForeignKey(USER, models.PROTECT, related_name="attempts"),
            test=models.ForeignKey(
                "annotation.proficiencytest", models.CASCADE, related_name="sittings", db_index=False
            ),
            waived=models.BooleanField(default=False),
        ),
        options={
            "ordering": ("pk",),
            "constraints": [
                models.UniqueConstraint(name="attempt_number_once", fields=("test", "annotator", "number")),
                models.UniqueConstraint(
                    name="attempt_running_once", fields=("test", "annotator"), condition=Q(state="running")
                ),
                models.CheckConstraint(
                    name="attempt_state_known",
                    condition=Q(ended_at__isnull=True, state="running")
                    | Q(ended_at__isnull=False, state__in=["passed", "failed", "stopped"]),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Recheck",
        columns(
            kind=models.CharField(max_length=8),
            state=models.CharField(max_length=8, default="waiting"),
            due_at=models.DateTimeField(),
            dealt_at=models.DateTimeField(),
            created_at=models.DateTimeField(),
            annotator=models.ForeignKey(
                USER, models.PROTECT, blank=True, null=True, related_name="+", db_index=False
            ),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="+"),
            audited=models.ForeignKey(
                "annotation.auditedtrajectory", models.CASCADE, blank=True, null=True, related_name="readings"
            ),
            attempt=models.ForeignKey(
                "annotation.testattempt", models.CASCADE, blank=True, null=True, related_name="turns"
            ),
            agreed=models.PositiveIntegerField(blank=True, null=True),
            keyed=models.PositiveIntegerField(blank=True, null=True),
            answered_at=models.DateTimeField(blank=True, null=True),
        ),
        options={
            "ordering": ("pk",),
            "indexes": [
                models.Index(
                    name="recheck_waiting",
                    fields=["annotator", "project", "due_at"],
                    condition=Q(state="waiting"),
                ),
                models.Index(name="recheck_by_project", fields=["project", "kind", "state"]),
                models.Index(
                    name="recheck_dealt", fields=["dealt_at"], condition=Q(kind="audit", state="waiting")
                ),
                models.Index(
                    name="recheck_gold",
                    fields=["project", "annotator"],
                    condition=Q(kind__in=("gold", "pilot")),
                ),
                models.Index(
                    name="recheck_unmarked_gold",
                    fields=["project"],
                    condition=Q(agreed__isnull=True, kind="gold", state="done"),
                ),
            ],
            "constraints": [
                models.UniqueConstraint(
                    name="recheck_retest_once", fields=("trajectory", "annotator"), condition=Q(kind="retest")
                ),
                models.CheckConstraint(
                    name="recheck_state_known", condition=Q(state__in=["waiting", "claimed", "done"])
                ),
                models.CheckConstraint(
                    name="recheck_retest_has_annotator",
                    condition=~Q(kind="retest") | Q(annotator__isnull=False),
                ),
                models.CheckConstraint(
                    name="recheck_of_an_audit", condition=Q(kind="audit") | Q(audited__isnull=True)
                ),
                models.UniqueConstraint(
                    name="recheck_reader_once",
                    fields=("audited", "annotator"),
                    condition=Q(annotator__isnull=False, audited__isnull=False),
                ),
                models.CheckConstraint(
                    name="recheck_kind_known",
                    condition=Q(kind__in=["audit", "retest", "tutorial", "test", "gold", "pilot"]),
                ),
                models.CheckConstraint(
                    name="recheck_of_an_attempt",
                    condition=Q(attempt__isnull=False, kind="test")
                    | (~Q(kind="test") & Q(attempt__isnull=True)),
                ),
                models.CheckConstraint(
                    name="recheck_of_training_has_annotator",
                    condition=~Q(kind__in=["tutorial", "test", "gold", "pilot"]) | Q(annotator__isnull=False),
                ),
                models.UniqueConstraint(
                    name="recheck_of_training_once",
                    fields=("trajectory", "annotator", "kind"),
                    condition=Q(attempt__isnull=True, kind__in=["tutorial", "test", "gold", "pilot"]),
                ),
                models.UniqueConstraint(
                    name="recheck_of_attempt_once",
                    fields=("attempt", "trajectory"),
                    condition=Q(attempt__isnull=False),
                ),
                models.CheckConstraint(
                    name="recheck_marks_of_gold",
                    condition=Q(agreed__isnull=True, answered_at__isnull=True, keyed__isnull=True)
                    | Q(agreed__lte=F("keyed"), answered_at__isnull=False, keyed__gte=1, kind="gold"),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Assignment",
        columns(
            slot=models.PositiveSmallIntegerField(blank=True, null=True),
            state=models.CharField(max_length=12, default="open"),
            guideline_version=models.PositiveIntegerField(default=0),
            claim_key=models.CharField(max_length=64, blank=True, null=True),
            return_reason=models.TextField(blank=True),
            needs_discussion=models.BooleanField(default=False),
            broken=models.BooleanField(default=False),
            active_ms=models.PositiveBigIntegerField(default=0),
            imported=models.BooleanField(default=False),
            claimed_at=models.DateTimeField(),
            submitted_at=models.DateTimeField(blank=True, null=True),
            returned_at=models.DateTimeField(blank=True, null=True),
            annotator=models.ForeignKey(USER, models.PROTECT, related_name="assignments"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="assignments"),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="assignments"),
            expiry_reason=models.CharField(max_length=12, blank=True),
            last_used_at=models.DateTimeField(),
            warned_at=models.DateTimeField(blank=True, null=True),
            recheck=models.ForeignKey(
                "annotation.recheck",
                models.CASCADE,
                blank=True,
                null=True,
                related_name="assignments",
                db_index=False,
            ),
        ),
        options={
            "ordering": ("-claimed_at", "-pk"),
            "indexes": [
                models.Index(name="assignment_mine", fields=["annotator", "project", "state", "-claimed_at"]),
                models.Index(name="assignment_unused", fields=["last_used_at"], condition=Q(state="open")),
                models.Index(
                    name="assignment_by_state",
                    fields=["project", "state", "annotator", "imported", "submitted_at", "recheck"],
                ),
                models.Index(name="assignment_beside", fields=["annotator", "project", "id"]),
                models.Index(name="assignment_of_trajectory", fields=["trajectory", "annotator"]),
            ],
            "constraints": [
                models.UniqueConstraint(
                    name="assignment_slot_once",
                    fields=("trajectory", "slot"),
                    condition=Q(state__in=("open", "submitted")),
                ),
                models.UniqueConstraint(name="assignment_claim_key_once", fields=("annotator", "claim_key")),
                models.CheckConstraint(
                    name="assignment_state_known",
                    condition=Q(state__in=["open", "submitted", "returned", "expired"]),
                ),
                models.CheckConstraint(
                    name="assignment_submitted_has_time",
                    condition=~Q(state="submitted") | Q(submitted_at__isnull=False),
                ),
                models.UniqueConstraint(
                    name="assignment_annotator_once",
                    fields=("trajectory", "annotator"),
                    condition=Q(recheck__isnull=True),
                ),
                models.CheckConstraint(
                    name="assignment_slot_while_active",
                    condition=Q(recheck__isnull=True, slot__isnull=False, state__in=("open", "submitted"))
                    | Q(recheck__isnull=False, slot__isnull=True)
                    | (~Q(state__in=("open", "submitted")) & Q(slot__isnull=True)),
                ),
                models.UniqueConstraint(
                    name="assignment_recheck_annotator_once",
                    fields=("recheck", "annotator"),
                    condition=Q(recheck__isnull=False),
                ),
                models.UniqueConstraint(
                    name="assignment_recheck_once",
                    fields=("recheck",),
                    condition=Q(recheck__isnull=False, state__in=("open", "submitted")),
                ),
                models.CheckConstraint(
                    name="assignment_expired_has_reason",
                    condition=Q(
                        expiry_reason__in=["left", "taken_back", "unused", "replaced"], state="expired"
                    )
                    | (~Q(state="expired") & Q(expiry_reason="")),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Label",
        columns(
            value=models.SmallIntegerField(blank=True, null=True),
            unsure=models.BooleanField(default=False),
            flagged=models.BooleanField(default=False),
            note=models.TextField(blank=True),
            reason=models.CharField(max_length=40, blank=True),
            version=models.PositiveIntegerField(default=1),
            blind_value=models.SmallIntegerField(blank=True, null=True),
            exposed_at=models.DateTimeField(blank=True, null=True),
            updated_at=models.DateTimeField(),
            source=models.CharField(max_length=12, blank=True),
            root_pinned=models.BooleanField(default=False),
            closes=models.CharField(max_length=12, blank=True),
            assignment=models.ForeignKey(
                "annotation.assignment", models.CASCADE, related_name="labels", db_index=False
            ),
            root=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            step=models.ForeignKey("annotation.step", models.CASCADE, related_name="labels"),
        ),
        options={
            "ordering": ("assignment_id", "step_id"),
            "constraints": [
                models.UniqueConstraint(name="label_once", fields=("assignment", "step")),
                models.CheckConstraint(
                    name="label_value_known", condition=Q(value__isnull=True) | Q(value__in=(-1, 0, 1))
                ),
                models.CheckConstraint(
                    name="label_source_with_value",
                    condition=Q(source="", value__isnull=True)
                    | Q(source__in=["explicit", "propagated"], value__isnull=False),
                ),
                models.CheckConstraint(
                    name="label_root_of_errors_only",
                    condition=Q(root__isnull=False, value=-1)
                    | (~Q(value=-1) & Q(root__isnull=True))
                    | Q(root__isnull=True, value__isnull=True),
                ),
                models.CheckConstraint(
                    name="label_closes_known", condition=Q(closes__in=["", "corrected", "independent"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "OutcomeLabel",
        columns(
            value=models.SmallIntegerField(blank=True, null=True),
            unsure=models.BooleanField(default=False),
            flagged=models.BooleanField(default=False),
            note=models.TextField(blank=True),
            reason=models.CharField(max_length=40, blank=True),
            version=models.PositiveIntegerField(default=1),
            blind_value=models.SmallIntegerField(blank=True, null=True),
            exposed_at=models.DateTimeField(blank=True, null=True),
            updated_at=models.DateTimeField(),
            assignment=models.OneToOneField("annotation.assignment", models.CASCADE, related_name="outcome"),
        ),
        options={
            "constraints": [
                models.CheckConstraint(
                    name="outcome_value_known", condition=Q(value__isnull=True) | Q(value__in=(-1, 0, 1))
                )
            ]
        },
    ),
    migrations.CreateModel(
        "LabelEvent",
        columns(
            op_id=models.CharField(max_length=64, blank=True),
            kind=models.CharField(max_length=16),
            value=models.SmallIntegerField(blank=True, null=True),
            source=models.CharField(max_length=12, blank=True),
            version=models.PositiveIntegerField(default=0),
            detail=models.JSONField(blank=True, default=dict),
            created_at=models.DateTimeField(),
            assignment=models.ForeignKey("annotation.assignment", models.CASCADE, related_name="events"),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
        ),
        options={"ordering": ("pk",)},
    ),
    migrations.CreateModel(
        "SaveOperation",
        columns(
            op_id=models.CharField(max_length=64),
            digest=models.CharField(max_length=64),
            results=models.JSONField(default=list),
            created_at=models.DateTimeField(),
            assignment=models.ForeignKey(
                "annotation.assignment", models.CASCADE, related_name="operations", db_index=False
            ),
        ),
        options={
            "constraints": [models.UniqueConstraint(name="operation_once", fields=("assignment", "op_id"))]
        },
    ),
    migrations.CreateModel(
        "Revision",
        columns(
            previous=models.SmallIntegerField(null=True),
            value=models.SmallIntegerField(),
            reason=models.CharField(max_length=40, blank=True),
            note=models.TextField(),
            created_at=models.DateTimeField(),
            assignment=models.ForeignKey(
                "annotation.assignment", models.CASCADE, related_name="revisions", db_index=False
            ),
            root=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "indexes": [models.Index(name="revision_in_order", fields=["assignment", "step", "id"])],
            "constraints": [
                models.CheckConstraint(name="revision_value_known", condition=Q(value__in=(-1, 0, 1))),
                models.CheckConstraint(
                    name="revision_root_of_errors_only", condition=Q(value=-1) | Q(root__isnull=True)
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "RelabelRequest",
        columns(
            version=models.PositiveIntegerField(),
            batch=models.UUIDField(),
            asked_at=models.DateTimeField(),
            begun_at=models.DateTimeField(blank=True, null=True),
            asked_by=models.ForeignKey(USER, models.PROTECT, null=True, related_name="+"),
            assignment=models.ForeignKey(
                "annotation.assignment", models.CASCADE, related_name="relabel_requests"
            ),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+"),
            because=models.CharField(max_length=10, default="guidelines"),
        ),
        options={
            "db_table": "annotation_lookagain",
            "ordering": ("pk",),
            "indexes": [models.Index(name="look_again_by_batch", fields=["project", "batch"])],
            "constraints": [
                models.UniqueConstraint(
                    name="look_again_waiting_once", fields=("assignment",), condition=Q(begun_at__isnull=True)
                ),
                models.CheckConstraint(
                    name="look_again_reason_known", condition=Q(because__in=["guidelines", "check"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "AdminRemark",
        columns(
            text=models.TextField(),
            created_at=models.DateTimeField(),
            answer=models.TextField(blank=True),
            closed_at=models.DateTimeField(blank=True, null=True),
            assignment=models.ForeignKey("annotation.assignment", models.CASCADE, related_name="remarks"),
            closed_by=models.ForeignKey(USER, models.PROTECT, blank=True, null=True, related_name="+"),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="remarks", db_index=False
            ),
            step=models.ForeignKey(
                "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
        ),
        options={
            "ordering": ("-pk",),
            "indexes": [
                models.Index(name="remark_newest", fields=["project", "-id"]),
                models.Index(name="remark_open", fields=["project"], condition=Q(closed_at__isnull=True)),
            ],
            "constraints": [
                models.CheckConstraint(
                    name="remark_closed_by_somebody",
                    condition=Q(answer="", closed_at__isnull=True, closed_by__isnull=True)
                    | Q(closed_at__isnull=False, closed_by__isnull=False),
                )
            ],
        },
    ),
    migrations.CreateModel(
        "TestItem",
        columns(
            place=models.PositiveIntegerField(),
            test=models.ForeignKey(
                "annotation.proficiencytest", models.CASCADE, related_name="items", db_index=False
            ),
            trajectory=models.ForeignKey("annotation.trajectory", models.PROTECT, related_name="test_items"),
        ),
        options={
            "ordering": ("test", "place"),
            "constraints": [
                models.UniqueConstraint(name="test_place_once", fields=("test", "place")),
                models.UniqueConstraint(name="test_item_once", fields=("test", "trajectory")),
            ],
        },
    ),
    migrations.CreateModel(
        "TutorialItem",
        columns(
            place=models.PositiveIntegerField(),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="tutorial_items", db_index=False
            ),
            trajectory=models.OneToOneField(
                "annotation.trajectory", models.CASCADE, related_name="tutorial_item"
            ),
        ),
        options={
            "ordering": ("project", "place"),
            "constraints": [models.UniqueConstraint(name="tutorial_place_once", fields=("project", "place"))],
        },
    ),
    migrations.CreateModel(
        "Qualification",
        columns(
            degree=models.CharField(
                "highest degree",
                max_length=10,
                blank=True,
                choices=[
                    ("none", "none"),
                    ("bachelor", "bachelor"),
                    ("master", "master"),
                    ("doctorate", "doctorate"),
                ],
            ),
            field=models.CharField("field", max_length=80, blank=True),
            years=models.PositiveSmallIntegerField(
                "years in the field", blank=True, null=True, validators=[MaxValueValidator(80)]
            ),
            languages=models.CharField("languages", max_length=200, blank=True),
            membership=models.OneToOneField(
                "annotation.membership", models.CASCADE, related_name="qualification"
            ),
            pay_rate=models.DecimalField(
                "pay",
                blank=True,
                null=True,
                validators=[MinValueValidator(0)],
                max_digits=10,
                decimal_places=2,
            ),
        ),
        options={
            "constraints": [
                models.CheckConstraint(
                    name="qualification_degree_known",
                    condition=Q(degree__in=["", "none", "bachelor", "master", "doctorate"]),
                ),
                models.CheckConstraint(
                    name="qualification_years_in_range", condition=Q(years__isnull=True) | Q(years__lte=80)
                ),
                models.CheckConstraint(
                    name="qualification_pay_not_negative",
                    condition=Q(pay_rate__isnull=True) | Q(pay_rate__gte=0),
                ),
            ]
        },
    ),
    migrations.CreateModel(
        "Reservation",
        columns(
            created_at=models.DateTimeField(),
            annotator=models.ForeignKey(USER, models.CASCADE, related_name="reservations", db_index=False),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            trajectory=models.ForeignKey(
                "annotation.trajectory", models.CASCADE, related_name="reservations", db_index=False
            ),
        ),
        options={
            "ordering": ("pk",),
            "indexes": [models.Index(name="reservation_of_person", fields=["annotator", "project"])],
            "constraints": [
                models.UniqueConstraint(name="reservation_once", fields=("trajectory", "annotator"))
            ],
        },
    ),
    migrations.CreateModel(
        "Meeting",
        columns(
            number=models.PositiveIntegerField(),
            first=models.ForeignKey(USER, models.CASCADE, related_name="+", db_index=False),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            second=models.ForeignKey(USER, models.CASCADE, related_name="+", db_index=False),
        ),
        options={
            "indexes": [models.Index(name="meeting_of_second", fields=["project", "second"])],
            "constraints": [
                models.UniqueConstraint(name="meeting_once", fields=("project", "first", "second")),
                models.CheckConstraint(name="meeting_in_order", condition=Q(first__lt=F("second"))),
            ],
        },
    ),
    migrations.CreateModel(
        "CrowdLink",
        columns(
            name=models.CharField("name", max_length=80),
            token=models.CharField(max_length=64, unique=True),
            id_parameter=models.CharField("parameter of the id", max_length=40, default="PROLIFIC_PID"),
            places=models.PositiveIntegerField("places"),
            taken=models.PositiveIntegerField(default=0),
            minutes=models.PositiveIntegerField("minutes for each place"),
            trajectories=models.PositiveIntegerField("trajectories to submit"),
            completed_code=models.CharField("code for completed work", max_length=40),
            screened_code=models.CharField("code for who is screened out or leaves", max_length=40),
            return_url=models.CharField("address to go back to", max_length=500, blank=True),
            closed_at=models.DateTimeField(blank=True, null=True),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="crowd_links"),
        ),
        options={
            "ordering": ("-created_at", "-pk"),
            "constraints": [
                models.CheckConstraint(
                    name="crowd_link_places_suffice",
                    condition=Q(places__gte=1, places__lte=10000, taken__gte=0, taken__lte=F("places")),
                ),
                models.CheckConstraint(
                    name="crowd_link_work_in_range",
                    condition=Q(
                        minutes__gte=1, minutes__lte=43200, trajectories__gte=1, trajectories__lte=1000
                    ),
                ),
                models.CheckConstraint(
                    name="crowd_link_codes_differ",
                    condition=~Q(completed_code="")
                    & ~Q(screened_code="")
                    & ~Q(completed_code=F("screened_code")),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "CrowdPlace",
        columns(
            outside_id=models.CharField(max_length=100),
            state=models.CharField(max_length=12, default="active"),
            code=models.CharField(max_length=40, blank=True),
            begun_at=models.DateTimeField(),
            expires_at=models.DateTimeField(),
            ended_at=models.DateTimeField(blank=True, null=True),
            link=models.ForeignKey(
                "annotation.crowdlink", models.CASCADE, related_name="taken_places", db_index=False
            ),
            user=models.ForeignKey(USER, models.PROTECT, related_name="crowd_places"),
        ),
        options={
            "ordering": ("-begun_at", "-pk"),
            "indexes": [
                models.Index(name="crowd_place_expires", fields=["expires_at"], condition=Q(state="active"))
            ],
            "constraints": [
                models.UniqueConstraint(name="crowd_place_once_an_id", fields=("link", "outside_id")),
                models.UniqueConstraint(name="crowd_place_once_a_person", fields=("link", "user")),
                models.UniqueConstraint(
                    name="crowd_place_active_once", fields=("user",), condition=Q(state="active")
                ),
                models.CheckConstraint(
                    name="crowd_place_state_known",
                    condition=Q(ended_at__isnull=True, state="active")
                    | Q(
                        ended_at__isnull=False,
                        state__in=["completed", "screened_out", "returned", "timed_out", "removed"],
                    ),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "DaysAway",
        columns(
            first=models.DateField(),
            last=models.DateField(),
            membership=models.ForeignKey(
                "annotation.membership", models.CASCADE, related_name="days_away", db_index=False
            ),
        ),
        options={
            "ordering": ("membership", "first", "pk"),
            "constraints": [
                models.UniqueConstraint(name="days_away_once", fields=("membership", "first", "last")),
                models.CheckConstraint(name="days_away_in_order", condition=Q(last__gte=F("first"))),
            ],
        },
    ),
    migrations.CreateModel(
        "Quota",
        columns(
            most=models.PositiveIntegerField(),
            membership=models.ForeignKey(
                "annotation.membership", models.CASCADE, related_name="quotas", db_index=False
            ),
            subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="+", db_index=False),
        ),
        options={
            "ordering": ("membership", "subset__name"),
            "constraints": [models.UniqueConstraint(name="quota_once", fields=("membership", "subset"))],
        },
    ),
    migrations.CreateModel(
        "ActiveTime",
        columns(
            begins_at=models.DateTimeField(),
            active_ms=models.PositiveBigIntegerField(default=0),
            annotator=models.ForeignKey(USER, models.PROTECT, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
        ),
        options={
            "indexes": [
                models.Index(
                    name="active_time_summed", fields=["project", "annotator", "begins_at", "active_ms"]
                )
            ],
            "constraints": [
                models.UniqueConstraint(name="active_time_once", fields=("project", "annotator", "begins_at"))
            ],
        },
    ),
    migrations.CreateModel(
        "Webhook",
        columns(
            **job(),
            name=models.CharField("name", max_length=80),
            url=models.CharField("address", max_length=500),
            events=models.JSONField("events", default=list),
            seed=models.CharField(max_length=64),
            old_seed=models.CharField(max_length=64, blank=True),
            old_until=models.DateTimeField(blank=True, null=True),
            paused_at=models.DateTimeField(blank=True, null=True),
            pause_reason=models.CharField(max_length=12, blank=True),
            failures=models.PositiveIntegerField(default=0),
            rests_until=models.DateTimeField(blank=True, null=True),
            resend_at=models.DateTimeField(blank=True, null=True),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="webhooks"),
        ),
        options={
            "ordering": ("name", "pk"),
            "constraints": [
                models.CheckConstraint(
                    name="webhook_paused_for_a_reason",
                    condition=Q(pause_reason="", paused_at__isnull=True)
                    | Q(pause_reason__in=["admin", "failing", "gone", "forbidden"], paused_at__isnull=False),
                ),
                models.CheckConstraint(
                    name="webhook_old_secret_ends",
                    condition=Q(old_seed="", old_until__isnull=True)
                    | (~Q(old_seed="") & Q(old_until__isnull=False)),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Notice",
        columns(
            kind=models.CharField(max_length=12),
            mail_due=models.BooleanField(default=False),
            created_at=models.DateTimeField(),
            read_at=models.DateTimeField(blank=True, null=True),
            comment=models.ForeignKey(
                "annotation.comment", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            discussion=models.ForeignKey(
                "annotation.discussion", models.CASCADE, blank=True, null=True, related_name="notices"
            ),
            user=models.ForeignKey(USER, models.CASCADE, related_name="notices", db_index=False),
            adjudication=models.ForeignKey(
                "annotation.adjudication", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            assignment=models.ForeignKey(
                "annotation.assignment", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            revision=models.ForeignKey(
                "annotation.revision", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
            ),
            remark=models.ForeignKey(
                "annotation.adminremark", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            membership=models.ForeignKey(
                "annotation.membership", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            webhook=models.ForeignKey(
                "annotation.webhook", models.CASCADE, blank=True, null=True, related_name="+"
            ),
        ),
        options={
            "ordering": ("-pk",),
            "indexes": [
                models.Index(name="notice_newest", fields=["user", "-id"]),
                models.Index(name="notice_mail_due", fields=["id"], condition=Q(mail_due=True)),
                models.Index(name="notice_unread", fields=["user"], condition=Q(read_at__isnull=True)),
            ],
            "constraints": [
                models.CheckConstraint(
                    name="notice_kind_known",
                    condition=Q(
                        kind__in=[
                            "opened",
                            "comment",
                            "mention",
                            "revision",
                            "resolved",
                            "reopened",
                            "claim_warned",
                            "claim_ended",
                            "case_given",
                            "look_again",
                            "remark",
                            "answered",
                            "corrected",
                            "paused",
                            "resumed",
                            "pilot_begun",
                            "pilot_ended",
                            "webhook",
                        ]
                    ),
                ),
                models.CheckConstraint(
                    name="notice_about_one_thing",
                    condition=Q(
                        adjudication__isnull=True,
                        assignment__isnull=True,
                        discussion__isnull=False,
                        membership__isnull=True,
                        remark__isnull=True,
                        webhook__isnull=True,
                    )
                    | Q(
                        adjudication__isnull=True,
                        assignment__isnull=False,
                        discussion__isnull=True,
                        membership__isnull=True,
                        remark__isnull=True,
                        webhook__isnull=True,
                    )
                    | Q(
                        adjudication__isnull=False,
                        assignment__isnull=True,
                        discussion__isnull=True,
                        membership__isnull=True,
                        remark__isnull=True,
                        webhook__isnull=True,
                    )
                    | Q(
                        adjudication__isnull=True,
                        assignment__isnull=True,
                        discussion__isnull=True,
                        membership__isnull=True,
                        remark__isnull=False,
                        webhook__isnull=True,
                    )
                    | Q(
                        adjudication__isnull=True,
                        assignment__isnull=True,
                        discussion__isnull=True,
                        membership__isnull=False,
                        remark__isnull=True,
                        webhook__isnull=True,
                    )
                    | Q(
                        adjudication__isnull=True,
                        assignment__isnull=True,
                        discussion__isnull=True,
                        membership__isnull=True,
                        remark__isnull=True,
                        webhook__isnull=False,
                    ),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "WebhookDelivery",
        columns(
            message=models.UUIDField(unique=True, default=uuid4, editable=False),
            event=models.CharField(max_length=40),
            object_id=models.CharField(max_length=40),
            subject=models.CharField(max_length=60),
            created_at=models.DateTimeField(),
            state=models.CharField(max_length=12, default="waiting"),
            attempts=models.PositiveIntegerField(default=0),
            next_at=models.DateTimeField(),
            tried_at=models.DateTimeField(blank=True, null=True),
            status=models.PositiveSmallIntegerField(blank=True, null=True),
            answer=models.TextField(blank=True),
            trajectory=models.ForeignKey(
                "annotation.trajectory", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            webhook=models.ForeignKey(
                "annotation.webhook", models.CASCADE, related_name="deliveries", db_index=False
            ),
        ),
        options={
            "ordering": ("-pk",),
            "indexes": [
                models.Index(name="delivery_newest", fields=["webhook", "-id"]),
                models.Index(
                    name="delivery_waiting", fields=["webhook", "subject", "id"], condition=Q(state="waiting")
                ),
            ],
            "constraints": [
                models.CheckConstraint(
                    name="delivery_state_known", condition=Q(state__in=["waiting", "delivered", "given_up"])
                ),
                models.CheckConstraint(
                    name="delivery_event_known",
                    condition=Q(
                        event__in=[
                            "assignment.submitted",
                            "trajectory.disputed",
                            "trajectory.resolved",
                            "member.paused",
                            "run.finished",
                            "release.frozen",
                            "webhook.test",
                        ]
                    ),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Connection",
        columns(
            name=models.CharField("name", max_length=80),
            kind=models.CharField("kind", max_length=20),
            base_url=models.CharField("address", max_length=500),
            key_name=models.CharField("environment variable of the key", max_length=120, blank=True),
            source=models.CharField(max_length=200),
            filter=models.CharField("filter", max_length=1000, blank=True),
            subset=models.SlugField("subset", max_length=64),
            push_reasons=models.BooleanField("push notes of adjudicators", default=False),
            uid=models.CharField(max_length=16, default=new_uid, editable=False),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="connections"),
            export_format=models.CharField("format of releases", max_length=40, blank=True),
            format=models.CharField("format", max_length=40, blank=True),
        ),
        options={
            "ordering": ("name", "pk"),
            "constraints": [models.UniqueConstraint(name="connection_name_once", fields=("project", "name"))],
        },
    ),
    migrations.CreateModel(
        "PushedRecord",
        columns(
            record_id=models.CharField(max_length=255),
            trace_id=models.CharField(max_length=255),
            digest=models.CharField(max_length=64, blank=True),
            spans=models.JSONField(default=list),
            pushed_at=models.DateTimeField(),
            connection=models.ForeignKey(
                "annotation.connection", models.CASCADE, related_name="pushed", db_index=False
            ),
        ),
        options={
            "ordering": ("connection", "record_id"),
            "constraints": [
                models.UniqueConstraint(name="pushed_record_once", fields=("connection", "record_id"))
            ],
        },
    ),
    migrations.CreateModel(
        "Transfer",
        columns(
            **job(),
            direction=models.CharField(max_length=4),
            dry=models.BooleanField(default=False),
            versions=models.BooleanField(default=False),
            subset=models.CharField(max_length=64, blank=True),
            state=models.CharField(max_length=12, default="queued"),
            counts=models.JSONField(blank=True, default=dict),
            left_out=models.JSONField(blank=True, default=list),
            created_at=models.DateTimeField(),
            finished_at=models.DateTimeField(blank=True, null=True),
            connection=models.ForeignKey("annotation.connection", models.CASCADE, related_name="transfers"),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            imported=models.ForeignKey(
                "annotation.importfile", models.SET_NULL, blank=True, null=True, related_name="transfers"
            ),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
            files=models.JSONField(blank=True, default=list),
            release=models.ForeignKey(
                "annotation.release", models.PROTECT, blank=True, null=True, related_name="+"
            ),
        ),
        options={
            "ordering": ("-created_at", "-pk"),
            "indexes": [
                models.Index(
                    name="transfer_unfinished",
                    fields=["lease_until"],
                    condition=Q(state__in=["queued", "running"]),
                )
            ],
            "constraints": [
                models.CheckConstraint(
                    name="transfer_state_known",
                    condition=Q(state__in=["queued", "running", "done", "failed", "cancelled"]),
                ),
                models.CheckConstraint(
                    name="transfer_direction_known", condition=Q(direction__in=["pull", "push"])
                ),
                models.UniqueConstraint(
                    name="transfer_one_at_a_time",
                    fields=("connection",),
                    condition=Q(state__in=["queued", "running"]),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "PulledFile",
        columns(
            path=models.CharField(max_length=1000),
            mark=models.CharField(max_length=250),
            held_back=models.BooleanField(default=False),
            pulled_at=models.DateTimeField(),
            connection=models.ForeignKey(
                "annotation.connection", models.CASCADE, related_name="pulled", db_index=False
            ),
            imports=models.ManyToManyField("annotation.importfile", related_name="pulled_files"),
        ),
        options={
            "ordering": ("connection", "path"),
            "constraints": [models.UniqueConstraint(name="pulled_file_once", fields=("connection", "path"))],
        },
    ),
    migrations.CreateModel(
        "Judge",
        columns(
            name=models.CharField("name", max_length=120),
            kind=models.CharField(
                "kind",
                max_length=40,
                choices=[
                    ("openai_compatible", "openai_compatible"),
                    ("baseline", "baseline"),
                    ("imported", "imported"),
                ],
            ),
            model=models.CharField("model", max_length=200, blank=True),
            base_url=models.CharField("address", max_length=500, blank=True),
            key_name=models.CharField("environment variable of the key", max_length=120, blank=True),
            sampling=models.JSONField("sampling parameters", blank=True, default=dict),
            structured_output=models.CharField("structured output", max_length=16, default="auto"),
            with_reference=models.BooleanField("sees the reference answer", default=False),
            context_tokens=models.PositiveIntegerField(
                "context window in tokens", default=32768, validators=[MinValueValidator(1024)]
            ),
            price_input=models.DecimalField(
                "price of input",
                default=Decimal("0"),
                validators=[MinValueValidator(0)],
                max_digits=12,
                decimal_places=6,
            ),
            price_output=models.DecimalField(
                "price of output",
                default=Decimal("0"),
                validators=[MinValueValidator(0)],
                max_digits=12,
                decimal_places=6,
            ),
            price_cached=models.DecimalField(
                "price of cached input",
                blank=True,
                null=True,
                validators=[MinValueValidator(0)],
                max_digits=12,
                decimal_places=6,
            ),
            rate_per_minute=models.PositiveIntegerField(
                "calls per minute", blank=True, null=True, validators=[MinValueValidator(1)]
            ),
            concurrency=models.PositiveSmallIntegerField(
                "calls at once", default=4, validators=[MinValueValidator(1), MaxValueValidator(64)]
            ),
            timeout_seconds=models.PositiveIntegerField(
                "longest call in seconds",
                default=180,
                validators=[MinValueValidator(1), MaxValueValidator(3600)],
            ),
            prompt_version=models.CharField("prompt version", max_length=40, blank=True),
            details=models.JSONField(blank=True, default=dict),
            next_call_at=models.DateTimeField(blank=True, null=True),
            created_at=models.DateTimeField(),
            retired_at=models.DateTimeField(blank=True, null=True),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="judges"),
            recalibrate=models.BooleanField(default=False),
            recalibrated_at=models.DateTimeField(blank=True, null=True),
            recalibration=models.JSONField(blank=True, default=dict),
            sample=models.ForeignKey(
                "annotation.workshopsample", models.CASCADE, blank=True, null=True, related_name="trials"
            ),
        ),
        options={
            "ordering": ("project", "name"),
            "constraints": [
                models.UniqueConstraint(name="judge_name_once", fields=("project", "name")),
                models.CheckConstraint(
                    name="judge_kind_known",
                    condition=Q(kind__in=["openai_compatible", "baseline", "imported"]),
                ),
                models.CheckConstraint(
                    name="judge_concurrency_in_range", condition=Q(concurrency__gte=1, concurrency__lte=64)
                ),
                models.CheckConstraint(
                    name="judge_prices_not_negative", condition=Q(price_input__gte=0, price_output__gte=0)
                ),
                models.CheckConstraint(
                    name="judge_rate_positive",
                    condition=Q(rate_per_minute__isnull=True) | Q(rate_per_minute__gte=1),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "WorkshopSample",
        columns(
            seed=models.PositiveIntegerField(),
            created_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            judge=models.ForeignKey("annotation.judge", models.CASCADE, related_name="samples"),
            trajectories=models.ManyToManyField("annotation.trajectory", related_name="samples"),
        ),
        options={"ordering": ("-created_at", "-pk")},
    ),
    migrations.CreateModel(
        "PredictionSet",
        columns(
            model=models.CharField(max_length=120),
            prompt_version=models.CharField(max_length=80, blank=True),
            judged_on=models.DateField(blank=True, null=True),
            cost=models.DecimalField(blank=True, null=True, max_digits=12, decimal_places=4),
            record_count=models.PositiveIntegerField(),
            labels=models.BinaryField(),
            created_at=models.DateTimeField(),
            updated_at=models.DateTimeField(),
            created_by=models.ForeignKey(USER, models.PROTECT, null=True, related_name="+"),
            release=models.ForeignKey("annotation.release", models.PROTECT, related_name="prediction_sets"),
            recalibrated=models.BinaryField(null=True),
            judge=models.ForeignKey(
                "annotation.judge", models.SET_NULL, blank=True, null=True, related_name="prediction_sets"
            ),
            unlabelled=models.BinaryField(null=True),
            powered=models.BinaryField(null=True),
        ),
        options={
            "ordering": ("release", "model"),
            "constraints": [models.UniqueConstraint(name="prediction_set_once", fields=("release", "model"))],
        },
    ),
    migrations.CreateModel(
        "PredictionReasons",
        columns(
            first=models.PositiveIntegerField(),
            last=models.PositiveIntegerField(),
            body=models.BinaryField(),
            prediction_set=models.ForeignKey(
                "annotation.predictionset", models.CASCADE, related_name="reasons", db_index=False
            ),
        ),
        options={
            "ordering": ("prediction_set", "first"),
            "indexes": [models.Index(name="prediction_reasons_by_set", fields=["prediction_set", "first"])],
        },
    ),
    migrations.CreateModel(
        "SuggestionRun",
        columns(
            **job(),
            selection=models.JSONField(blank=True, default=dict),
            estimate=models.JSONField(blank=True, default=dict),
            state=models.CharField(max_length=12, default="queued"),
            budget=models.DecimalField(blank=True, null=True, max_digits=14, decimal_places=6),
            cost=models.DecimalField(default=Decimal("0"), max_digits=18, decimal_places=10),
            cost_estimated=models.BooleanField(default=False),
            tokens_in=models.BigIntegerField(default=0),
            tokens_out=models.BigIntegerField(default=0),
            calls=models.BigIntegerField(default=0),
            clipped=models.BigIntegerField(default=0),
            labels_missing=models.BigIntegerField(default=0),
            labels_invalid=models.BigIntegerField(default=0),
            labels_extra=models.BigIntegerField(default=0),
            guideline_version=models.PositiveIntegerField(blank=True, null=True),
            deaths=models.PositiveSmallIntegerField(default=0),
            stop_reason=models.TextField(blank=True),
            resend_at=models.DateTimeField(blank=True, null=True),
            not_before=models.DateTimeField(blank=True, null=True),
            created_at=models.DateTimeField(),
            started_at=models.DateTimeField(blank=True, null=True),
            finished_at=models.DateTimeField(blank=True, null=True),
            created_by=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
            judge=models.ForeignKey("annotation.judge", models.CASCADE, related_name="runs"),
            project=models.ForeignKey("annotation.project", models.CASCADE, related_name="suggestion_runs"),
            labels_order_dependent=models.BigIntegerField(default=0),
            options=models.PositiveSmallIntegerField(blank=True, null=True),
            distractors=models.JSONField(blank=True, default=dict),
            prompts=models.ForeignKey(
                "annotation.promptset", models.PROTECT, blank=True, null=True, related_name="runs"
            ),
        ),
        options={
            "ordering": ("-created_at", "-pk"),
            "indexes": [models.Index(name="suggestion_run_by_project", fields=["project", "-created_at"])],
            "constraints": [
                models.UniqueConstraint(
                    name="suggestion_run_one_at_a_time",
                    fields=("judge",),
                    condition=Q(state__in=("queued", "running", "paused")),
                ),
                models.CheckConstraint(
                    name="suggestion_run_state_known",
                    condition=Q(
                        state__in=[
                            "queued",
                            "running",
                            "paused",
                            "cancelled",
                            "finished",
                            "stopped",
                            "over_budget",
                        ]
                    ),
                ),
                models.CheckConstraint(
                    name="suggestion_run_budget_positive", condition=Q(budget__isnull=True) | Q(budget__gt=0)
                ),
                models.UniqueConstraint(
                    name="suggestion_run_writes_one_at_a_time",
                    fields=("project",),
                    condition=Q(options__isnull=False, state__in=("queued", "running", "paused")),
                ),
                models.CheckConstraint(
                    name="suggestion_run_options_several",
                    condition=Q(options__isnull=True) | Q(options__gte=2),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "SuggestionItem",
        columns(
            state=models.CharField(max_length=8, default="due"),
            failure=models.CharField(max_length=40, blank=True),
            message=models.TextField(blank=True),
            run=models.ForeignKey(
                "annotation.suggestionrun", models.CASCADE, related_name="items", db_index=False
            ),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="+"),
        ),
        options={
            "ordering": ("run_id", "pk"),
            "indexes": [
                models.Index(name="suggestion_item_due", fields=["run", "id"], condition=Q(state="due")),
                models.Index(
                    name="suggestion_item_failed", fields=["run", "failure"], condition=Q(state="failed")
                ),
            ],
            "constraints": [
                models.UniqueConstraint(name="suggestion_item_once", fields=("run", "trajectory")),
                models.CheckConstraint(
                    name="suggestion_item_state_known", condition=Q(state__in=["due", "done", "failed"])
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "JudgeAnswer",
        fields(
            id=models.UUIDField(primary_key=True, default=uuid4, editable=False, serialize=False),
            attempt=models.PositiveIntegerField(default=1),
            request=models.BinaryField(),
            response=models.BinaryField(),
            response_size=models.BigIntegerField(default=0),
            status=models.PositiveSmallIntegerField(blank=True, null=True),
            failure=models.CharField(max_length=40, blank=True),
            message=models.TextField(blank=True),
            tokens_in=models.PositiveIntegerField(default=0),
            tokens_out=models.PositiveIntegerField(default=0),
            estimated=models.BooleanField(default=False),
            cost=models.DecimalField(default=Decimal("0"), max_digits=18, decimal_places=10),
            latency_ms=models.PositiveIntegerField(default=0),
            tries=models.PositiveSmallIntegerField(default=1),
            notes=models.JSONField(blank=True, default=dict),
            created_at=models.DateTimeField(),
            judge=models.ForeignKey("annotation.judge", models.CASCADE, related_name="answers"),
            run=models.ForeignKey(
                "annotation.suggestionrun", models.CASCADE, related_name="answers", db_index=False
            ),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="+"),
        ),
        options={
            "ordering": ("run_id", "created_at"),
            "indexes": [models.Index(name="answer_by_run", fields=["run", "trajectory"])],
        },
    ),
    migrations.CreateModel(
        "Suggestion",
        columns(
            outcome=models.SmallIntegerField(blank=True, null=True),
            reason=models.TextField(blank=True),
            comment=models.TextField(blank=True),
            source=models.CharField(max_length=255, blank=True),
            missing=models.PositiveIntegerField(default=0),
            invalid=models.PositiveIntegerField(default=0),
            extra=models.PositiveIntegerField(default=0),
            created_at=models.DateTimeField(),
            answer=models.OneToOneField(
                "annotation.judgeanswer", models.SET_NULL, blank=True, null=True, related_name="suggestion"
            ),
            judge=models.ForeignKey("annotation.judge", models.CASCADE, related_name="suggestions"),
            run=models.ForeignKey(
                "annotation.suggestionrun", models.SET_NULL, blank=True, null=True, related_name="suggestions"
            ),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="suggestions"),
            live=models.BooleanField(default=True),
            order_dependent=models.PositiveIntegerField(default=0),
        ),
        options={
            "indexes": [
                models.Index(
                    name="suggestion_not_live", fields=["judge", "created_at"], condition=Q(live=False)
                )
            ],
            "constraints": [
                models.UniqueConstraint(name="suggestion_once", fields=("judge", "trajectory")),
                models.CheckConstraint(
                    name="suggestion_outcome_known",
                    condition=Q(outcome__isnull=True) | Q(outcome__in=(-1, 0, 1)),
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "SuggestedLabel",
        columns(
            value=models.SmallIntegerField(blank=True, null=True),
            reason=models.TextField(blank=True),
            probability=models.FloatField(blank=True, null=True),
            step=models.ForeignKey("annotation.step", models.CASCADE, related_name="+"),
            suggestion=models.ForeignKey(
                "annotation.suggestion", models.CASCADE, related_name="labels", db_index=False
            ),
            recalibrated=models.SmallIntegerField(blank=True, null=True),
        ),
        options={
            "constraints": [
                models.UniqueConstraint(name="suggested_label_once", fields=("suggestion", "step")),
                models.CheckConstraint(
                    name="suggested_label_value_known",
                    condition=Q(value__isnull=True) | Q(value__in=(-1, 0, 1)),
                ),
                models.CheckConstraint(
                    name="suggested_label_probability_in_range",
                    condition=Q(probability__isnull=True) | Q(probability__gte=0, probability__lte=1),
                ),
                models.CheckConstraint(
                    name="suggested_label_recalibrated_known",
                    condition=Q(recalibrated__isnull=True) | Q(recalibrated__in=(-1, 0, 1)),
                ),
            ]
        },
    ),
    migrations.CreateModel(
        "Correction",
        columns(
            state=models.CharField(max_length=12, default="open"),
            answer=models.CharField(max_length=16, blank=True),
            origin=models.CharField(max_length=12, blank=True),
            message=models.TextField(blank=True),
            error_class=models.CharField(max_length=24, blank=True),
            reason=models.TextField(blank=True),
            version=models.PositiveIntegerField(default=0),
            proposals_seen_at=models.DateTimeField(blank=True, null=True),
            created_at=models.DateTimeField(),
            saved_at=models.DateTimeField(blank=True, null=True),
            author=models.ForeignKey(
                USER, models.PROTECT, blank=True, null=True, related_name="+", db_index=False
            ),
            judge=models.ForeignKey(
                "annotation.judge", models.CASCADE, blank=True, null=True, related_name="+"
            ),
            project=models.ForeignKey(
                "annotation.project", models.CASCADE, related_name="corrections", db_index=False
            ),
            sibling=models.ForeignKey(
                "annotation.step", models.SET_NULL, blank=True, null=True, related_name="+", db_index=False
            ),
            step=models.ForeignKey("annotation.step", models.CASCADE, related_name="corrections"),
            trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="corrections"),
        ),
        options={
            "ordering": ("-pk",),
            "indexes": [models.Index(name="correction_by_state", fields=["project", "state", "-id"])],
            "constraints": [
                models.UniqueConstraint(
                    name="correction_active_once", fields=("step",), condition=Q(state__in=["open", "saved"])
                ),
                models.UniqueConstraint(
                    name="correction_proposed_once",
                    fields=("step", "judge"),
                    condition=Q(judge__isnull=False),
                ),
                models.UniqueConstraint(
                    name="correction_open_once_a_person",
                    fields=("author", "project"),
                    condition=Q(state="open"),
                ),
                models.CheckConstraint(
                    name="correction_of_a_person_or_judge",
                    condition=(Q(author__isnull=False) & Q(judge__isnull=True) & ~Q(state="proposed"))
                    | Q(author__isnull=True, judge__isnull=False, state="proposed"),
                ),
                models.CheckConstraint(
                    name="correction_action_has_a_message",
                    condition=(Q(answer="action") & ~Q(message="") & ~Q(origin=""))
                    | (Q(message="") & Q(origin="") & ~Q(answer="action")),
                ),
                models.CheckConstraint(
                    name="correction_sibling_fits", condition=Q(sibling__isnull=True) | Q(origin="sibling")
                ),
                models.CheckConstraint(
                    name="correction_saved_has_an_answer",
                    condition=Q(answer="", saved_at__isnull=True, state="open")
                    | Q(answer="", saved_at__isnull=True, state="withdrawn")
                    | (~Q(answer="") & Q(saved_at__isnull=False)),
                ),
                models.CheckConstraint(
                    name="correction_words_known",
                    condition=Q(state__in=["open", "saved", "withdrawn", "proposed"])
                    & Q(answer__in=["", "action", "nothing_wrong", "no_right_action"])
                    & Q(origin__in=["", "sibling", "edited", "written", "judge"])
                    & Q(
                        error_class__in=[
                            "",
                            "wrong_tool",
                            "wrong_parameters",
                            "should_have_answered",
                            "should_have_called",
                        ]
                    ),
                ),
            ],
        },
    ),
]


class Migration(migrations.Migration):
    # the other apps, so that theirs come before there are many models to make anew for each of their operations
    dependencies = [
        ("annotation", "0001_user"),
        ("account", "0009_emailaddress_unique_primary_email"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("axes", "0010_accessattemptexpiration"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("sessions", "0001_initial"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    replaces = [
        ("annotation", "0002_audit_chain"),
        ("annotation", "0003_queue_by_chance"),
        ("annotation", "0004_token_scopes"),
        ("annotation", "0005_notice_revision"),
        ("annotation", "0006_label_imports"),
        ("annotation", "0007_admin_remark"),
        ("annotation", "0008_outside_numbers"),
        ("annotation", "0009_saved_views"),
        ("annotation", "0010_tags"),
        ("annotation", "0011_third_rechecks"),
        ("annotation", "0012_label_audits"),
        ("annotation", "0013_second_reader"),
        ("annotation", "0014_unlabelled_part"),
        ("annotation", "0015_project_kind"),
        ("annotation", "0016_order_dependent_labels"),
        ("annotation", "0017_corrections"),
        ("annotation", "0018_judges_first"),
        ("annotation", "0019_freeze_difficulty"),
        ("annotation", "0020_exposure_to_source"),
        ("annotation", "0021_replaced_item"),
        ("annotation", "0022_distractor_runs"),
        ("annotation", "0023_prompt_sets"),
        ("annotation", "0024_runs_over_prompts"),
        ("annotation", "0025_training"),
        ("annotation", "0026_qualifications"),
        ("annotation", "0027_reservations"),
        ("annotation", "0028_meetings"),
        ("annotation", "0029_crowd"),
        ("annotation", "0030_gold"),
        ("annotation", "0031_quotas_and_days_away"),
        ("annotation", "0032_active_time"),
        ("annotation", "0033_turns_of_subsets"),
        ("annotation", "0034_test_items"),
        ("annotation", "0035_find_neighbours_by_index"),
        ("annotation", "0036_active_time_summed"),
        ("annotation", "0037_pay_of_members"),
        ("annotation", "0038_webhooks"),
        ("annotation", "0039_second_looks"),
        ("annotation", "0040_connections"),
        ("annotation", "0042_stores"),
        ("annotation", "0043_sign_in_through_organisations"),
        ("annotation", "0045_count_by_index"),
    ]

    operations = [
        CreateTables(TABLES),
        migrations.RunPython(keep, give_up),
    ]
