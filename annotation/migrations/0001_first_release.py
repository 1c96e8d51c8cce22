"""Every table of 0.1.0, with the triggers that keep releases frozen.

Takes the place of the four migrations from before the first tagged version: a database on which all four
have run counts as migrated, one on which only some have run must first be brought to the last of them.
"""

import uuid
from decimal import Decimal

import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation.models import frozen


def freeze_releases(apps, schema_editor):
    frozen.install(schema_editor.connection)


def lift_the_freeze(apps, schema_editor):
    frozen.lift(schema_editor.connection)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("annotation", "0001_initial"),
        ("annotation", "0002_frozen_releases"),
        ("annotation", "0003_judges_and_runs"),
        ("annotation", "0004_experiment_and_triage"),
    ]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Step",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("message_index", models.PositiveIntegerField()),
                ("ordinal", models.PositiveIntegerField()),
                ("after_user_turn", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ("trajectory_id", "message_index"),
            },
        ),
        migrations.CreateModel(
            name="Trajectory",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("record_id", models.CharField(max_length=255)),
                ("data_source", models.CharField(blank=True, max_length=255)),
                ("query_index", models.BigIntegerField(blank=True, null=True)),
                ("sample_index", models.BigIntegerField(blank=True, null=True)),
                ("policy_model", models.CharField(blank=True, max_length=120)),
                ("content_digest", models.CharField(max_length=64)),
                ("message_count", models.PositiveIntegerField()),
                ("step_count", models.PositiveIntegerField()),
                ("line", models.PositiveIntegerField(default=0)),
                ("live", models.BooleanField(default=False)),
                ("position", models.BigIntegerField()),
                ("free_slots", models.SmallIntegerField()),
                ("state", models.CharField(default="labelling", max_length=12)),
            ],
            options={
                "verbose_name_plural": "trajectories",
                "ordering": ("position", "pk"),
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined"),
                ),
                ("display_name", models.CharField(blank=True, max_length=120, verbose_name="display name")),
                ("time_zone", models.CharField(blank=True, max_length=64, verbose_name="time zone")),
                ("language", models.CharField(blank=True, max_length=16, verbose_name="language")),
                ("keymap", models.JSONField(blank=True, default=dict, verbose_name="keys")),
                (
                    "theme",
                    models.CharField(
                        blank=True,
                        choices=[("", "Follow the system"), ("light", "Light"), ("dark", "Dark")],
                        default="",
                        max_length=8,
                        verbose_name="theme",
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="Judge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("openai_compatible", "openai_compatible"),
                            ("baseline", "baseline"),
                            ("imported", "imported"),
                        ],
                        max_length=40,
                        verbose_name="kind",
                    ),
                ),
                ("model", models.CharField(blank=True, max_length=200, verbose_name="model")),
                ("base_url", models.CharField(blank=True, max_length=500, verbose_name="address")),
                (
                    "key_name",
                    models.CharField(
                        blank=True, max_length=120, verbose_name="environment variable of the key"
                    ),
                ),
                ("sampling", models.JSONField(blank=True, default=dict, verbose_name="sampling parameters")),
                (
                    "structured_output",
                    models.CharField(default="auto", max_length=16, verbose_name="structured output"),
                ),
                (
                    "with_reference",
                    models.BooleanField(default=False, verbose_name="sees the reference answer"),
                ),
                (
                    "context_tokens",
                    models.PositiveIntegerField(
                        default=32768,
                        validators=[django.core.validators.MinValueValidator(1024)],
                        verbose_name="context window in tokens",
                    ),
                ),
                (
                    "price_input",
                    models.DecimalField(
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=12,
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="price of input",
                    ),
                ),
                (
                    "price_output",
                    models.DecimalField(
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=12,
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="price of output",
                    ),
                ),
                (
                    "price_cached",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="price of cached input",
                    ),
                ),
                (
                    "rate_per_minute",
                    models.PositiveIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="calls per minute",
                    ),
                ),
                (
                    "concurrency",
                    models.PositiveSmallIntegerField(
                        default=4,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(64),
                        ],
                        verbose_name="calls at once",
                    ),
                ),
                (
                    "timeout_seconds",
                    models.PositiveIntegerField(
                        default=180,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(3600),
                        ],
                        verbose_name="longest call in seconds",
                    ),
                ),
                (
                    "prompt_version",
                    models.CharField(blank=True, max_length=40, verbose_name="prompt version"),
                ),
                ("details", models.JSONField(blank=True, default=dict)),
                ("next_call_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("project", "name"),
            },
        ),
        migrations.CreateModel(
            name="JudgeAnswer",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("attempt", models.PositiveIntegerField(default=1)),
                ("request", models.BinaryField()),
                ("response", models.BinaryField()),
                ("response_size", models.BigIntegerField(default=0)),
                ("status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("message", models.TextField(blank=True)),
                ("tokens_in", models.PositiveIntegerField(default=0)),
                ("tokens_out", models.PositiveIntegerField(default=0)),
                ("estimated", models.BooleanField(default=False)),
                ("cost", models.DecimalField(decimal_places=10, default=Decimal("0"), max_digits=18)),
                ("latency_ms", models.PositiveIntegerField(default=0)),
                ("tries", models.PositiveSmallIntegerField(default=1)),
                ("notes", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField()),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="annotation.judge",
                    ),
                ),
            ],
            options={
                "ordering": ("run_id", "created_at"),
            },
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=64, unique=True, verbose_name="slug")),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                ("description", models.TextField(blank=True, verbose_name="description")),
                (
                    "annotators_per_trajectory",
                    models.PositiveSmallIntegerField(
                        default=2,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(9),
                        ],
                        verbose_name="annotators per trajectory",
                    ),
                ),
                (
                    "suggestion_policy",
                    models.CharField(
                        choices=[
                            ("after_label", "after_label"),
                            ("after_submit", "after_submit"),
                            ("always", "always"),
                            ("never", "never"),
                        ],
                        default="after_label",
                        max_length=16,
                        verbose_name="when annotators see suggestions",
                    ),
                ),
                (
                    "show_reference_answer",
                    models.BooleanField(default=True, verbose_name="annotators see the reference answer"),
                ),
                (
                    "show_reward_hints",
                    models.BooleanField(default=False, verbose_name="annotators see reward hints"),
                ),
                (
                    "carry_forward",
                    models.BooleanField(default=False, verbose_name="propose +1 after an explicit +1"),
                ),
                (
                    "experiment_seed",
                    models.PositiveBigIntegerField(
                        blank=True, null=True, verbose_name="seed of the experiment"
                    ),
                ),
                (
                    "triage_seed",
                    models.PositiveBigIntegerField(blank=True, null=True, verbose_name="seed of triage"),
                ),
                (
                    "triage_batch_size",
                    models.PositiveSmallIntegerField(
                        default=25,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1000),
                        ],
                        verbose_name="batch size of triage",
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("name", "pk"),
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("is_annotator", models.BooleanField(default=False, verbose_name="annotator")),
                ("is_adjudicator", models.BooleanField(default=False, verbose_name="adjudicator")),
                ("is_admin", models.BooleanField(default=False, verbose_name="admin")),
                ("claim_cursor", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("project", "user"),
            },
        ),
        migrations.AddField(
            model_name="judge",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="judges", to="annotation.project"
            ),
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="e-mail address")),
                ("is_annotator", models.BooleanField(default=False, verbose_name="annotator")),
                ("is_adjudicator", models.BooleanField(default=False, verbose_name="adjudicator")),
                ("is_admin", models.BooleanField(default=False, verbose_name="admin")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at",),
            },
        ),
        migrations.CreateModel(
            name="Guideline",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("text", models.TextField(blank=True, verbose_name="guidelines")),
                ("created_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="guidelines",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("project", "-version"),
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("verb", models.CharField(max_length=60)),
                ("object_type", models.CharField(blank=True, max_length=40)),
                ("object_id", models.CharField(blank=True, max_length=64)),
                ("detail", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField()),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="audit_events",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slot", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("state", models.CharField(default="open", max_length=12)),
                ("guideline_version", models.PositiveIntegerField(default=0)),
                ("claim_key", models.CharField(blank=True, max_length=64, null=True)),
                ("return_reason", models.TextField(blank=True)),
                ("needs_discussion", models.BooleanField(default=False)),
                ("broken", models.BooleanField(default=False)),
                ("active_ms", models.PositiveBigIntegerField(default=0)),
                ("imported", models.BooleanField(default=False)),
                ("claimed_at", models.DateTimeField()),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("returned_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-claimed_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="Adjudication",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(default="open", max_length=12)),
                ("note", models.TextField(blank=True)),
                ("opened_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "adjudicator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="adjudications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="adjudications",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-opened_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("number", models.PositiveIntegerField()),
                ("version", models.CharField(max_length=40)),
                ("note", models.TextField(blank=True)),
                ("digest", models.CharField(max_length=64)),
                ("record_count", models.PositiveIntegerField()),
                ("label_count", models.PositiveIntegerField()),
                ("manifest", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="releases",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("project", "-number"),
            },
        ),
        migrations.CreateModel(
            name="ReleaseRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ordinal", models.PositiveIntegerField()),
                ("subset", models.CharField(max_length=64)),
                ("record_id", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("body", models.BinaryField()),
                (
                    "release",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="records",
                        to="annotation.release",
                    ),
                ),
            ],
            options={
                "ordering": ("release", "ordinal"),
            },
        ),
        migrations.CreateModel(
            name="ReleaseLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("message_index", models.PositiveIntegerField(blank=True, null=True)),
                ("value", models.SmallIntegerField()),
                ("kind", models.CharField(max_length=12)),
                (
                    "release",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="labels",
                        to="annotation.release",
                    ),
                ),
                (
                    "record",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="labels",
                        to="annotation.releaserecord",
                    ),
                ),
            ],
            options={
                "ordering": ("record", "message_index"),
            },
        ),
        migrations.CreateModel(
            name="ReleaseWithdrawal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("reason", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="withdrawal",
                        to="annotation.release",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SaveOperation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("op_id", models.CharField(max_length=64)),
                ("digest", models.CharField(max_length=64)),
                ("results", models.JSONField(default=list)),
                ("created_at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="operations",
                        to="annotation.assignment",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LabelEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("op_id", models.CharField(blank=True, max_length=64)),
                ("kind", models.CharField(max_length=16)),
                ("value", models.SmallIntegerField(blank=True, null=True)),
                ("source", models.CharField(blank=True, max_length=12)),
                ("version", models.PositiveIntegerField(default=0)),
                ("detail", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.step",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.SmallIntegerField(blank=True, null=True)),
                ("unsure", models.BooleanField(default=False)),
                ("flagged", models.BooleanField(default=False)),
                ("note", models.TextField(blank=True)),
                ("reason", models.CharField(blank=True, max_length=40)),
                ("version", models.PositiveIntegerField(default=1)),
                ("blind_value", models.SmallIntegerField(blank=True, null=True)),
                ("exposed_at", models.DateTimeField(blank=True, null=True)),
                ("updated_at", models.DateTimeField()),
                ("source", models.CharField(blank=True, max_length=12)),
                ("root_pinned", models.BooleanField(default=False)),
                ("closes", models.CharField(blank=True, max_length=12)),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "root",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.step",
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="annotation.step",
                    ),
                ),
            ],
            options={
                "ordering": ("assignment_id", "step_id"),
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.SmallIntegerField()),
                ("note", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("updated_at", models.DateTimeField()),
                (
                    "adjudication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="decisions",
                        to="annotation.adjudication",
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.step",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Subset",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.SlugField(max_length=64, verbose_name="name")),
                (
                    "suspend_on_user_turn",
                    models.BooleanField(default=False, verbose_name="a user message suspends an error run"),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subsets",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("project", "name"),
            },
        ),
        migrations.CreateModel(
            name="ImportFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("progress_done", models.BigIntegerField(default=0)),
                ("progress_failed", models.BigIntegerField(default=0)),
                ("progress_total", models.BigIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("filename", models.CharField(max_length=255)),
                ("stored_as", models.CharField(blank=True, max_length=255)),
                ("format", models.CharField(blank=True, max_length=40)),
                ("sha256", models.CharField(max_length=64)),
                ("size", models.BigIntegerField()),
                ("replace", models.BooleanField(default=False)),
                ("policy_models", models.JSONField(blank=True, default=dict)),
                ("state", models.CharField(default="uploaded", max_length=12)),
                ("created_count", models.PositiveIntegerField(default=0)),
                ("unchanged_count", models.PositiveIntegerField(default=0)),
                ("replaced_count", models.PositiveIntegerField(default=0)),
                ("step_count", models.PositiveIntegerField(default=0)),
                ("error_count", models.PositiveIntegerField(default=0)),
                ("errors", models.JSONField(blank=True, default=list)),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imports",
                        to="annotation.project",
                    ),
                ),
                (
                    "subset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imports",
                        to="annotation.subset",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="Suggestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("outcome", models.SmallIntegerField(blank=True, null=True)),
                ("reason", models.TextField(blank=True)),
                ("comment", models.TextField(blank=True)),
                ("source", models.CharField(blank=True, max_length=255)),
                ("missing", models.PositiveIntegerField(default=0)),
                ("invalid", models.PositiveIntegerField(default=0)),
                ("extra", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                (
                    "answer",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="suggestion",
                        to="annotation.judgeanswer",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suggestions",
                        to="annotation.judge",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SuggestedLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.SmallIntegerField(blank=True, null=True)),
                ("reason", models.TextField(blank=True)),
                ("probability", models.FloatField(blank=True, null=True)),
                (
                    "step",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.step"
                    ),
                ),
                (
                    "suggestion",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="annotation.suggestion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SuggestionRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("progress_done", models.BigIntegerField(default=0)),
                ("progress_failed", models.BigIntegerField(default=0)),
                ("progress_total", models.BigIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("selection", models.JSONField(blank=True, default=dict)),
                ("estimate", models.JSONField(blank=True, default=dict)),
                ("state", models.CharField(default="queued", max_length=12)),
                ("budget", models.DecimalField(blank=True, decimal_places=6, max_digits=14, null=True)),
                ("cost", models.DecimalField(decimal_places=10, default=Decimal("0"), max_digits=18)),
                ("cost_estimated", models.BooleanField(default=False)),
                ("tokens_in", models.BigIntegerField(default=0)),
                ("tokens_out", models.BigIntegerField(default=0)),
                ("calls", models.BigIntegerField(default=0)),
                ("clipped", models.BigIntegerField(default=0)),
                ("labels_missing", models.BigIntegerField(default=0)),
                ("labels_invalid", models.BigIntegerField(default=0)),
                ("labels_extra", models.BigIntegerField(default=0)),
                ("guideline_version", models.PositiveIntegerField(blank=True, null=True)),
                ("deaths", models.PositiveSmallIntegerField(default=0)),
                ("stop_reason", models.TextField(blank=True)),
                ("resend_at", models.DateTimeField(blank=True, null=True)),
                ("not_before", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="annotation.judge",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suggestion_runs",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-pk"),
            },
        ),
        migrations.AddField(
            model_name="suggestion",
            name="run",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="suggestions",
                to="annotation.suggestionrun",
            ),
        ),
        migrations.AddField(
            model_name="judgeanswer",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="answers",
                to="annotation.suggestionrun",
            ),
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=255)),
                ("question", models.TextField(blank=True, verbose_name="question")),
                (
                    "subset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="annotation.subset",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TrajectoryContent",
            fields=[
                (
                    "trajectory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="content",
                        serialize=False,
                        to="annotation.trajectory",
                    ),
                ),
                ("content", models.BinaryField()),
                ("raw", models.BinaryField()),
                ("raw_sha256", models.CharField(max_length=64)),
            ],
        ),
        migrations.AddField(
            model_name="trajectory",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="trajectories",
                to="annotation.project",
            ),
        ),
        migrations.AddField(
            model_name="trajectory",
            name="source",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="trajectories",
                to="annotation.importfile",
            ),
        ),
        migrations.AddField(
            model_name="trajectory",
            name="subset",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="trajectories",
                to="annotation.subset",
            ),
        ),
        migrations.AddField(
            model_name="trajectory",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="trajectories", to="annotation.task"
            ),
        ),
        migrations.CreateModel(
            name="SuggestionItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(default="due", max_length=8)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("message", models.TextField(blank=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="annotation.suggestionrun",
                    ),
                ),
                (
                    "trajectory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.trajectory",
                    ),
                ),
            ],
            options={
                "ordering": ("run_id", "pk"),
            },
        ),
        migrations.AddField(
            model_name="suggestion",
            name="trajectory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="suggestions",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddField(
            model_name="step",
            name="trajectory",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="steps",
                to="annotation.trajectory",
            ),
        ),
        migrations.CreateModel(
            name="OutcomeConsensus",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.SmallIntegerField()),
                ("kind", models.CharField(max_length=12)),
                ("created_at", models.DateTimeField()),
                (
                    "trajectory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcome_consensus",
                        to="annotation.trajectory",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="judgeanswer",
            name="trajectory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.trajectory"
            ),
        ),
        migrations.CreateModel(
            name="Exposure",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=12)),
                ("created_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exposures",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.step",
                    ),
                ),
                (
                    "trajectory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exposures",
                        to="annotation.trajectory",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Consensus",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.SmallIntegerField()),
                ("kind", models.CharField(max_length=12)),
                ("created_at", models.DateTimeField()),
                (
                    "step",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="consensus",
                        to="annotation.step",
                    ),
                ),
                (
                    "trajectory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="consensus",
                        to="annotation.trajectory",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="assignment",
            name="trajectory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="assignments",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddField(
            model_name="adjudication",
            name="trajectory",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="adjudications",
                to="annotation.trajectory",
            ),
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                (
                    "prefix",
                    models.CharField(help_text="The first characters, to tell tokens apart.", max_length=12),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("expires_at__isnull", True),
                            ("expires_at__gt", models.F("created_at")),
                            _connector="OR",
                        ),
                        name="apitoken_expires_after_creation",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OutcomeLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.SmallIntegerField(blank=True, null=True)),
                ("unsure", models.BooleanField(default=False)),
                ("flagged", models.BooleanField(default=False)),
                ("note", models.TextField(blank=True)),
                ("reason", models.CharField(blank=True, max_length=40)),
                ("version", models.PositiveIntegerField(default=1)),
                ("blind_value", models.SmallIntegerField(blank=True, null=True)),
                ("exposed_at", models.DateTimeField(blank=True, null=True)),
                ("updated_at", models.DateTimeField()),
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcome",
                        to="annotation.assignment",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("value__isnull", True), ("value__in", (-1, 0, 1)), _connector="OR"
                        ),
                        name="outcome_value_known",
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("annotators_per_trajectory__gte", 1), ("annotators_per_trajectory__lte", 9)
                ),
                name="project_annotators_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("suggestion_policy__in", ["after_label", "after_submit", "always", "never"])
                ),
                name="project_suggestion_policy_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("triage_batch_size__gte", 1), ("triage_batch_size__lte", 1000)),
                name="project_triage_batch_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("project", "user"), name="membership_once"),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_annotator", True), ("is_adjudicator", True), ("is_admin", True), _connector="OR"
                ),
                name="membership_has_a_role",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="judge_name_once"),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["openai_compatible", "baseline", "imported"])),
                name="judge_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("concurrency__gte", 1), ("concurrency__lte", 64)),
                name="judge_concurrency_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("price_input__gte", 0), ("price_output__gte", 0)),
                name="judge_prices_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("rate_per_minute__isnull", True), ("rate_per_minute__gte", 1), _connector="OR"
                ),
                name="judge_rate_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_annotator", True), ("is_adjudicator", True), ("is_admin", True), _connector="OR"
                ),
                name="invitation_has_a_role",
            ),
        ),
        migrations.AddConstraint(
            model_name="guideline",
            constraint=models.UniqueConstraint(fields=("project", "version"), name="guideline_version_once"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["project", "-created_at"], name="audit_by_project"),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="release_number_once"),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.UniqueConstraint(fields=("project", "version"), name="release_version_once"),
        ),
        migrations.AddConstraint(
            model_name="releaserecord",
            constraint=models.UniqueConstraint(fields=("release", "ordinal"), name="release_ordinal_once"),
        ),
        migrations.AddConstraint(
            model_name="releaserecord",
            constraint=models.UniqueConstraint(
                fields=("release", "subset", "record_id"), name="release_record_once"
            ),
        ),
        migrations.AddIndex(
            model_name="releaselabel",
            index=models.Index(fields=["release", "value"], name="release_label_by_value"),
        ),
        migrations.AddConstraint(
            model_name="releaselabel",
            constraint=models.UniqueConstraint(
                condition=models.Q(("message_index__isnull", False)),
                fields=("record", "message_index"),
                name="release_label_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="releaselabel",
            constraint=models.UniqueConstraint(
                condition=models.Q(("message_index__isnull", True)),
                fields=("record",),
                name="release_outcome_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="releaselabel",
            constraint=models.CheckConstraint(
                condition=models.Q(("value__in", (-1, 0, 1))), name="release_label_value_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="saveoperation",
            constraint=models.UniqueConstraint(fields=("assignment", "op_id"), name="operation_once"),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.UniqueConstraint(fields=("assignment", "step"), name="label_once"),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(("value__isnull", True), ("value__in", (-1, 0, 1)), _connector="OR"),
                name="label_value_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("source", ""), ("value__isnull", True)),
                    models.Q(("source__in", ["explicit", "propagated"]), ("value__isnull", False)),
                    _connector="OR",
                ),
                name="label_source_with_value",
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("root__isnull", False), ("value", -1)),
                    models.Q(models.Q(("value", -1), _negated=True), ("root__isnull", True)),
                    models.Q(("root__isnull", True), ("value__isnull", True)),
                    _connector="OR",
                ),
                name="label_root_of_errors_only",
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(("closes__in", ["", "corrected", "independent"])),
                name="label_closes_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step__isnull", False)),
                fields=("adjudication", "step"),
                name="decision_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step__isnull", True)),
                fields=("adjudication",),
                name="decision_of_outcome_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(("value__in", (-1, 0, 1))), name="decision_value_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="subset",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="subset_name_once"),
        ),
        migrations.AddIndex(
            model_name="importfile",
            index=models.Index(fields=["project", "-created_at"], name="import_by_project"),
        ),
        migrations.AddIndex(
            model_name="importfile",
            index=models.Index(
                condition=models.Q(("state__in", ["uploaded", "queued", "running"])),
                fields=["lease_until"],
                name="import_unfinished",
            ),
        ),
        migrations.AddConstraint(
            model_name="importfile",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state__in", ["uploaded", "queued", "running", "published", "failed", "abandoned"])
                ),
                name="import_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="suggestedlabel",
            constraint=models.UniqueConstraint(fields=("suggestion", "step"), name="suggested_label_once"),
        ),
        migrations.AddConstraint(
            model_name="suggestedlabel",
            constraint=models.CheckConstraint(
                condition=models.Q(("value__isnull", True), ("value__in", (-1, 0, 1)), _connector="OR"),
                name="suggested_label_value_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="suggestedlabel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("probability__isnull", True),
                    models.Q(("probability__gte", 0), ("probability__lte", 1)),
                    _connector="OR",
                ),
                name="suggested_label_probability_in_range",
            ),
        ),
        migrations.AddIndex(
            model_name="suggestionrun",
            index=models.Index(fields=["project", "-created_at"], name="suggestion_run_by_project"),
        ),
        migrations.AddConstraint(
            model_name="suggestionrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("queued", "running", "paused"))),
                fields=("judge",),
                name="suggestion_run_one_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="suggestionrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        ["queued", "running", "paused", "cancelled", "finished", "stopped", "over_budget"],
                    )
                ),
                name="suggestion_run_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="suggestionrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("budget__isnull", True), ("budget__gt", 0), _connector="OR"),
                name="suggestion_run_budget_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(fields=("subset", "key"), name="task_key_once"),
        ),
        migrations.AddIndex(
            model_name="trajectory",
            index=models.Index(
                condition=models.Q(("free_slots__gt", 0), ("live", True)),
                fields=["project", "position"],
                name="trajectory_claimable",
            ),
        ),
        migrations.AddIndex(
            model_name="trajectory",
            index=models.Index(
                condition=models.Q(("live", True)),
                fields=["project", "state", "position"],
                name="trajectory_by_state",
            ),
        ),
        migrations.AddIndex(
            model_name="trajectory",
            index=models.Index(
                condition=models.Q(("live", True)), fields=["subset", "position"], name="trajectory_by_subset"
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("live", True)),
                fields=("subset", "record_id"),
                name="trajectory_record_live_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.UniqueConstraint(
                fields=("source", "record_id"), name="trajectory_record_once_per_import"
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.CheckConstraint(
                condition=models.Q(("free_slots__gte", 0)), name="trajectory_free_slots_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.CheckConstraint(
                condition=models.Q(("step_count__gte", 1)), name="trajectory_has_a_step"
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["labelling", "unanimous", "disputed", "adjudicated"])),
                name="trajectory_state_known",
            ),
        ),
        migrations.AddIndex(
            model_name="suggestionitem",
            index=models.Index(
                condition=models.Q(("state", "due")), fields=["run", "id"], name="suggestion_item_due"
            ),
        ),
        migrations.AddIndex(
            model_name="suggestionitem",
            index=models.Index(
                condition=models.Q(("state", "failed")),
                fields=["run", "failure"],
                name="suggestion_item_failed",
            ),
        ),
        migrations.AddConstraint(
            model_name="suggestionitem",
            constraint=models.UniqueConstraint(fields=("run", "trajectory"), name="suggestion_item_once"),
        ),
        migrations.AddConstraint(
            model_name="suggestionitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["due", "done", "failed"])),
                name="suggestion_item_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="suggestion",
            constraint=models.UniqueConstraint(fields=("judge", "trajectory"), name="suggestion_once"),
        ),
        migrations.AddConstraint(
            model_name="suggestion",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome__isnull", True), ("outcome__in", (-1, 0, 1)), _connector="OR"),
                name="suggestion_outcome_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="step",
            constraint=models.UniqueConstraint(fields=("trajectory", "message_index"), name="step_once"),
        ),
        migrations.AddConstraint(
            model_name="outcomeconsensus",
            constraint=models.CheckConstraint(
                condition=models.Q(("value__in", (-1, 0, 1))), name="outcome_consensus_value_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="outcomeconsensus",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["unanimous", "discussed", "adjudicated"])),
                name="outcome_consensus_kind_known",
            ),
        ),
        migrations.AddIndex(
            model_name="judgeanswer",
            index=models.Index(fields=["run", "trajectory"], name="answer_by_run"),
        ),
        migrations.AddConstraint(
            model_name="exposure",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step__isnull", False)),
                fields=("user", "trajectory", "step", "kind"),
                name="exposure_of_step_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="exposure",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step__isnull", True)),
                fields=("user", "trajectory", "kind"),
                name="exposure_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="exposure",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["suggestion", "consensus", "label"])),
                name="exposure_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="consensus",
            constraint=models.CheckConstraint(
                condition=models.Q(("value__in", (-1, 0, 1))), name="consensus_value_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="consensus",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["unanimous", "discussed", "adjudicated"])),
                name="consensus_kind_known",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                fields=["annotator", "project", "state", "-claimed_at"], name="assignment_mine"
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(fields=["project", "state"], name="assignment_by_state"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("open", "submitted"))),
                fields=("trajectory", "slot"),
                name="assignment_slot_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                fields=("trajectory", "annotator"), name="assignment_annotator_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                fields=("annotator", "claim_key"), name="assignment_claim_key_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "submitted", "returned", "expired"])),
                name="assignment_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("slot__isnull", False), ("state__in", ("open", "submitted"))),
                    models.Q(
                        models.Q(("state__in", ("open", "submitted")), _negated=True), ("slot__isnull", True)
                    ),
                    _connector="OR",
                ),
                name="assignment_slot_while_active",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "submitted"), _negated=True),
                    ("submitted_at__isnull", False),
                    _connector="OR",
                ),
                name="assignment_submitted_has_time",
            ),
        ),
        migrations.AddIndex(
            model_name="adjudication",
            index=models.Index(fields=["adjudicator", "project", "state"], name="adjudication_mine"),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["open", "decided"])),
                fields=("trajectory",),
                name="adjudication_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "decided", "released"])),
                name="adjudication_state_known",
            ),
        ),
        migrations.RunPython(freeze_releases, lift_the_freeze),
    ]
