from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0018_judges_first"),
    ]

    operations = [
        migrations.AddField(
            model_name="freeze",
            name="difficulty",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
