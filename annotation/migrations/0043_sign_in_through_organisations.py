"""What groups of the organisation give: memberships, and the administration of the site."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0040_connections"),
    ]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="from_groups",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="user",
            name="admin_from_groups",
            field=models.BooleanField(default=False, editable=False),
        ),
    ]
