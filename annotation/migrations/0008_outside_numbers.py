"""Numbers of models that come from elsewhere, beside which a leaderboard is read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0007_admin_remark")]

    operations = [
        migrations.CreateModel(
            "OutsideNumber",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=80)),
                ("model", models.CharField(max_length=120)),
                ("value", models.FloatField()),
                ("updated_at", models.DateTimeField()),
                (
                    "release",
                    models.ForeignKey("annotation.release", models.PROTECT, related_name="outside_numbers"),
                ),
            ],
            options={
                "ordering": ("release", "title", "model"),
                "constraints": [
                    models.UniqueConstraint(fields=("release", "title", "model"), name="outside_number_once")
                ],
            },
        ),
    ]
