/** Labels and annotations with a meaning on the wire. Words of our own are in runtime.ts and use `hutch.internal/`. */

/** On every child of a sandbox: the hash of the sandbox's name. */
export const trackingLabel = 'agents.x-k8s.io/sandbox-name-hash';

/** `true` on an unowned object lets the sandbox of that name take it over. */
export const adoptableLabel = 'agents.x-k8s.io/adoptable';

export const warmPoolLabel = 'agents.x-k8s.io/warm-pool-sandbox';
export const templateRefHashLabel = 'agents.x-k8s.io/sandbox-template-ref-hash';
export const createdByLabel = 'agents.x-k8s.io/created-by';
export const claimUidLabel = 'agents.x-k8s.io/claim-uid';

/** What a pod's `created-by` label may say; anything else is shown as `unknown`. */
export const knownCreators: readonly string[] = ['go-client', 'python-client', 'controller'];

/** On a Sandbox whose pod is not named like it. Missing or empty means: the pod has the sandbox's name. */
export const podNameAnnotation = 'agents.x-k8s.io/pod-name';

/** On a Pod: which of its labels and annotations came from the template, so that they can be taken back. */
export const propagatedLabelsAnnotation = 'agents.x-k8s.io/propagated-labels';
export const propagatedAnnotationsAnnotation = 'agents.x-k8s.io/propagated-annotations';

export const traceContextAnnotation = 'opentelemetry.io/trace-context';

const reservedPrefixes = ['agents.x-k8s.io/', 'extensions.agents.x-k8s.io/'];

/** Keys that a pod template may not set on a pod: controllers and policies trust them. */
export function isReservedLabel(key: string): boolean {
  return reservedPrefixes.some((prefix) => key.startsWith(prefix));
}

export function isReservedAnnotation(key: string): boolean {
  return isReservedLabel(key) || key === traceContextAnnotation;
}
