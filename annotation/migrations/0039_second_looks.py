"""Why somebody is asked to look again, and when gold was submitted that has been held against its key."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce


def when_submitted(apps: Any, _schema: Any) -> None:
    """Marks that there are already were made of what is submitted still: reopening took them back."""
    turns = apps.get_model("annotation", "Recheck").objects.filter(agreed__isnull=False)
    own = apps.get_model("annotation", "Assignment")._base_manager.filter(recheck=OuterRef("pk"))
    at = own.filter(submitted_at__isnull=False).order_by("-submitted_at").values("submitted_at")[:1]
    turns.update(answered_at=Coalesce(Subquery(at), F("created_at")))


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0038_webhooks"),
    ]

    operations = [
        migrations.AddField(
            model_name="relabelrequest",
            name="because",
            field=models.CharField(default="guidelines", max_length=10),
        ),
        migrations.AddConstraint(
            model_name="relabelrequest",
            constraint=models.CheckConstraint(
                condition=Q(("because__in", ["guidelines", "check"])), name="look_again_reason_known"
            ),
        ),
        migrations.AddField(
            model_name="recheck",
            name="answered_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(when_submitted, migrations.RunPython.noop, elidable=True),
        migrations.RemoveConstraint(model_name="recheck", name="recheck_marks_of_gold"),
        migrations.AddConstraint(
            model_name="recheck",
            constraint=models.CheckConstraint(
                condition=Q(("agreed__isnull", True), ("answered_at__isnull", True), ("keyed__isnull", True))
                | Q(
                    ("agreed__lte", F("keyed")),
                    ("answered_at__isnull", False),
                    ("keyed__gte", 1),
                    ("kind", "gold"),
                ),
                name="recheck_marks_of_gold",
            ),
        ),
    ]
