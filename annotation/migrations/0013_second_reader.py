"""Judges as the second reader: the setting, the rule, what became of trajectories with one place, and consensus
that one person made."""

from django.db import migrations, models
from django.db.models import Q

KINDS = ["unanimous", "discussed", "adjudicated", "majority", "one_person"]
ORIGINS = ["one_person", "unanimous", "discussed", "adjudicated"]


def _id() -> tuple[str, models.Field]:
    return "id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_label_audits")]

    operations = [
        migrations.CreateModel(
            "SecondPerson",
            [
                _id(),
                ("state", models.CharField(default="waiting", max_length=8)),
                ("doubt", models.FloatField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey("annotation.project", models.CASCADE, related_name="+", db_index=False),
                ),
                (
                    "trajectory",
                    models.OneToOneField(
                        "annotation.trajectory", models.CASCADE, related_name="second_person"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        name="second_person_state_known",
                        condition=Q(state__in=["waiting", "spared", "asked"]),
                    ),
                    models.CheckConstraint(
                        name="second_person_decided_has_time",
                        condition=Q(state="waiting", decided_at__isnull=True)
                        | (~Q(state="waiting") & Q(decided_at__isnull=False)),
                    ),
                ],
                "indexes": [models.Index(fields=["project", "state"], name="second_person_by_state")],
            },
        ),
        migrations.CreateModel(
            "SecondPersonFit",
            [
                _id(),
                ("number", models.PositiveSmallIntegerField()),
                ("taught", models.JSONField()),
                ("judges", models.JSONField()),
                ("rule", models.JSONField()),
                ("created_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        "annotation.project",
                        models.CASCADE,
                        related_name="second_person_fits",
                        db_index=False,
                    ),
                ),
            ],
            options={
                "ordering": ("project", "-number"),
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="second_person_fit_once")
                ],
            },
        ),
        migrations.AddField(
            "project",
            "second_reader",
            models.CharField(
                "second reader",
                choices=[("person", "person"), ("judges", "judges")],
                default="person",
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            "project",
            models.CheckConstraint(
                name="project_second_reader_fits",
                condition=Q(second_reader="person")
                | Q(
                    second_reader="judges",
                    annotators_per_trajectory=2,
                    suggestion_policy__in=["after_submit", "never"],
                    experiment_seed__isnull=True,
                ),
            ),
        ),
        migrations.RemoveConstraint("consensus", "consensus_kind_known"),
        migrations.AddConstraint(
            "consensus",
            models.CheckConstraint(name="consensus_kind_known", condition=Q(kind__in=KINDS)),
        ),
        migrations.RemoveConstraint("outcomeconsensus", "outcome_consensus_kind_known"),
        migrations.AddConstraint(
            "outcomeconsensus",
            models.CheckConstraint(name="outcome_consensus_kind_known", condition=Q(kind__in=KINDS)),
        ),
        migrations.RemoveConstraint("stratum", "stratum_origin_known"),
        migrations.AddConstraint(
            "stratum",
            models.CheckConstraint(name="stratum_origin_known", condition=Q(origin__in=ORIGINS)),
        ),
        migrations.RemoveConstraint("auditedtrajectory", "audited_origin_known"),
        migrations.AddConstraint(
            "auditedtrajectory",
            models.CheckConstraint(name="audited_origin_known", condition=Q(origin__in=ORIGINS)),
        ),
    ]
