"""Runs of judges may write distractors in the place of labels, one of a project at a time."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0021_replaced_item")]

    operations = [
        migrations.AddField(
            "suggestionrun", "options", models.PositiveSmallIntegerField(null=True, blank=True)
        ),
        migrations.AddField("suggestionrun", "distractors", models.JSONField(default=dict, blank=True)),
        migrations.AddConstraint(
            "suggestionrun",
            models.UniqueConstraint(
                fields=("project",),
                condition=Q(state__in=("queued", "running", "paused"), options__isnull=False),
                name="suggestion_run_writes_one_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            "suggestionrun",
            models.CheckConstraint(
                condition=Q(options__isnull=True) | Q(options__gte=2), name="suggestion_run_options_several"
            ),
        ),
    ]
