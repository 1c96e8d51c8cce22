"""What models and judges say of a release's unlabelled part."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0013_second_reader")]

    operations = [
        migrations.AddField("releaseoutline", "unlabelled", models.BinaryField(null=True)),
        migrations.AddField("predictionset", "unlabelled", models.BinaryField(null=True)),
        migrations.AddField("predictionset", "powered", models.BinaryField(null=True)),
    ]
