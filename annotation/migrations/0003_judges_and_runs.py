"""Judges as they are configured, their runs, and their answers as they came."""

import uuid
from decimal import Decimal

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

KNOWN = ("openai_compatible", "baseline", "imported")


def name_the_kinds(apps, schema_editor):
    """Until now a judge's kind was free text, and only imports made any."""
    apps.get_model("annotation", "Judge").objects.exclude(kind__in=KNOWN).update(kind="imported")


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0002_frozen_releases"),
    ]

    operations = [
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
            ],
            options={
                "ordering": ("run_id", "created_at"),
            },
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
            ],
            options={
                "ordering": ("run_id", "pk"),
            },
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
            ],
            options={
                "ordering": ("-created_at", "-pk"),
            },
        ),
        migrations.AlterModelOptions(
            name="judge",
            options={"ordering": ("project", "name")},
        ),
        migrations.AddField(
            model_name="judge",
            name="base_url",
            field=models.CharField(blank=True, max_length=500, verbose_name="address"),
        ),
        migrations.AddField(
            model_name="judge",
            name="concurrency",
            field=models.PositiveSmallIntegerField(
                default=4,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(64),
                ],
                verbose_name="calls at once",
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="context_tokens",
            field=models.PositiveIntegerField(
                default=32768,
                validators=[django.core.validators.MinValueValidator(1024)],
                verbose_name="context window in tokens",
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="details",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="judge",
            name="key_name",
            field=models.CharField(
                blank=True, max_length=120, verbose_name="environment variable of the key"
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="model",
            field=models.CharField(blank=True, max_length=200, verbose_name="model"),
        ),
        migrations.AddField(
            model_name="judge",
            name="next_call_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="judge",
            name="price_input",
            field=models.DecimalField(
                decimal_places=6,
                default=Decimal("0"),
                max_digits=12,
                validators=[django.core.validators.MinValueValidator(0)],
                verbose_name="price of input",
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="price_output",
            field=models.DecimalField(
                decimal_places=6,
                default=Decimal("0"),
                max_digits=12,
                validators=[django.core.validators.MinValueValidator(0)],
                verbose_name="price of output",
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="prompt_version",
            field=models.CharField(blank=True, max_length=40, verbose_name="prompt version"),
        ),
        migrations.AddField(
            model_name="judge",
            name="rate_per_minute",
            field=models.PositiveIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="calls per minute",
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="retired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="judge",
            name="sampling",
            field=models.JSONField(blank=True, default=dict, verbose_name="sampling parameters"),
        ),
        migrations.AddField(
            model_name="judge",
            name="structured_output",
            field=models.CharField(default="auto", max_length=16, verbose_name="structured output"),
        ),
        migrations.AddField(
            model_name="judge",
            name="with_reference",
            field=models.BooleanField(default=False, verbose_name="sees the reference answer"),
        ),
        migrations.AddField(
            model_name="judge",
            name="price_cached",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                max_digits=12,
                null=True,
                validators=[django.core.validators.MinValueValidator(0)],
                verbose_name="price of cached input",
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="timeout_seconds",
            field=models.PositiveIntegerField(
                default=180,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(3600),
                ],
                verbose_name="longest call in seconds",
            ),
        ),
        migrations.AddField(
            model_name="suggestedlabel",
            name="probability",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="suggestion",
            name="comment",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="suggestion",
            name="extra",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="suggestion",
            name="invalid",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="suggestion",
            name="missing",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="suggestion",
            name="source",
            field=models.CharField(blank=True, max_length=255),
        ),
        migrations.AlterField(
            model_name="judge",
            name="kind",
            field=models.CharField(
                choices=[
                    ("openai_compatible", "openai_compatible"),
                    ("baseline", "baseline"),
                    ("imported", "imported"),
                ],
                max_length=40,
                verbose_name="kind",
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="name",
            field=models.CharField(max_length=120, verbose_name="name"),
        ),
        migrations.RunPython(name_the_kinds, migrations.RunPython.noop),
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
        migrations.AddField(
            model_name="judgeanswer",
            name="judge",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="annotation.judge"
            ),
        ),
        migrations.AddField(
            model_name="judgeanswer",
            name="trajectory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.trajectory"
            ),
        ),
        migrations.AddField(
            model_name="suggestion",
            name="answer",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="suggestion",
                to="annotation.judgeanswer",
            ),
        ),
        migrations.AddField(
            model_name="suggestionitem",
            name="trajectory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.trajectory"
            ),
        ),
        migrations.AddField(
            model_name="suggestionrun",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="suggestionrun",
            name="judge",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="annotation.judge"
            ),
        ),
        migrations.AddField(
            model_name="suggestionrun",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="suggestion_runs",
                to="annotation.project",
            ),
        ),
        migrations.AddField(
            model_name="suggestionitem",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
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
        migrations.AddIndex(
            model_name="judgeanswer",
            index=models.Index(fields=["run", "trajectory"], name="answer_by_run"),
        ),
    ]
