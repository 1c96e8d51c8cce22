"""Every table, with the triggers that keep releases frozen.

Stands for the 28 migrations from before 0.1.0 (docs/operations.md, "Upgrading"); columns have the order in which
those added them.
"""

from decimal import Decimal
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import UserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models import F, Q
from django.utils import timezone

from annotation.models import frozen
from annotation.models.consensus import new_letter_seed
from annotation.models.projects import new_recheck_seed

USER = settings.AUTH_USER_MODEL


def fields(**by_name):
    return list(by_name.items())


def columns(**by_name):
    key = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
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


def freeze_releases(apps, schema_editor):
    frozen.install(schema_editor.connection, frozen.RELEASES)


def lift_the_freeze(apps, schema_editor):
    frozen.lift(schema_editor.connection, frozen.RELEASES)


class Migration(migrations.Migration):
    initial = True

    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    replaces = [
        ("annotation", "0001_first_release"),
        ("annotation", "0002_letters_of_cases"),
        ("annotation", "0003_claims_that_expire"),
        ("annotation", "0004_frozen_from_outside"),
        ("annotation", "0005_invitations_that_are_answered"),
        ("annotation", "0006_signatures"),
        ("annotation", "0007_staged_releases"),
        ("annotation", "0008_suggestions_that_become_live"),
        ("annotation", "0009_paired_labels"),
        ("annotation", "0010_lists_and_first_steps"),
        ("annotation", "0011_disputes_by_kind"),
        ("annotation", "0012_discussions"),
        ("annotation", "0013_rechecks"),
        ("annotation", "0014_examples"),
        ("annotation", "0015_notices_of_claims_and_cases"),
        ("annotation", "0016_predictions"),
        ("annotation", "0017_looks_again"),
        ("annotation", "0018_fitted_predictions"),
        ("annotation", "0019_judges_scored_on_releases"),
        ("annotation", "0020_blind_labellings"),
        ("annotation", "0021_recheck_indexes_of_rechecks_alone"),
        ("annotation", "0022_public_releases"),
        ("annotation", "0023_releases_frozen_in_the_background"),
        ("annotation", "0024_keep_what_formats_say"),
        ("annotation", "0025_tasks_in_standalone_turns"),
        ("annotation", "0026_recalibrated_suggestions"),
        ("annotation", "0027_arms_of_people"),
        ("annotation", "0028_prompt_workshop"),
    ]

    operations = [
        migrations.CreateModel(
            "User",
            columns(
                password=models.CharField("password", max_length=128),
                last_login=models.DateTimeField("last login", blank=True, null=True),
                is_superuser=models.BooleanField(
                    "superuser status",
                    default=False,
                    help_text="Designates that this user has all permissions without explicitly assigning them.",
                ),
                username=models.CharField(
                    "username",
                    max_length=150,
                    unique=True,
                    help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                    validators=[UnicodeUsernameValidator()],
                    error_messages={"unique": "A user with that username already exists."},
                ),
                first_name=models.CharField("first name", max_length=150, blank=True),
                last_name=models.CharField("last name", max_length=150, blank=True),
                email=models.EmailField("email address", max_length=254, blank=True),
                is_staff=models.BooleanField(
                    "staff status",
                    default=False,
                    help_text="Designates whether the user can log into this admin site.",
                ),
                is_active=models.BooleanField(
                    "active",
                    default=True,
                    help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                ),
                date_joined=models.DateTimeField("date joined", default=timezone.now),
                display_name=models.CharField("display name", max_length=120, blank=True),
                time_zone=models.CharField("time zone", max_length=64, blank=True),
                language=models.CharField("language", max_length=16, blank=True),
                keymap=models.JSONField("keys", blank=True, default=dict),
                theme=models.CharField(
                    "theme",
                    max_length=8,
                    blank=True,
                    default="",
                    choices=[("", "Follow the system"), ("light", "Light"), ("dark", "Dark")],
                ),
                groups=models.ManyToManyField(
                    "auth.group",
                    verbose_name="groups",
                    blank=True,
                    help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                    related_name="user_set",
                    related_query_name="user",
                ),
                user_permissions=models.ManyToManyField(
                    "auth.permission",
                    verbose_name="user permissions",
                    blank=True,
                    help_text="Specific permissions for this user.",
                    related_name="user_set",
                    related_query_name="user",
                ),
                mail_notices=models.BooleanField("mail me notices", default=True),
            ),
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
            },
            managers=[("objects", UserManager())],
        ),
        migrations.CreateModel(
            "ApiToken",
            columns(
                name=models.CharField("name", max_length=80),
                prefix=models.CharField(
                    max_length=12, help_text="The first characters, to tell tokens apart."
                ),
                digest=models.CharField(max_length=64, unique=True),
                created_at=models.DateTimeField(),
                expires_at=models.DateTimeField(blank=True, null=True),
                last_used_at=models.DateTimeField(blank=True, null=True),
                revoked_at=models.DateTimeField(blank=True, null=True),
                user=models.ForeignKey(USER, models.CASCADE, related_name="api_tokens"),
            ),
            options={
                "ordering": ("-created_at",),
                "constraints": [
                    models.CheckConstraint(
                        name="apitoken_expires_after_creation",
                        condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
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
                show_reference_answer=models.BooleanField(
                    "annotators see the reference answer", default=True
                ),
                show_reward_hints=models.BooleanField("annotators see reward hints", default=False),
                carry_forward=models.BooleanField("propose +1 after an explicit +1", default=False),
                experiment_seed=models.PositiveBigIntegerField(
                    "seed of the experiment", blank=True, null=True
                ),
                triage_seed=models.PositiveBigIntegerField("seed of triage", blank=True, null=True),
                triage_batch_size=models.PositiveSmallIntegerField(
                    "batch size of triage",
                    default=25,
                    validators=[MinValueValidator(1), MaxValueValidator(1000)],
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
                recheck_percent=models.PositiveSmallIntegerField(
                    "percent of resolved trajectories that a third person labels",
                    default=5,
                    validators=[MaxValueValidator(100)],
                ),
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
                        name="project_claim_limit_in_range",
                        condition=Q(claim_limit__gte=1, claim_limit__lte=100),
                    ),
                    models.CheckConstraint(
                        name="project_claim_days_in_range",
                        condition=Q(claim_days__isnull=True) | Q(claim_days__gte=1, claim_days__lte=365),
                    ),
                    models.CheckConstraint(
                        name="project_rechecks_in_range",
                        condition=Q(recheck_percent__lte=100, retest_percent__lte=100),
                    ),
                    models.CheckConstraint(
                        name="project_retest_days_in_range",
                        condition=Q(retest_days__gte=1, retest_days__lte=365),
                    ),
                    models.CheckConstraint(
                        name="project_experiment_known",
                        condition=Q(experiment_arms__in=(2, 3), experiment_unit="annotator")
                        | Q(experiment_arms=3, experiment_unit="task"),
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
                    ),
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
                    models.UniqueConstraint(name="guideline_version_once", fields=("project", "version")),
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
            ),
            options={
                "ordering": ("project", "user"),
                "constraints": [
                    models.UniqueConstraint(name="membership_once", fields=("project", "user")),
                    models.CheckConstraint(
                        name="membership_has_a_role",
                        condition=Q(is_annotator=True) | Q(is_adjudicator=True) | Q(is_admin=True),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            "Subset",
            columns(
                name=models.SlugField("name", max_length=64),
                suspend_on_user_turn=models.BooleanField(
                    "a user message suspends an error run", default=False
                ),
                created_at=models.DateTimeField(),
                project=models.ForeignKey("annotation.project", models.CASCADE, related_name="subsets"),
            ),
            options={
                "ordering": ("project", "name"),
                "constraints": [
                    models.UniqueConstraint(name="subset_name_once", fields=("project", "name")),
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
                subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="imports"),
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
            options={
                "constraints": [
                    models.UniqueConstraint(name="task_key_once", fields=("subset", "key")),
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
                actor=models.ForeignKey(USER, models.SET_NULL, null=True, related_name="+"),
                project=models.ForeignKey(
                    "annotation.project", models.SET_NULL, blank=True, null=True, related_name="audit_events"
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
            "Stratum",
            columns(
                origin=models.CharField(max_length=12),
                doubt=models.CharField(max_length=12),
                considered=models.PositiveIntegerField(default=0),
                project=models.ForeignKey(
                    "annotation.project", models.CASCADE, related_name="+", db_index=False
                ),
                subset=models.ForeignKey(
                    "annotation.subset", models.CASCADE, related_name="+", db_index=False
                ),
            ),
            options={
                "constraints": [
                    models.UniqueConstraint(
                        name="stratum_once", fields=("project", "subset", "origin", "doubt")
                    ),
                    models.CheckConstraint(
                        name="stratum_origin_known",
                        condition=Q(origin__in=["unanimous", "discussed", "adjudicated"]),
                    ),
                    models.CheckConstraint(
                        name="stratum_doubt_known", condition=Q(doubt__in=["unknown", "agreed", "differed"])
                    ),
                ],
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
                source=models.ForeignKey(
                    "annotation.importfile", models.CASCADE, related_name="trajectories"
                ),
                subset=models.ForeignKey("annotation.subset", models.CASCADE, related_name="trajectories"),
                task=models.ForeignKey("annotation.task", models.CASCADE, related_name="trajectories"),
                agreement=models.FloatField(blank=True, null=True),
                doubt=models.FloatField(blank=True, null=True),
                stratum=models.ForeignKey(
                    "annotation.stratum",
                    models.SET_NULL,
                    blank=True,
                    null=True,
                    related_name="+",
                    db_index=False,
                ),
            ),
            options={
                "verbose_name_plural": "trajectories",
                "ordering": ("position", "pk"),
                "indexes": [
                    models.Index(
                        name="trajectory_claimable",
                        fields=["project", "position"],
                        condition=Q(free_slots__gt=0, live=True),
                    ),
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
                ],
                "constraints": [
                    models.UniqueConstraint(
                        name="trajectory_record_live_once",
                        fields=("subset", "record_id"),
                        condition=Q(live=True),
                    ),
                    models.UniqueConstraint(
                        name="trajectory_record_once_per_import", fields=("source", "record_id")
                    ),
                    models.CheckConstraint(
                        name="trajectory_free_slots_not_negative", condition=Q(free_slots__gte=0)
                    ),
                    models.CheckConstraint(name="trajectory_has_a_step", condition=Q(step_count__gte=1)),
                    models.CheckConstraint(
                        name="trajectory_state_known",
                        condition=Q(state__in=["labelling", "unanimous", "disputed", "adjudicated"]),
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
                    models.UniqueConstraint(name="step_once", fields=("trajectory", "message_index")),
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
                project=models.ForeignKey(
                    "annotation.project", models.CASCADE, related_name="+", db_index=False
                ),
                second=models.ForeignKey(USER, models.PROTECT, related_name="+", db_index=False),
                subset=models.ForeignKey(
                    "annotation.subset", models.CASCADE, related_name="+", db_index=False
                ),
                task=models.ForeignKey("annotation.task", models.CASCADE, related_name="+", db_index=False),
                trajectory=models.ForeignKey(
                    "annotation.trajectory", models.CASCADE, related_name="+", db_index=False
                ),
            ),
            options={
                "ordering": ("pk",),
                "indexes": [
                    models.Index(name="paired_labels_by_project", fields=["project", "id"]),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        name="paired_labels_once", fields=("trajectory", "first", "second")
                    ),
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
                trajectory=models.ForeignKey(
                    "annotation.trajectory", models.CASCADE, related_name="consensus"
                ),
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
                        name="consensus_kind_known",
                        condition=Q(kind__in=["unanimous", "discussed", "adjudicated", "majority"]),
                    ),
                    models.CheckConstraint(
                        name="consensus_root_of_errors_only", condition=Q(value=-1) | Q(root__isnull=True)
                    ),
                ],
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
                "constraints": [
                    models.CheckConstraint(
                        name="outcome_consensus_value_known", condition=Q(value__in=(-1, 0, 1))
                    ),
                    models.CheckConstraint(
                        name="outcome_consensus_kind_known",
                        condition=Q(kind__in=["unanimous", "discussed", "adjudicated", "majority"]),
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
                "indexes": [
                    models.Index(name="adjudication_mine", fields=["adjudicator", "project", "state"]),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        name="adjudication_once",
                        fields=("trajectory",),
                        condition=Q(state__in=["open", "decided"]),
                    ),
                    models.CheckConstraint(
                        name="adjudication_state_known",
                        condition=Q(state__in=["open", "decided", "released"]),
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
                        name="decision_of_outcome_once",
                        fields=("adjudication",),
                        condition=Q(step__isnull=True),
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
                adjudication=models.ForeignKey(
                    "annotation.adjudication", models.CASCADE, related_name="events"
                ),
                step=models.ForeignKey(
                    "annotation.step", models.CASCADE, blank=True, null=True, related_name="+", db_index=False
                ),
            ),
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.CheckConstraint(
                        name="case_event_kind_known",
                        condition=Q(kind__in=["decision", "withdrawal", "erasure"]),
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
                project=models.ForeignKey(
                    "annotation.project", models.CASCADE, related_name="+", db_index=False
                ),
                trajectory=models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="+"),
            ),
            options={
                "ordering": ("pk",),
                "indexes": [
                    models.Index(
                        name="recheck_waiting",
                        fields=["annotator", "project", "due_at"],
                        condition=Q(state="waiting"),
                    ),
                    models.Index(
                        name="recheck_dealt", fields=["dealt_at"], condition=Q(kind="third", state="waiting")
                    ),
                    models.Index(name="recheck_by_project", fields=["project", "kind", "state"]),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        name="recheck_third_once", fields=("trajectory",), condition=Q(kind="third")
                    ),
                    models.UniqueConstraint(
                        name="recheck_retest_once",
                        fields=("trajectory", "annotator"),
                        condition=Q(kind="retest"),
                    ),
                    models.CheckConstraint(
                        name="recheck_kind_known", condition=Q(kind__in=["third", "retest"])
                    ),
                    models.CheckConstraint(
                        name="recheck_state_known", condition=Q(state__in=["waiting", "claimed", "done"])
                    ),
                    models.CheckConstraint(
                        name="recheck_retest_has_annotator",
                        condition=Q(kind="third") | Q(annotator__isnull=False),
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
                trajectory=models.ForeignKey(
                    "annotation.trajectory", models.CASCADE, related_name="assignments"
                ),
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
                    models.Index(
                        name="assignment_mine", fields=["annotator", "project", "state", "-claimed_at"]
                    ),
                    models.Index(name="assignment_by_state", fields=["project", "state"]),
                    models.Index(
                        name="assignment_unused", fields=["last_used_at"], condition=Q(state="open")
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        name="assignment_slot_once",
                        fields=("trajectory", "slot"),
                        condition=Q(state__in=("open", "submitted")),
                    ),
                    models.UniqueConstraint(
                        name="assignment_claim_key_once", fields=("annotator", "claim_key")
                    ),
                    models.CheckConstraint(
                        name="assignment_state_known",
                        condition=Q(state__in=["open", "submitted", "returned", "expired"]),
                    ),
                    models.CheckConstraint(
                        name="assignment_submitted_has_time",
                        condition=~Q(state="submitted") | Q(submitted_at__isnull=False),
                    ),
                    models.CheckConstraint(
                        name="assignment_expired_has_reason",
                        condition=Q(expiry_reason__in=["left", "taken_back", "unused"], state="expired")
                        | (~Q(state="expired") & Q(expiry_reason="")),
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
                assignment=models.OneToOneField(
                    "annotation.assignment", models.CASCADE, related_name="outcome"
                ),
            ),
            options={
                "constraints": [
                    models.CheckConstraint(
                        name="outcome_value_known", condition=Q(value__isnull=True) | Q(value__in=(-1, 0, 1))
                    ),
                ],
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
            options={
                "ordering": ("pk",),
            },
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
                "constraints": [
                    models.UniqueConstraint(name="operation_once", fields=("assignment", "op_id")),
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
                trajectory=models.ForeignKey(
                    "annotation.trajectory", models.CASCADE, related_name="exposures"
                ),
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
                        name="exposure_kind_known", condition=Q(kind__in=["suggestion", "consensus", "label"])
                    ),
                ],
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
                "indexes": [
                    models.Index(name="discussion_newest", fields=["project", "-changed_at"]),
                ],
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
                "indexes": [
                    models.Index(name="comment_in_order", fields=["discussion", "id"]),
                ],
                "constraints": [
                    models.CheckConstraint(
                        name="comment_voice_known",
                        condition=Q(voice__in=["annotator", "adjudicator", "admin"]),
                    ),
                ],
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
                "indexes": [
                    models.Index(name="revision_in_order", fields=["assignment", "step", "id"]),
                ],
                "constraints": [
                    models.CheckConstraint(name="revision_value_known", condition=Q(value__in=(-1, 0, 1))),
                    models.CheckConstraint(
                        name="revision_root_of_errors_only", condition=Q(value=-1) | Q(root__isnull=True)
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            "ThreadRead",
            columns(
                last_read=models.PositiveBigIntegerField(),
                discussion=models.ForeignKey(
                    "annotation.discussion", models.CASCADE, related_name="read_marks"
                ),
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
                ],
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
                project=models.ForeignKey(
                    "annotation.project", models.CASCADE, related_name="+", db_index=False
                ),
                subset=models.ForeignKey(
                    "annotation.subset", models.CASCADE, related_name="+", db_index=False
                ),
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
                "indexes": [
                    models.Index(name="release_label_by_value", fields=["release", "value"]),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        name="release_label_once",
                        fields=("record", "message_index"),
                        condition=Q(message_index__isnull=False),
                    ),
                    models.UniqueConstraint(
                        name="release_outcome_once",
                        fields=("record",),
                        condition=Q(message_index__isnull=True),
                    ),
                    models.CheckConstraint(
                        name="release_label_value_known", condition=Q(value__in=(-1, 0, 1))
                    ),
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
            ),
            options={
                "ordering": ("-created_at", "-pk"),
                "indexes": [
                    models.Index(name="freeze_by_project", fields=["project", "-created_at"]),
                ],
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
                        name="judge_concurrency_in_range",
                        condition=Q(concurrency__gte=1, concurrency__lte=64),
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
            options={
                "ordering": ("-created_at", "-pk"),
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
            ),
            options={
                "db_table": "annotation_lookagain",
                "ordering": ("pk",),
                "indexes": [
                    models.Index(name="look_again_by_batch", fields=["project", "batch"]),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        name="look_again_waiting_once",
                        fields=("assignment",),
                        condition=Q(begun_at__isnull=True),
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
                            ]
                        ),
                    ),
                    models.CheckConstraint(
                        name="notice_about_one_thing",
                        condition=Q(
                            adjudication__isnull=True, assignment__isnull=True, discussion__isnull=False
                        )
                        | Q(adjudication__isnull=True, assignment__isnull=False, discussion__isnull=True)
                        | Q(adjudication__isnull=False, assignment__isnull=True, discussion__isnull=True),
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
            ),
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
                release=models.ForeignKey(
                    "annotation.release", models.PROTECT, related_name="prediction_sets"
                ),
                recalibrated=models.BinaryField(null=True),
                judge=models.ForeignKey(
                    "annotation.judge", models.SET_NULL, blank=True, null=True, related_name="prediction_sets"
                ),
            ),
            options={
                "ordering": ("release", "model"),
                "constraints": [
                    models.UniqueConstraint(name="prediction_set_once", fields=("release", "model")),
                ],
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
                "indexes": [
                    models.Index(name="prediction_reasons_by_set", fields=["prediction_set", "first"]),
                ],
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
                project=models.ForeignKey(
                    "annotation.project", models.CASCADE, related_name="suggestion_runs"
                ),
            ),
            options={
                "ordering": ("-created_at", "-pk"),
                "indexes": [
                    models.Index(name="suggestion_run_by_project", fields=["project", "-created_at"]),
                ],
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
                        name="suggestion_run_budget_positive",
                        condition=Q(budget__isnull=True) | Q(budget__gt=0),
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
                "indexes": [
                    models.Index(name="answer_by_run", fields=["run", "trajectory"]),
                ],
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
                    "annotation.judgeanswer",
                    models.SET_NULL,
                    blank=True,
                    null=True,
                    related_name="suggestion",
                ),
                judge=models.ForeignKey("annotation.judge", models.CASCADE, related_name="suggestions"),
                run=models.ForeignKey(
                    "annotation.suggestionrun",
                    models.SET_NULL,
                    blank=True,
                    null=True,
                    related_name="suggestions",
                ),
                trajectory=models.ForeignKey(
                    "annotation.trajectory", models.CASCADE, related_name="suggestions"
                ),
                live=models.BooleanField(default=True),
            ),
            options={
                "indexes": [
                    models.Index(
                        name="suggestion_not_live", fields=["judge", "created_at"], condition=Q(live=False)
                    ),
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
                ],
            },
        ),
        migrations.AddField(
            "Judge",
            "sample",
            models.ForeignKey(
                "annotation.workshopsample", models.CASCADE, blank=True, null=True, related_name="trials"
            ),
        ),
        migrations.RunPython(freeze_releases, lift_the_freeze),
    ]
