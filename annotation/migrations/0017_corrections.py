"""Corrections of first errors, and judges’ proposals for them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0016_order_dependent_labels"),
    ]

    operations = [
        migrations.CreateModel(
            name="Correction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(default="open", max_length=12)),
                ("answer", models.CharField(blank=True, max_length=16)),
                ("origin", models.CharField(blank=True, max_length=12)),
                ("message", models.TextField(blank=True)),
                ("error_class", models.CharField(blank=True, max_length=24)),
                ("reason", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=0)),
                ("proposals_seen_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("saved_at", models.DateTimeField(blank=True, null=True)),
                (
                    "author",
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
                    "judge",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.judge",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrections",
                        to="annotation.project",
                    ),
                ),
                (
                    "sibling",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.step",
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrections",
                        to="annotation.step",
                    ),
                ),
                (
                    "trajectory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="corrections",
                        to="annotation.trajectory",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "indexes": [models.Index(fields=["project", "state", "-id"], name="correction_by_state")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["open", "saved"])),
                        fields=("step",),
                        name="correction_active_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("judge__isnull", False)),
                        fields=("step", "judge"),
                        name="correction_proposed_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("author", "project"),
                        name="correction_open_once_a_person",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("author__isnull", False),
                                ("judge__isnull", True),
                                models.Q(("state", "proposed"), _negated=True),
                            ),
                            models.Q(
                                ("author__isnull", True), ("judge__isnull", False), ("state", "proposed")
                            ),
                            _connector="OR",
                        ),
                        name="correction_of_a_person_or_judge",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("answer", "action"),
                                models.Q(("message", ""), _negated=True),
                                models.Q(("origin", ""), _negated=True),
                            ),
                            models.Q(
                                ("message", ""), ("origin", ""), models.Q(("answer", "action"), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="correction_action_has_a_message",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("sibling__isnull", True), ("origin", "sibling"), _connector="OR"),
                        name="correction_sibling_fits",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("answer", ""), ("saved_at__isnull", True), ("state", "open")),
                            models.Q(("answer", ""), ("saved_at__isnull", True), ("state", "withdrawn")),
                            models.Q(models.Q(("answer", ""), _negated=True), ("saved_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="correction_saved_has_an_answer",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["open", "saved", "withdrawn", "proposed"]),
                            ("answer__in", ["", "action", "nothing_wrong", "no_right_action"]),
                            ("origin__in", ["", "sibling", "edited", "written", "judge"]),
                            (
                                "error_class__in",
                                [
                                    "",
                                    "wrong_tool",
                                    "wrong_parameters",
                                    "should_have_answered",
                                    "should_have_called",
                                ],
                            ),
                        ),
                        name="correction_words_known",
                    ),
                ],
            },
        ),
    ]
