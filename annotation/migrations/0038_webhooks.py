"""Webhooks and what is to be delivered there; notices about them."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import annotation.models.versioned


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0037_pay_of_members"),
    ]

    operations = [
        migrations.CreateModel(
            name="Webhook",
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
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("url", models.CharField(max_length=500, verbose_name="address")),
                ("events", models.JSONField(default=list, verbose_name="events")),
                ("seed", models.CharField(max_length=64)),
                ("old_seed", models.CharField(blank=True, max_length=64)),
                ("old_until", models.DateTimeField(blank=True, null=True)),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("pause_reason", models.CharField(blank=True, max_length=12)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("rests_until", models.DateTimeField(blank=True, null=True)),
                ("resend_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("name", "pk"),
            },
            bases=(annotation.models.versioned.Versioned, models.Model),
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("message", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("event", models.CharField(max_length=40)),
                ("object_id", models.CharField(max_length=40)),
                ("subject", models.CharField(max_length=60)),
                ("created_at", models.DateTimeField()),
                ("state", models.CharField(default="waiting", max_length=12)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("next_at", models.DateTimeField()),
                ("tried_at", models.DateTimeField(blank=True, null=True)),
                ("status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("answer", models.TextField(blank=True)),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.RemoveConstraint(
            model_name="notice",
            name="notice_kind_known",
        ),
        migrations.RemoveConstraint(
            model_name="notice",
            name="notice_about_one_thing",
        ),
        migrations.AddField(
            model_name="webhook",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="webhook",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to="annotation.project"
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="webhook",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="annotation.webhook",
            ),
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
                            "paused",
                            "resumed",
                            "pilot_begun",
                            "pilot_ended",
                            "webhook",
                        ],
                    )
                ),
                name="notice_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("adjudication__isnull", True),
                        ("assignment__isnull", True),
                        ("discussion__isnull", False),
                        ("membership__isnull", True),
                        ("remark__isnull", True),
                        ("webhook__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", True),
                        ("assignment__isnull", False),
                        ("discussion__isnull", True),
                        ("membership__isnull", True),
                        ("remark__isnull", True),
                        ("webhook__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", False),
                        ("assignment__isnull", True),
                        ("discussion__isnull", True),
                        ("membership__isnull", True),
                        ("remark__isnull", True),
                        ("webhook__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", True),
                        ("assignment__isnull", True),
                        ("discussion__isnull", True),
                        ("membership__isnull", True),
                        ("remark__isnull", False),
                        ("webhook__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", True),
                        ("assignment__isnull", True),
                        ("discussion__isnull", True),
                        ("membership__isnull", False),
                        ("remark__isnull", True),
                        ("webhook__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", True),
                        ("assignment__isnull", True),
                        ("discussion__isnull", True),
                        ("membership__isnull", True),
                        ("remark__isnull", True),
                        ("webhook__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="notice_about_one_thing",
            ),
        ),
        migrations.AddField(
            model_name="webhookdelivery",
            name="trajectory",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddField(
            model_name="webhookdelivery",
            name="webhook",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="annotation.webhook",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("pause_reason", ""), ("paused_at__isnull", True)),
                    models.Q(
                        ("pause_reason__in", ["admin", "failing", "gone", "forbidden"]),
                        ("paused_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="webhook_paused_for_a_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("old_seed", ""), ("old_until__isnull", True)),
                    models.Q(models.Q(("old_seed", ""), _negated=True), ("old_until__isnull", False)),
                    _connector="OR",
                ),
                name="webhook_old_secret_ends",
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["webhook", "-id"], name="delivery_newest"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("state", "waiting")),
                fields=["webhook", "subject", "id"],
                name="delivery_waiting",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "delivered", "given_up"])),
                name="delivery_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "event__in",
                        [
                            "assignment.submitted",
                            "trajectory.disputed",
                            "trajectory.resolved",
                            "member.paused",
                            "run.finished",
                            "release.frozen",
                            "webhook.test",
                        ],
                    )
                ),
                name="delivery_event_known",
            ),
        ),
    ]
