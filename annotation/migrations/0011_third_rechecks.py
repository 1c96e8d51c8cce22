"""Rechecks by a third person become readings of no audit: what was labelled still tells of drift; what nobody
has begun is asked for no more."""

from typing import Any

from django.db import migrations


def retire(apps: Any, schema_editor: Any) -> None:
    """Keep what somebody has had, and delete the rest."""
    rows = apps.get_model("annotation", "Recheck").objects.filter(kind="third")
    rows.filter(state="waiting", assignments__isnull=True).delete()
    rows.update(kind="audit")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_tags")]

    operations = [
        migrations.RemoveConstraint(model_name="recheck", name="recheck_third_once"),
        migrations.RemoveConstraint(model_name="recheck", name="recheck_kind_known"),
        migrations.RemoveConstraint(model_name="recheck", name="recheck_retest_has_annotator"),
        migrations.RunPython(retire, migrations.RunPython.noop),
    ]
