"""Time at work by quarter of an hour, pay, and indexes for the board."""

from collections import Counter

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

from annotation.models import frozen

PER = ["hour", "trajectory"]
AT_ONCE = 1_000


def keep(apps, schema_editor):
    frozen.install(schema_editor.connection, (frozen.PROJECT,))


def by_quarter(apps, schema_editor):
    """Time that was measured before, at the end of the work on each trajectory: nothing better is known."""
    rows = apps.get_model("annotation", "Assignment").objects.filter(active_ms__gt=0, imported=False)
    found = Counter()
    for project, person, ms, done, used in rows.values_list(
        "project", "annotator", "active_ms", "submitted_at", "last_used_at"
    ).iterator(AT_ONCE):
        at = done or used
        quarter = at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0)
        found[project, person, quarter] += ms
    model = apps.get_model("annotation", "ActiveTime")
    model.objects.bulk_create(
        (
            model(project_id=project, annotator_id=person, begins_at=at, active_ms=ms)
            for (project, person, at), ms in found.items()
        ),
        batch_size=AT_ONCE,
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0031_quotas_and_days_away")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, keep),
        migrations.AddField(
            "project",
            "pay_rate",
            models.DecimalField(
                "pay",
                blank=True,
                decimal_places=2,
                max_digits=10,
                null=True,
                validators=[django.core.validators.MinValueValidator(0)],
            ),
        ),
        migrations.AddField(
            "project",
            "pay_currency",
            models.CharField(
                "currency",
                blank=True,
                max_length=3,
                validators=[django.core.validators.RegexValidator("^[A-Z]{3}$")],
            ),
        ),
        migrations.AddField(
            "project",
            "pay_per",
            models.CharField("paid for", choices=[(per, per) for per in PER], default="hour", max_length=12),
        ),
        migrations.AddConstraint(
            "project",
            models.CheckConstraint(
                condition=Q(pay_rate__isnull=True) | (Q(pay_rate__gte=0) & ~Q(pay_currency="")),
                name="project_pay_has_currency",
            ),
        ),
        migrations.AddConstraint(
            "project",
            models.CheckConstraint(condition=Q(pay_per__in=PER), name="project_pay_per_known"),
        ),
        migrations.RunPython(keep, migrations.RunPython.noop),
        migrations.CreateModel(
            "ActiveTime",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("begins_at", models.DateTimeField()),
                ("active_ms", models.PositiveBigIntegerField(default=0)),
                (
                    "annotator",
                    models.ForeignKey(
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
                        related_name="+",
                        to="annotation.project",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            "activetime",
            models.UniqueConstraint(fields=("project", "annotator", "begins_at"), name="active_time_once"),
        ),
        migrations.RunPython(by_quarter, migrations.RunPython.noop),
        migrations.RemoveIndex("assignment", "assignment_by_state"),
        migrations.AddIndex(
            "assignment",
            models.Index(
                fields=["project", "state", "annotator", "imported", "submitted_at", "recheck"],
                name="assignment_by_state",
            ),
        ),
        migrations.AddIndex(
            "outcomeconsensus",
            models.Index(fields=["created_at", "trajectory"], name="outcome_consensus_by_time"),
        ),
    ]
