"""Remarks of annotators to admins, and the notices that tell of them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0006_label_imports"),
    ]

    operations = [
        migrations.CreateModel(
            name="AdminRemark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("answer", models.TextField(blank=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="remarks",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "closed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="remarks",
                        to="annotation.project",
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
                "ordering": ("-pk",),
                "indexes": [
                    models.Index(fields=["project", "-id"], name="remark_newest"),
                    models.Index(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=["project"],
                        name="remark_open",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("answer", ""), ("closed_at__isnull", True), ("closed_by__isnull", True)
                            ),
                            models.Q(("closed_at__isnull", False), ("closed_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="remark_closed_by_somebody",
                    )
                ],
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
            model_name="notice",
            name="remark",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="annotation.adminremark",
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
                        ("remark__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", True),
                        ("assignment__isnull", False),
                        ("discussion__isnull", True),
                        ("remark__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", False),
                        ("assignment__isnull", True),
                        ("discussion__isnull", True),
                        ("remark__isnull", True),
                    ),
                    models.Q(
                        ("adjudication__isnull", True),
                        ("assignment__isnull", True),
                        ("discussion__isnull", True),
                        ("remark__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="notice_about_one_thing",
            ),
        ),
    ]
