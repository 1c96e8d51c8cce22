"""Training: keyed trajectories, the tutorial, tests, pilots, gold and pauses (docs/training.md)."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation.models import frozen


def keep(apps, schema_editor):
    frozen.install(schema_editor.connection, (frozen.PROJECT,))


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0024_runs_over_prompts"),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, keep),
        migrations.CreateModel(
            name="KeyLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.SmallIntegerField()),
                ("reason", models.CharField(blank=True, max_length=40)),
                ("note", models.TextField(blank=True)),
                ("origin", models.CharField(max_length=10)),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Pilot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(default="running", max_length=8)),
                ("bound", models.FloatField(verbose_name="Krippendorff’s α to reach")),
                (
                    "new_guidelines",
                    models.BooleanField(default=False, verbose_name="revised guidelines are needed"),
                ),
                ("guideline_version", models.PositiveIntegerField(default=0)),
                ("alpha", models.FloatField(blank=True, null=True)),
                ("begun_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="ProficiencyTest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "agreement",
                    models.FloatField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="agreement to reach",
                    ),
                ),
                (
                    "error_recall",
                    models.FloatField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="share of errors to find",
                    ),
                ),
                (
                    "first_error",
                    models.FloatField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="share of first errors to find",
                    ),
                ),
                (
                    "attempts",
                    models.PositiveSmallIntegerField(
                        default=3,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(20),
                        ],
                        verbose_name="attempts",
                    ),
                ),
                (
                    "wait_hours",
                    models.PositiveIntegerField(
                        default=24,
                        validators=[django.core.validators.MaxValueValidator(2160)],
                        verbose_name="hours before the next attempt",
                    ),
                ),
                (
                    "each_guideline",
                    models.BooleanField(default=False, verbose_name="asked again for new guidelines"),
                ),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("project", "number"),
            },
        ),
        migrations.CreateModel(
            name="TestAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("state", models.CharField(default="running", max_length=8)),
                ("guideline_version", models.PositiveIntegerField(default=0)),
                ("agreement", models.FloatField(blank=True, null=True)),
                ("error_recall", models.FloatField(blank=True, null=True)),
                ("first_error", models.FloatField(blank=True, null=True)),
                ("begun_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="TestItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("place", models.PositiveIntegerField()),
            ],
            options={
                "ordering": ("test", "place"),
            },
        ),
        migrations.CreateModel(
            name="TutorialItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("place", models.PositiveIntegerField()),
            ],
            options={
                "ordering": ("project", "place"),
            },
        ),
        migrations.RemoveConstraint(
            model_name="recheck",
            name="recheck_kind_known",
        ),
        migrations.RemoveConstraint(
            model_name="trajectory",
            name="trajectory_record_once_per_import",
        ),
        migrations.AddField(
            model_name="membership",
            name="gold_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="pause_reason",
            field=models.CharField(blank=True, max_length=8),
        ),
        migrations.AddField(
            model_name="membership",
            name="paused_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="tutorial_done_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="tutorial_skipped",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="project",
            name="gold_bound",
            field=models.PositiveSmallIntegerField(
                default=70,
                validators=[django.core.validators.MaxValueValidator(100)],
                verbose_name="percent of gold steps to label as in the key",
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="gold_percent",
            field=models.PositiveSmallIntegerField(
                default=0,
                validators=[django.core.validators.MaxValueValidator(30)],
                verbose_name="percent of gold among what annotators are given",
            ),
        ),
        migrations.AddField(
            model_name="subset",
            name="training",
            field=models.BooleanField(default=False, verbose_name="training"),
        ),
        migrations.AddField(
            model_name="trajectory",
            name="copy_of",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="copies",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddField(
            model_name="trajectory",
            name="training",
            field=models.BooleanField(default=False),
        ),
        migrations.AddIndex(
            model_name="trajectory",
            index=models.Index(
                condition=models.Q(("training", True)),
                fields=["project", "subset", "position"],
                name="trajectory_training",
            ),
        ),
        migrations.AddIndex(
            model_name="trajectory",
            index=models.Index(
                condition=models.Q(("copy_of__isnull", False)), fields=["copy_of"], name="trajectory_copies"
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("pause_reason", ""), ("paused_at__isnull", True)),
                    models.Q(("pause_reason__in", ["gold", "admin"]), ("paused_at__isnull", False)),
                    _connector="OR",
                ),
                name="membership_pause_has_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("gold_bound__lte", 100), ("gold_percent__lte", 30)),
                name="project_gold_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("copy_of__isnull", True)),
                fields=("source", "record_id"),
                name="trajectory_record_once_per_import",
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.UniqueConstraint(
                condition=models.Q(("training", True)),
                fields=("subset", "record_id"),
                name="trajectory_record_training_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("live", False), models.Q(("copy_of__isnull", True), ("training", False)), _connector="OR"
                ),
                name="trajectory_live_or_training",
            ),
        ),
        migrations.AddField(
            model_name="keylabel",
            name="step",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="annotation.step",
            ),
        ),
        migrations.AddField(
            model_name="keylabel",
            name="trajectory",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="key_labels",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddField(
            model_name="pilot",
            name="begun_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="pilot",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="pilots",
                to="annotation.project",
            ),
        ),
        migrations.AddField(
            model_name="pilot",
            name="subset",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="pilots", to="annotation.subset"
            ),
        ),
        migrations.AddField(
            model_name="proficiencytest",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="proficiencytest",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tests",
                to="annotation.project",
            ),
        ),
        migrations.AddField(
            model_name="subset",
            name="required_test",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="opens",
                to="annotation.proficiencytest",
            ),
        ),
        migrations.AddField(
            model_name="testattempt",
            name="annotator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="attempts",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="testattempt",
            name="test",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sittings",
                to="annotation.proficiencytest",
            ),
        ),
        migrations.AddField(
            model_name="recheck",
            name="attempt",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="turns",
                to="annotation.testattempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["audit", "retest", "tutorial", "test", "gold", "pilot"])),
                name="recheck_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("attempt__isnull", False), ("kind", "test")),
                    models.Q(models.Q(("kind", "test"), _negated=True), ("attempt__isnull", True)),
                    _connector="OR",
                ),
                name="recheck_of_an_attempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ["tutorial", "test", "gold", "pilot"]), _negated=True),
                    ("annotator__isnull", False),
                    _connector="OR",
                ),
                name="recheck_of_training_has_annotator",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("attempt__isnull", True), ("kind__in", ["tutorial", "test", "gold", "pilot"])
                ),
                fields=("trajectory", "annotator", "kind"),
                name="recheck_of_training_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.UniqueConstraint(
                condition=models.Q(("attempt__isnull", False)),
                fields=("attempt", "trajectory"),
                name="recheck_of_attempt_once",
            ),
        ),
        migrations.AddField(
            model_name="testitem",
            name="test",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
                to="annotation.proficiencytest",
            ),
        ),
        migrations.AddField(
            model_name="testitem",
            name="trajectory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="test_items",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddField(
            model_name="tutorialitem",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tutorial_items",
                to="annotation.project",
            ),
        ),
        migrations.AddField(
            model_name="tutorialitem",
            name="trajectory",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tutorial_item",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddConstraint(
            model_name="keylabel",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step__isnull", False)),
                fields=("trajectory", "step"),
                name="key_label_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="keylabel",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step__isnull", True)),
                fields=("trajectory",),
                name="key_label_of_outcome_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="keylabel",
            constraint=models.CheckConstraint(
                condition=models.Q(("value__in", (-1, 0, 1))), name="key_label_value_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="keylabel",
            constraint=models.CheckConstraint(
                condition=models.Q(("origin__in", ["file", "consensus", "edited"])),
                name="key_label_origin_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="pilot",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "running")), fields=("project",), name="pilot_running_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="pilot",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state", "running")),
                    models.Q(("ended_at__isnull", False), ("state__in", ("passed", "stopped"))),
                    _connector="OR",
                ),
                name="pilot_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="pilot",
            constraint=models.CheckConstraint(
                condition=models.Q(("bound__gte", -1), ("bound__lt", 1)), name="pilot_bound_in_range"
            ),
        ),
        migrations.AddConstraint(
            model_name="proficiencytest",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="test_number_once"),
        ),
        migrations.AddConstraint(
            model_name="proficiencytest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("agreement__isnull", True),
                        models.Q(("agreement__gte", 0), ("agreement__lte", 1)),
                        _connector="OR",
                    ),
                    models.Q(
                        ("error_recall__isnull", True),
                        models.Q(("error_recall__gte", 0), ("error_recall__lte", 1)),
                        _connector="OR",
                    ),
                    models.Q(
                        ("first_error__isnull", True),
                        models.Q(("first_error__gte", 0), ("first_error__lte", 1)),
                        _connector="OR",
                    ),
                ),
                name="test_marks_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="proficiencytest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("agreement__isnull", False),
                    ("error_recall__isnull", False),
                    ("first_error__isnull", False),
                    _connector="OR",
                ),
                name="test_asks_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="proficiencytest",
            constraint=models.CheckConstraint(
                condition=models.Q(("attempts__gte", 1), ("attempts__lte", 20), ("wait_hours__lte", 2160)),
                name="test_attempts_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="testattempt",
            constraint=models.UniqueConstraint(
                fields=("test", "annotator", "number"), name="attempt_number_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="testattempt",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "running")),
                fields=("test", "annotator"),
                name="attempt_running_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="testattempt",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state", "running")),
                    models.Q(("ended_at__isnull", False), ("state__in", ["passed", "failed", "stopped"])),
                    _connector="OR",
                ),
                name="attempt_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="testitem",
            constraint=models.UniqueConstraint(fields=("test", "place"), name="test_place_once"),
        ),
        migrations.AddConstraint(
            model_name="testitem",
            constraint=models.UniqueConstraint(fields=("test", "trajectory"), name="test_item_once"),
        ),
        migrations.AddConstraint(
            model_name="tutorialitem",
            constraint=models.UniqueConstraint(fields=("project", "place"), name="tutorial_place_once"),
        ),
        migrations.RunPython(keep, migrations.RunPython.noop),
    ]
