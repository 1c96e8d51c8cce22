"""deploy/kubernetes, as far as it can be tried without a cluster.

`kubernetes-1.37.json.gz` holds the schemas of these kinds and all that they refer to, without descriptions,
out of the package kubernetes-validate 1.37.0 (strict: unknown fields are refused). `make check-kubernetes`
asks that package itself, which has 100 MB.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.config.read_settings import read_settings
from tests.servers import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
PUBLISHED = json.loads(gzip.decompress((Path(__file__).with_name("kubernetes-1.37.json.gz")).read_bytes()))
RESOURCES: list[dict[str, Any]] = [
    resource
    for name in yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    for resource in yaml.safe_load_all((FOLDER / name).read_text())
]
NAMES = [f"{resource['kind']} {resource['metadata']['name']}" for resource in RESOURCES]
PAGE = (ROOT / "docs" / "machines.md").read_text()


def problems(resource: dict[str, Any]) -> list[str]:
    """What the published schema of its kind says against a resource."""
    reference = {"$ref": f"#/definitions/{PUBLISHED['kinds'][resource['kind']]}"}
    validator = Draft7Validator({**reference, "definitions": PUBLISHED["definitions"]})
    return [error.message for error in validator.iter_errors(resource)]


def pods() -> Iterator[dict[str, Any]]:
    """The templates of pods."""
    for resource in RESOURCES:
        if "template" in resource.get("spec", {}):
            yield resource["spec"]["template"]["spec"]


@pytest.mark.parametrize("resource", RESOURCES, ids=NAMES)
def test_resource_is_as_kubernetes_publishes_its_kind(resource: dict[str, Any]) -> None:
    assert problems(resource) == []


def test_schema_would_not_take_a_field_that_there_is_not() -> None:
    deployment = next(one for one in RESOURCES if one["kind"] == "Deployment")
    wrong = json.loads(json.dumps(deployment))
    wrong["spec"]["template"]["spec"]["containers"][0]["redinessProbe"] = {}
    wrong["spec"]["replicas"] = "two"
    assert len(problems(wrong)) == 2


def test_every_container_is_confined_as_the_restricted_standard_asks() -> None:
    (namespace,) = (one for one in RESOURCES if one["kind"] == "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    (user,) = re.findall(r"^USER (\d+):", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for pod in pods():
        context = pod["securityContext"]
        assert (context["runAsNonRoot"], context["runAsUser"]) == (True, int(user))
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            confined = container["securityContext"]
            assert (
                confined["allowPrivilegeEscalation"] is False and confined["readOnlyRootFilesystem"] is True
            )
            assert confined["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}
            assert container["resources"]["limits"]["memory"]
            assert container["image"] == "tristep"
            # no secret stands in a file of ours
            assert "env" not in container
            named = {one["secretRef"]["name"] for one in container["envFrom"] if "secretRef" in one}
            assert all(f"create secret generic {name} " in PAGE for name in named)


def test_names_lead_to_what_there_is() -> None:
    by_kind = {(one["kind"], one["metadata"]["name"]): one for one in RESOURCES}
    for kind in ("web", "worker"):
        deployment = by_kind["Deployment", f"tristep-{kind}"]["spec"]
        labels = deployment["template"]["metadata"]["labels"]
        assert deployment["replicas"] > 1 and deployment["selector"]["matchLabels"] == labels
        assert by_kind["PodDisruptionBudget", f"tristep-{kind}"]["spec"]["selector"]["matchLabels"] == labels
    service = by_kind["Service", "tristep-web"]["spec"]
    web = by_kind["Deployment", "tristep-web"]["spec"]["template"]
    assert service["selector"] == web["metadata"]["labels"]
    assert service["ports"][0]["targetPort"] == web["spec"]["containers"][0]["ports"][0]["name"]
    (rule,) = by_kind["Ingress", "tristep"]["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == "tristep-web"
    assert [one for one in NAMES if one.startswith("Job")] == ["Job tristep-migrate"]


def test_web_server_may_end_what_it_has_begun_before_it_is_killed() -> None:
    (web,) = (pod for pod in pods() if pod["containers"][0]["name"] == "web")
    pause = int(web["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    # not imported: it raises a limit of the process
    timeout = re.search(r"^graceful_timeout = (\d+)$", (ROOT / "config" / "gunicorn.py").read_text(), re.M)
    assert timeout and web["terminationGracePeriodSeconds"] > pause + int(timeout[1])


def test_settings_take_the_configuration(tmp_path: Path) -> None:
    (configuration,) = (one["data"] for one in RESOURCES if one["kind"] == "ConfigMap")
    secrets = dict(re.findall(r"--from-literal=([A-Z_]+)='?([^' \\\n]+)", PAGE))
    assert secrets["DATABASE_URL"].startswith("postgres://tristep_")
    environment = {**secrets, **configuration, "TRISTEP_DATA_DIR": str(tmp_path / "own")}
    found = read_settings(environment)
    assert found["STORAGES"]["default"]["OPTIONS"]["bucket_name"] == configuration["TRISTEP_FILES_BUCKET"]
    assert (found["HTTPS"], found["PROXY_HOPS"]) == (True, 1)
    assert found["CELERY_BROKER_URL"] == secrets["REDIS_URL"]
    assert found["RELEASE_KEY"] and found["SECRET_KEY"] == secrets["TRISTEP_SECRET_KEY"]
