"""An assignment may end because what it was to label was replaced."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0020_exposure_to_source")]

    operations = [
        migrations.RemoveConstraint("assignment", "assignment_expired_has_reason"),
        migrations.AddConstraint(
            "assignment",
            models.CheckConstraint(
                name="assignment_expired_has_reason",
                condition=Q(expiry_reason__in=["left", "taken_back", "unused", "replaced"], state="expired")
                | (~Q(state="expired") & Q(expiry_reason="")),
            ),
        ),
    ]
