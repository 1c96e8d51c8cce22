"""Saved views of lists: query strings under names, a person's own or for a project's admins."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_outside_numbers")]

    operations = [
        migrations.CreateModel(
            "SavedView",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("list", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=60)),
                ("query", models.TextField()),
                (
                    "owner",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL, models.CASCADE, blank=True, null=True, related_name="+"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey("annotation.project", models.CASCADE, related_name="saved_views"),
                ),
            ],
            options={
                "ordering": ("name", "pk"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "list", "owner", "name"),
                        condition=models.Q(owner__isnull=False),
                        name="saved_view_once_a_person",
                    ),
                    models.UniqueConstraint(
                        fields=("project", "list", "name"),
                        condition=models.Q(owner__isnull=True),
                        name="saved_view_once_a_project",
                    ),
                ],
            },
        ),
    ]
