"""Audits of labels: the trajectories that could be drawn, draws, readings and decisions."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import annotation.models.consensus
import annotation.models.projects


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0011_third_rechecks"),
    ]

    operations = [
        migrations.CreateModel(
            name="LabelAudit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(default="running", max_length=8)),
                ("wished", models.FloatField()),
                (
                    "seed",
                    models.PositiveBigIntegerField(
                        default=annotation.models.projects.new_recheck_seed, editable=False
                    ),
                ),
                ("mixed", models.BooleanField(default=False)),
                ("begun_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "begun_by",
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
                        related_name="label_audits",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("project",),
                        name="label_audit_running_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("state", "running")),
                            models.Q(("ended_at__isnull", False), ("state", "ended")),
                            _connector="OR",
                        ),
                        name="label_audit_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("wished__gt", 0), ("wished__lt", 1)),
                        name="label_audit_wished_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditedTrajectory",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("steps", models.PositiveIntegerField()),
                ("chance", models.FloatField()),
                ("origin", models.CharField(max_length=12)),
                ("state", models.CharField(default="listed", max_length=8)),
                ("wrong", models.PositiveIntegerField(blank=True, null=True)),
                ("taken_at", models.DateTimeField(blank=True, null=True)),
                (
                    "letter_seed",
                    models.PositiveBigIntegerField(
                        default=annotation.models.consensus.new_letter_seed, editable=False
                    ),
                ),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "adjudicator",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "trajectory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="audited",
                        to="annotation.trajectory",
                    ),
                ),
                (
                    "audit",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trajectories",
                        to="annotation.labelaudit",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["reading", "deciding"])),
                        fields=["audit", "state"],
                        name="audited_unfinished",
                    ),
                    models.Index(
                        condition=models.Q(("adjudicator__isnull", False), ("state", "deciding")),
                        fields=["adjudicator"],
                        name="audited_mine",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("audit", "trajectory"), name="audited_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["listed", "reading", "deciding", "done"])),
                        name="audited_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("done_at__isnull", False), ("state", "done"), ("wrong__isnull", False)),
                            models.Q(
                                models.Q(("state", "done"), _negated=True),
                                ("done_at__isnull", True),
                                ("wrong__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="audited_wrong_when_done",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("wrong__isnull", True), ("wrong__lte", models.F("steps")), _connector="OR"
                        ),
                        name="audited_wrong_at_most_steps",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("origin__in", ["unanimous", "discussed", "adjudicated"])),
                        name="audited_origin_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("chance__gt", 0), ("chance__lte", 1)),
                        name="audited_chance_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditDraw",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "audited",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="draws",
                        to="annotation.auditedtrajectory",
                    ),
                ),
                (
                    "audit",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="draws",
                        to="annotation.labelaudit",
                    ),
                ),
            ],
            options={
                "ordering": ("audit", "number"),
                "constraints": [models.UniqueConstraint(fields=("audit", "number"), name="audit_draw_once")],
            },
        ),
        migrations.CreateModel(
            name="AuditRuling",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("before", models.SmallIntegerField()),
                ("value", models.SmallIntegerField()),
                ("note", models.TextField(blank=True)),
                ("ruled_at", models.DateTimeField()),
                (
                    "audited",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rulings",
                        to="annotation.auditedtrajectory",
                    ),
                ),
                (
                    "ruled_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
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
            ],
            options={
                "ordering": ("pk",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("step__isnull", False)),
                        fields=("audited", "step"),
                        name="audit_ruling_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("step__isnull", True)),
                        fields=("audited",),
                        name="audit_ruling_of_outcome_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("before__in", (-1, 0, 1)), ("value__in", (-1, 0, 1))),
                        name="audit_ruling_value_known",
                    ),
                ],
            },
        ),
        migrations.RemoveConstraint(
            model_name="notice",
            name="notice_kind_known",
        ),
        migrations.RemoveConstraint(
            model_name="project",
            name="project_rechecks_in_range",
        ),
        migrations.RemoveIndex(
            model_name="recheck",
            name="recheck_dealt",
        ),
        migrations.RemoveField(
            model_name="project",
            name="recheck_percent",
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
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
                        ],
                    )
                ),
                name="notice_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("retest_percent__lte", 100)), name="project_rechecks_in_range"
            ),
        ),
        migrations.AddField(
            model_name="recheck",
            name="audited",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="readings",
                to="annotation.auditedtrajectory",
            ),
        ),
        migrations.AddIndex(
            model_name="recheck",
            index=models.Index(
                condition=models.Q(("kind", "audit"), ("state", "waiting")),
                fields=["dealt_at"],
                name="recheck_dealt",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["audit", "retest"])), name="recheck_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "retest"), _negated=True), ("annotator__isnull", False), _connector="OR"
                ),
                name="recheck_retest_has_annotator",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind", "audit"), ("audited__isnull", True), _connector="OR"),
                name="recheck_of_an_audit",
            ),
        ),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.UniqueConstraint(
                condition=models.Q(("annotator__isnull", False), ("audited__isnull", False)),
                fields=("audited", "annotator"),
                name="recheck_reader_once",
            ),
        ),
    ]
