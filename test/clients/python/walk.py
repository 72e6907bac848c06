"""A walk through a Kubernetes API with the `kubernetes` package as it is published.

usage: walk.py KUBECONFIG NAMESPACE

Every step is taken, whatever became of those before it, and told as one JSON object a line.
"""

import json
import sys
import threading
import traceback

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient

STEP_SECONDS = 30
STEPS = []


def step(name):
    def register(function):
        STEPS.append((name, function))
        return function

    return register


class Walker:
    def __init__(self, kubeconfig, namespace):
        config.load_kube_config(kubeconfig)
        self.namespace = namespace
        self.group = f"{namespace}.example.com"  # of its own, since a definition goes slowly
        self.api_client = client.ApiClient()
        self.core = client.CoreV1Api()
        self.custom = client.CustomObjectsApi()
        self.extensions = client.ApiextensionsV1Api()

    def make(self, name, data=None, labels=None):
        body = client.V1ConfigMap(
            metadata=client.V1ObjectMeta(name=name, labels=labels), data=data
        )
        return self.core.create_namespaced_config_map(self.namespace, body)

    def events(self, function, *args, **options):
        """Events of a watch that cannot last longer than a step may."""
        return watch.Watch().stream(
            function, *args, timeout_seconds=STEP_SECONDS, **options
        )


def refused(status, reason, function, *args, **options):
    """Asserts that the server says no, with this status and this reason."""
    try:
        function(*args, **options)
    except ApiException as error:
        assert error.status == status, f"status {error.status}, not {status}"
        told = json.loads(error.body)["reason"]
        assert told == reason, f"reason {told}, not {reason}"
        return
    raise AssertionError(f"was not refused with {reason}")


@step("the server tells its version and its groups")
def version(walker):
    told = client.VersionApi().get_code()
    assert told.git_version.startswith("v1."), told.git_version
    groups = {group.name for group in client.ApisApi().get_api_versions().groups}
    assert {"apiextensions.k8s.io", "coordination.k8s.io"} <= groups, groups


@step("an object is created, read, replaced and deleted")
def life(walker):
    core, namespace = walker.core, walker.namespace
    made = walker.make("first", {"a": "1"})
    assert made.metadata.uid and made.metadata.creation_timestamp
    made.data["a"] = "2"
    replaced = core.replace_namespaced_config_map("first", namespace, made)
    read = core.read_namespaced_config_map("first", namespace)
    assert read.data == {"a": "2"}
    assert read.metadata.resource_version == replaced.metadata.resource_version
    core.delete_namespaced_config_map("first", namespace)
    refused(404, "NotFound", core.read_namespaced_config_map, "first", namespace)


@step("failures carry their status and reason")
def failures(walker):
    core, namespace = walker.core, walker.namespace
    made = walker.make("taken")
    refused(409, "AlreadyExists", walker.make, "taken")
    refused(422, "Invalid", walker.make, "Bad_Name")
    made.metadata.resource_version = "1"
    refused(409, "Conflict", core.replace_namespaced_config_map, "taken", namespace, made)
    options = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="nobody"))
    refused(409, "Conflict", core.delete_namespaced_config_map, "taken", namespace, body=options)


@step("a list is selected by labels and read in pages")
def pages(walker):
    core, namespace = walker.core, walker.namespace
    for number in range(7):
        walker.make(f"item-{number}", labels={"listed": "yes"})
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(
            namespace, label_selector="listed=yes", limit=3, _continue=token
        )
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert names == [f"item-{number}" for number in range(7)], names
    everywhere = core.list_config_map_for_all_namespaces(label_selector="listed")
    assert len(everywhere.items) == 7, len(everywhere.items)
    one = core.list_namespaced_config_map(namespace, field_selector="metadata.name=item-3")
    assert len(one.items) == 1, len(one.items)


@step("a watch from a list's version sees what happens, in order")
def watching(walker):
    core, namespace = walker.core, walker.namespace
    before = core.list_namespaced_config_map(namespace).metadata.resource_version

    def act():
        made = walker.make("watched", {"n": "1"}, {"watched": "yes"})
        made.data["n"] = "2"
        core.replace_namespaced_config_map("watched", namespace, made)
        core.delete_namespaced_config_map("watched", namespace)

    actor = threading.Thread(target=act)
    actor.start()
    seen = []
    for event in walker.events(
        core.list_namespaced_config_map,
        namespace,
        label_selector="watched=yes",
        resource_version=before,
    ):
        seen.append(event["type"])
        assert event["object"].metadata.name == "watched"
        if event["type"] == "DELETED":
            break
    actor.join()
    assert seen == ["ADDED", "MODIFIED", "DELETED"], seen


@step("a watch without a version begins with what is there")
def watching_from_now(walker):
    seen = []
    for event in walker.events(
        walker.core.list_namespaced_config_map, walker.namespace, label_selector="listed=yes"
    ):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 7:
            break
    assert sorted(seen) == [("ADDED", f"item-{number}") for number in range(7)], seen


@step("a watch ends at its time limit and is taken up again")
def watching_again(walker):
    core, namespace = walker.core, walker.namespace
    before = core.list_namespaced_config_map(namespace).metadata.resource_version
    for _ in watch.Watch().stream(
        core.list_namespaced_config_map,
        namespace,
        resource_version=before,
        label_selector="nobody=here",
        timeout_seconds=1,
    ):
        raise AssertionError("an event without a cause")


@step("a list of operations patches")
def json_patch(walker):
    walker.make("patched", {"a": "1", "b": "2"})
    patched = walker.core.patch_namespaced_config_map(
        "patched", walker.namespace, [{"op": "replace", "path": "/data/a", "value": "3"}]
    )
    assert patched.data == {"a": "3", "b": "2"}, patched.data


@step("an object is merged")
def merge_patch(walker):
    maps = DynamicClient(walker.api_client).resources.get(api_version="v1", kind="ConfigMap")
    merged = maps.patch(
        body={"data": {"b": None, "c": "4"}},
        name="patched",
        namespace=walker.namespace,
        content_type="application/merge-patch+json",
    )
    assert merged.data.to_dict() == {"a": "3", "c": "4"}, merged.data


@step("a collection is deleted by its selector")
def delete_collection(walker):
    core, namespace = walker.core, walker.namespace
    core.delete_collection_namespaced_config_map(namespace, label_selector="listed=yes")
    left = core.list_namespaced_config_map(namespace, label_selector="listed=yes")
    assert left.items == [], len(left.items)


@step("a pod is created, its status changed, and it is deleted without grace")
def pod(walker):
    core, namespace = walker.core, walker.namespace
    container = client.V1Container(name="main", image="example.invalid/none:1")
    body = client.V1Pod(
        metadata=client.V1ObjectMeta(name="plain"),
        spec=client.V1PodSpec(containers=[container], node_name="nowhere"),
    )
    made = core.create_namespaced_pod(namespace, body)
    assert made.spec.restart_policy == "Always", made.spec.restart_policy
    made.status.phase = "Running"
    changed = core.replace_namespaced_pod_status("plain", namespace, made)
    assert changed.status.phase == "Running"
    core.delete_namespaced_pod("plain", namespace, grace_period_seconds=0)
    refused(404, "NotFound", core.read_namespaced_pod, "plain", namespace)


@step("a definition is established")
def definition(walker):
    props = client.V1JSONSchemaProps
    schema = props(
        type="object",
        properties={
            "spec": props(type="object", properties={"size": props(type="integer", maximum=10)}),
            "status": props(type="object", properties={"phase": props(type="string")}),
        },
    )
    version = client.V1CustomResourceDefinitionVersion(
        name="v1",
        served=True,
        storage=True,
        schema=client.V1CustomResourceValidation(open_apiv3_schema=schema),
        subresources=client.V1CustomResourceSubresources(status={}),
    )
    names = client.V1CustomResourceDefinitionNames(plural="gadgets", singular="gadget", kind="Gadget")
    spec = client.V1CustomResourceDefinitionSpec(
        group=walker.group, names=names, scope="Namespaced", versions=[version]
    )
    name = f"gadgets.{walker.group}"
    body = client.V1CustomResourceDefinition(
        api_version="apiextensions.k8s.io/v1",
        kind="CustomResourceDefinition",
        metadata=client.V1ObjectMeta(name=name),
        spec=spec,
    )
    walker.extensions.create_custom_resource_definition(body)
    for event in walker.events(
        walker.extensions.list_custom_resource_definition, field_selector=f"metadata.name={name}"
    ):
        conditions = (event["object"].status and event["object"].status.conditions) or []
        if any(found.type == "Established" and found.status == "True" for found in conditions):
            return
    raise AssertionError("it was not established in time")


def gadget(walker, name, size):
    return {
        "apiVersion": f"{walker.group}/v1",
        "kind": "Gadget",
        "metadata": {"name": name},
        "spec": {"size": size},
    }


@step("custom objects are created, checked, watched, patched and deleted")
def custom_objects(walker):
    custom, place = walker.custom, (walker.group, "v1", walker.namespace, "gadgets")
    made = custom.create_namespaced_custom_object(*place, gadget(walker, "one", 1))
    refused(422, "Invalid", custom.create_namespaced_custom_object, *place, gadget(walker, "big", 11))
    version = made["metadata"]["resourceVersion"]

    custom.patch_namespaced_custom_object(*place, "one", {"spec": {"size": 2}})
    current = custom.get_namespaced_custom_object(*place, "one")
    current["status"] = {"phase": "done"}
    custom.replace_namespaced_custom_object_status(*place, "one", current)
    custom.delete_namespaced_custom_object(*place, "one")

    seen = []
    for event in walker.events(
        custom.list_namespaced_custom_object, *place, resource_version=version
    ):
        found = event["object"]
        seen.append((event["type"], found["metadata"]["generation"], found.get("status")))
        if event["type"] == "DELETED":
            break
    done = {"phase": "done"}
    # The generation of what is deleted is the server's affair.
    assert seen[:2] == [("MODIFIED", 2, None), ("MODIFIED", 2, done)], seen
    assert len(seen) == 3, seen


@step("the dynamic client finds resources by itself")
def dynamic(walker):
    found = DynamicClient(walker.api_client)
    gadgets = found.resources.get(api_version=f"{walker.group}/v1", kind="Gadget")
    gadgets.create(body=gadget(walker, "two", 2), namespace=walker.namespace)
    patched = gadgets.patch(
        body={"spec": {"size": 3}},
        name="two",
        namespace=walker.namespace,
        content_type="application/merge-patch+json",
    )
    assert patched.spec.size == 3, patched.spec.size
    assert len(gadgets.get(namespace=walker.namespace).items) == 1
    walker.extensions.delete_custom_resource_definition(f"gadgets.{walker.group}")


@step("a lease is held by a name and renewed")
def lease(walker):
    leases = client.CoordinationV1Api()
    body = client.V1Lease(
        metadata=client.V1ObjectMeta(name="held"),
        spec=client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=10),
    )
    made = leases.create_namespaced_lease(walker.namespace, body)
    made.spec.lease_transitions = 1
    renewed = leases.replace_namespaced_lease("held", walker.namespace, made)
    assert renewed.spec.lease_transitions == 1


def main():
    walker = Walker(sys.argv[1], sys.argv[2])
    for name, function in STEPS:
        line = {"step": name}
        try:
            function(walker)
        except Exception as error:  # every step is told, whatever it threw
            line["error"] = "".join(traceback.format_exception(error))
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
