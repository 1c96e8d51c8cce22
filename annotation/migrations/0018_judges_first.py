"""Judges first: the state and the origin of what judges alone settled, their verdicts, and two settings."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from annotation.models import frozen

KINDS = ["unanimous", "discussed", "adjudicated", "majority", "one_person", "judged"]
STATES = ["labelling", "unanimous", "disputed", "adjudicated", "judged"]


def keep(apps, schema_editor):
    frozen.install(schema_editor.connection, (frozen.PROJECT,))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0017_corrections")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, keep),
        migrations.RemoveConstraint("consensus", "consensus_kind_known"),
        migrations.AddConstraint(
            "consensus", models.CheckConstraint(condition=Q(kind__in=KINDS), name="consensus_kind_known")
        ),
        migrations.RemoveConstraint("outcomeconsensus", "outcome_consensus_kind_known"),
        migrations.AddConstraint(
            "outcomeconsensus",
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="outcome_consensus_kind_known"),
        ),
        migrations.RemoveConstraint("trajectory", "trajectory_state_known"),
        migrations.AddConstraint(
            "trajectory", models.CheckConstraint(condition=Q(state__in=STATES), name="trajectory_state_known")
        ),
        migrations.AddField("project", "judges_first", models.BooleanField("judges first", default=False)),
        migrations.AddField(
            "project",
            "judged_sample",
            models.PositiveSmallIntegerField(
                "judged trajectories that people label as well",
                default=100,
                validators=[django.core.validators.MaxValueValidator(1000)],
            ),
        ),
        migrations.AddConstraint(
            "project",
            models.CheckConstraint(
                condition=Q(judges_first=False)
                | Q(
                    experiment_seed__isnull=True,
                    kind__in=["decisions"],
                    second_reader="person",
                    suggestion_policy__in=["after_submit", "never"],
                    triage_seed__isnull=True,
                ),
                name="project_judges_first_fits",
            ),
        ),
        migrations.AddConstraint(
            "project",
            models.CheckConstraint(
                condition=Q(judged_sample__lte=1000), name="project_judged_sample_in_range"
            ),
        ),
        # SQLite has made the table anew, without its trigger
        migrations.RunPython(keep, migrations.RunPython.noop),
        migrations.CreateModel(
            name="JudgesFirstVerdict",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("verdict", models.CharField(max_length=8)),
                ("place", models.FloatField()),
                ("drawn", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.project",
                    ),
                ),
                (
                    "trajectory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judges_first",
                        to="annotation.trajectory",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(verdict__in=["judged", "dropped", "people"]),
                        name="judges_first_verdict_known",
                    ),
                    models.CheckConstraint(
                        condition=Q(drawn=False) | Q(verdict="judged"), name="judges_first_drawn"
                    ),
                ],
                "indexes": [
                    models.Index(fields=["project", "verdict", "place"], name="judges_first_by_place")
                ],
            },
        ),
    ]
