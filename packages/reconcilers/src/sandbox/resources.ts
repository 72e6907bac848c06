/** The objects a sandbox wants to exist. Pure: built from the Sandbox alone. */
import { runtimeAnnotation, type Sandbox, sandboxes } from '@hutch/api';
import { apiVersionOf, type Draft, type OwnerReference, type Pod, pods } from '@hutch/kube-meta';
import { withRuntime } from './inject.ts';
import { desiredMetadata } from './metadata.ts';

/**
 * The pod of a sandbox: exactly what its template says, under the sandbox's name. Only a template that asks for the
 * runtime is changed.
 */
export function desiredPod(sandbox: Sandbox): Draft<Pod> {
  const { podTemplate } = sandbox.spec;
  const { name, namespace } = sandbox.metadata;
  const { labels, annotations } = desiredMetadata(sandbox);
  return {
    apiVersion: apiVersionOf(pods),
    kind: pods.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [ownerReference(sandbox)],
    },
    spec: wantsRuntime(sandbox) ? withRuntime(podTemplate.spec) : podTemplate.spec,
  };
}

export function ownerReference(sandbox: Sandbox): OwnerReference {
  return {
    apiVersion: apiVersionOf(sandboxes),
    kind: sandboxes.kind,
    name: sandbox.metadata.name,
    uid: sandbox.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

function wantsRuntime(sandbox: Sandbox): boolean {
  return sandbox.spec.podTemplate.metadata?.annotations?.[runtimeAnnotation] === 'inject';
}

/**
 * A debt of ours, in words for the user: volume claims and Services are not reconciled yet. Running the pod without
 * them would pretend that they were there.
 */
export function unserved({ spec }: Sandbox): string | undefined {
  if (spec.volumeClaimTemplates && spec.volumeClaimTemplates.length > 0) {
    return 'spec.volumeClaimTemplates is not served yet';
  }
  return spec.service === true ? 'spec.service is not served yet' : undefined;
}

/** What only the user can mend, and no API server would find. */
export function misconfiguration(sandbox: Sandbox): string | undefined {
  const main = sandbox.spec.podTemplate.spec.containers[0];
  if (!wantsRuntime(sandbox) || !main?.args?.length || main.command?.length) return undefined;
  return `container ${main.name} has args but no command, and the injected runtime cannot know the image's entry point`;
}
