"""Sums of time at work from an index alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0035_find_neighbours_by_index"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="activetime",
            index=models.Index(
                fields=["project", "annotator", "begins_at", "active_ms"], name="active_time_summed"
            ),
        ),
    ]
