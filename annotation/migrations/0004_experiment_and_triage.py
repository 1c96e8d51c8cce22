"""A project's experiment on exposure, and the triage of its queue."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_judges_and_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="experiment_seed",
            field=models.PositiveBigIntegerField(
                blank=True, null=True, verbose_name="seed of the experiment"
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="triage_seed",
            field=models.PositiveBigIntegerField(blank=True, null=True, verbose_name="seed of triage"),
        ),
        migrations.AddField(
            model_name="project",
            name="triage_batch_size",
            field=models.PositiveSmallIntegerField(
                default=25,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(1000),
                ],
                verbose_name="batch size of triage",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("triage_batch_size__gte", 1), ("triage_batch_size__lte", 1000)),
                name="project_triage_batch_in_range",
            ),
        ),
    ]
