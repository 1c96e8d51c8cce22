"""An exposure may be to what became of the runs that a decision was derived from."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0019_freeze_difficulty")]

    operations = [
        migrations.RemoveConstraint("exposure", "exposure_kind_known"),
        migrations.AddConstraint(
            "exposure",
            models.CheckConstraint(
                name="exposure_kind_known",
                condition=Q(kind__in=["suggestion", "consensus", "label", "source"]),
            ),
        ),
    ]
