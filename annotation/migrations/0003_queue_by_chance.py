"""Places in the queue by chance, for what was imported when they were in the order of the import.

Queues that were triaged keep their order. Everybody's cursor begins anew.
"""

from itertools import islice

from django.db import migrations

from annotation.core.rechecks import sampling

AT_ONCE = 1_000


def shuffle(apps, schema_editor):
    Project = apps.get_model("annotation", "Project")
    Trajectory = apps.get_model("annotation", "Trajectory")
    Membership = apps.get_model("annotation", "Membership")
    for project in Project.objects.filter(triage_seed=None).only("pk", "recheck_seed"):
        rows = Trajectory.objects.filter(project=project).order_by("pk")
        left = rows.values_list("pk", "subset__name", "record_id").iterator(AT_ONCE)
        while block := list(islice(left, AT_ONCE)):
            seed = project.recheck_seed
            placed = [
                Trajectory(pk=pk, position=sampling.place(seed=seed, subset=subset, record=record))
                for pk, subset, record in block
            ]
            Trajectory.objects.bulk_update(placed, ["position"])
        Membership.objects.filter(project=project).update(claim_cursor=0)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_audit_chain")]

    operations = [migrations.RunPython(shuffle, migrations.RunPython.noop, elidable=True)]
