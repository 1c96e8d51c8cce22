"""What a token may do; those that are there go on with everything."""

from django.db import migrations, models
from django.db.models import Q

SCOPES = ["read", "label", "admin"]


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_queue_by_chance")]

    operations = [
        migrations.AddField(
            "ApiToken",
            "scope",
            models.CharField(choices=[(scope, scope) for scope in SCOPES], default="admin", max_length=8),
        ),
        migrations.AddConstraint(
            "ApiToken",
            models.CheckConstraint(condition=Q(scope__in=SCOPES), name="apitoken_scope_known"),
        ),
    ]
