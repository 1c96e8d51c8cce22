"""Tags that admins put on trajectories."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0009_saved_views")]

    operations = [
        migrations.CreateModel(
            "Tag",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40)),
                ("key", models.CharField(max_length=120)),
                (
                    "project",
                    models.ForeignKey(
                        "annotation.project", models.CASCADE, db_index=False, related_name="tags"
                    ),
                ),
            ],
            options={
                "ordering": ("key",),
                "constraints": [models.UniqueConstraint(fields=("project", "key"), name="tag_once")],
            },
        ),
        migrations.CreateModel(
            "TrajectoryTag",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("added_by", models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")),
                (
                    "tag",
                    models.ForeignKey("annotation.tag", models.CASCADE, db_index=False, related_name="+"),
                ),
                ("trajectory", models.ForeignKey("annotation.trajectory", models.CASCADE, related_name="+")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tag", "trajectory", "added_by"), name="trajectory_tag_once"
                    )
                ],
            },
        ),
    ]
