/** The built-in kinds: one entry each. What an entry does not say is what most kinds do. */
import {
  customResourceDefinitions,
  dnsLabelProblems,
  dnsSubdomainProblems,
  events,
  fieldText,
  namespaces,
  nodes,
  pods,
  type Resource,
  secrets,
} from '@hutch/kube-meta';
import {
  definitionDeletionRefusal,
  establishDefinition,
  normaliseDefinition,
  validateDefinition,
} from './custom.ts';
import type { ApiObject, Kind } from './kind.ts';
import {
  isNamespaceHeld,
  keepNamespaceSpec,
  namespaceDeletionRefusal,
  prepareNamespace,
  terminateNamespace,
} from './namespace.ts';
import { normalisePod, podGraceSeconds, preparePod, validatePod } from './pod.ts';
import { normaliseSecret, validateSecret } from './secret.ts';

function kind(resource: Resource, entry: Partial<Kind>): Kind {
  return {
    resource,
    singular: resource.kind.toLowerCase(),
    listKind: `${resource.kind}List`,
    shortNames: [],
    categories: [],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    subresources: [],
    storedVersion: resource.version,
    selectableFields: [],
    nameProblems: dnsSubdomainProblems,
    hasGeneration: false,
    allowsUnconditionalUpdate: true,
    statusWritesMetadata: true,
    returnsDeleted: false,
    normalise: (object) => object,
    validate: () => [],
    ...entry,
  };
}

const eventLifetimeMs = 60 * 60 * 1000;

/** Counted from the last time it happened: a repeating event lives on. */
function eventExpiry(object: ApiObject): number {
  const times = ['series.lastObservedTime', 'lastTimestamp', 'eventTime', 'metadata.creationTimestamp'];
  const last = times.map((path) => fieldText(object, path)).find((text) => text !== '');
  return Date.parse(last ?? '') + eventLifetimeMs;
}

export const builtinKinds: readonly Kind[] = [
  kind(namespaces, {
    shortNames: ['ns'],
    subresources: ['status', 'finalize'],
    selectableFields: ['status.phase'],
    nameProblems: dnsLabelProblems,
    returnsDeleted: true,
    prepareCreate: prepareNamespace,
    prepareUpdate: keepNamespaceSpec,
    markTerminating: terminateNamespace,
    isHeld: isNamespaceHeld,
    deletionRefusal: namespaceDeletionRefusal,
  }),
  kind(pods, {
    shortNames: ['po'],
    categories: ['all'],
    subresources: ['status', 'binding', 'log'],
    selectableFields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
    hasGeneration: true,
    returnsDeleted: true,
    normalise: normalisePod,
    prepareCreate: preparePod,
    validate: validatePod,
    graceSeconds: podGraceSeconds,
  }),
  kind(events, {
    shortNames: ['ev'],
    selectableFields: [
      'involvedObject.kind',
      'involvedObject.namespace',
      'involvedObject.name',
      'involvedObject.uid',
      'involvedObject.apiVersion',
      'involvedObject.resourceVersion',
      'involvedObject.fieldPath',
      'reason',
      'reportingComponent',
      'source',
      'type',
    ],
    expiresAt: eventExpiry,
  }),
  kind(secrets, { selectableFields: ['type'], normalise: normaliseSecret, validate: validateSecret }),
  kind(nodes, { shortNames: ['no'], subresources: ['status'], selectableFields: ['spec.unschedulable'] }),
  kind(customResourceDefinitions, {
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    subresources: ['status'],
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    normalise: normaliseDefinition,
    prepareCreate: establishDefinition,
    prepareUpdate: (object, _old, now) => establishDefinition(object, now),
    validate: validateDefinition,
    deletionRefusal: definitionDeletionRefusal,
  }),
];
