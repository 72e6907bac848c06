/** The built-in kinds: one entry each. What an entry does not say is what most kinds do (`builtin-kind.ts`). */
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  dnsLabelProblems,
  endpointSlices,
  events,
  leases,
  namespaces,
  networkPolicies,
  nodes,
  pathSegmentProblems,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  priorityClasses,
  type Resource,
  roleBindings,
  roles,
  runtimeClasses,
  secrets,
  serviceAccounts,
  services,
  storageClasses,
} from '@hutch/kube-meta';
import { builtinKind } from './builtin-kind.ts';
import {
  countSliceGeneration,
  defaultLease,
  defaultNode,
  firstGeneration,
  plainReferences,
  validateDisruptionBudget,
  validateEndpointSlice,
  validateLease,
  validateNode,
  validatePriorityClass,
  validateRuntimeClass,
} from './cluster-parts.ts';
import { defaultSecret, validateConfigMap, validateSecret } from './config-data.ts';
import { isDefinitionHeld, settleDefinition, terminateDefinition } from './custom/lifecycle.ts';
import { defaultDefinition, prepareDefinition, reprepareDefinition } from './custom/prepare.ts';
import { validateDefinition } from './custom/validate.ts';
import { eventExpiry, shownEvent, validateCoreEvent, validateNewEvent } from './event.ts';
import type { Kind, Verb } from './kind.ts';
import {
  isNamespaceHeld,
  keepNamespaceSpec,
  labelNamespace,
  namespaceDeletionRefusal,
  prepareNamespace,
  terminateNamespace,
  validateNamespace,
} from './namespace.ts';
import { validateNetworkPolicy } from './network-policy.ts';
import { defaultPod } from './pod/defaults.ts';
import { podGraceSeconds } from './pod/grace.ts';
import { keepPodGifts, preparePod } from './pod/prepare.ts';
import { validatePod } from './pod/validate.ts';
import { podWarnings } from './pod/warnings.ts';
import {
  validateClusterRole,
  validateClusterRoleBinding,
  validateRole,
  validateRoleBinding,
} from './rbac.ts';
import { allocateService, reallocateService } from './service/allocate.ts';
import { defaultService } from './service/defaults.ts';
import { serviceWarnings, validateService } from './service/validate.ts';
import {
  prepareClaim,
  prepareVolume,
  validateClaim,
  validateStorageClass,
  validateVolume,
} from './volumes.ts';

const core = { group: '', version: 'v1' } as const;

/** Kinds that no other part of ours speaks of: kept for those who do. */
const endpoints: Resource = { ...core, plural: 'endpoints', kind: 'Endpoints', namespaced: true };
const limitRanges: Resource = { ...core, plural: 'limitranges', kind: 'LimitRange', namespaced: true };
const resourceQuotas: Resource = {
  ...core,
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
};
const newEvents: Resource = { ...events, group: 'events.k8s.io' };

const withoutCollections: readonly Verb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

export const builtinKinds: readonly Kind[] = [
  builtinKind(namespaces, {
    shortNames: ['ns'],
    verbs: withoutCollections,
    subresources: ['status', 'finalize'],
    selectableFields: ['status.phase'],
    nameProblems: dnsLabelProblems,
    returnsDeleted: true,
    defaults: labelNamespace,
    prepareCreate: prepareNamespace,
    validate: validateNamespace,
    prepareUpdate: keepNamespaceSpec,
    markTerminating: terminateNamespace,
    isHeld: isNamespaceHeld,
    deletionRefusal: namespaceDeletionRefusal,
  }),
  builtinKind(pods, {
    shortNames: ['po'],
    categories: ['all'],
    subresources: ['status', 'binding', 'eviction', 'log'],
    selectableFields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.podIPs',
      'status.nominatedNodeName',
    ],
    hasGeneration: true,
    returnsDeleted: true,
    defaults: defaultPod,
    prepareCreate: preparePod,
    prepareUpdate: keepPodGifts,
    validate: validatePod,
    warnings: podWarnings,
    graceSeconds: podGraceSeconds,
  }),
  builtinKind(services, {
    shortNames: ['svc'],
    categories: ['all'],
    subresources: ['status'],
    selectableFields: ['spec.clusterIP', 'spec.type'],
    nameProblems: dnsLabelProblems,
    returnsDeleted: true,
    allowsCreateOnUpdate: true,
    defaults: defaultService,
    prepareCreate: allocateService,
    prepareUpdate: reallocateService,
    validate: validateService,
    warnings: serviceWarnings,
  }),
  builtinKind(endpoints, {
    singular: 'endpoints',
    listKind: 'EndpointsList',
    shortNames: ['ep'],
    allowsCreateOnUpdate: true,
  }),
  builtinKind(configMaps, { shortNames: ['cm'], validate: validateConfigMap }),
  builtinKind(secrets, { selectableFields: ['type'], defaults: defaultSecret, validate: validateSecret }),
  builtinKind(serviceAccounts, { shortNames: ['sa'], returnsDeleted: true, defaults: plainReferences }),
  builtinKind(nodes, {
    shortNames: ['no'],
    subresources: ['status'],
    selectableFields: ['spec.unschedulable'],
    createsStatus: true,
    defaults: defaultNode,
    validate: validateNode,
  }),
  builtinKind(persistentVolumes, {
    shortNames: ['pv'],
    subresources: ['status'],
    returnsDeleted: true,
    prepareCreate: prepareVolume,
    validate: validateVolume,
  }),
  builtinKind(persistentVolumeClaims, {
    shortNames: ['pvc'],
    subresources: ['status'],
    returnsDeleted: true,
    prepareCreate: prepareClaim,
    validate: validateClaim,
  }),
  builtinKind(limitRanges, { shortNames: ['limits'], allowsCreateOnUpdate: true }),
  builtinKind(resourceQuotas, { shortNames: ['quota'], subresources: ['status'], returnsDeleted: true }),
  builtinKind(events, {
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
    nameProblems: pathSegmentProblems,
    allowsCreateOnUpdate: true,
    expiresAt: eventExpiry,
    shownAs: shownEvent,
    validate: validateCoreEvent,
  }),
  builtinKind(newEvents, {
    shortNames: ['ev'],
    storedGroup: '',
    selectableFields: [
      'reason',
      'reportingController',
      'regarding.kind',
      'regarding.name',
      'regarding.uid',
      'type',
    ],
    nameProblems: pathSegmentProblems,
    allowsCreateOnUpdate: true,
    shownAs: shownEvent,
    validate: validateNewEvent,
  }),
  builtinKind(customResourceDefinitions, {
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    subresources: ['status'],
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    defaults: defaultDefinition,
    prepareCreate: prepareDefinition,
    prepareUpdate: reprepareDefinition,
    validate: validateDefinition,
    markTerminating: terminateDefinition,
    isHeld: isDefinitionHeld,
    settle: settleDefinition,
  }),
  builtinKind(leases, {
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: true,
    defaults: defaultLease,
    validate: validateLease,
  }),
  builtinKind(endpointSlices, {
    hasGeneration: true,
    prepareUpdate: countSliceGeneration,
    validate: validateEndpointSlice,
  }),
  builtinKind(networkPolicies, {
    singular: 'networkpolicy',
    shortNames: ['netpol'],
    hasGeneration: true,
    validate: validateNetworkPolicy,
  }),
  builtinKind(runtimeClasses, {
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: true,
    validate: validateRuntimeClass,
  }),
  builtinKind(priorityClasses, {
    shortNames: ['pc'],
    prepareCreate: firstGeneration,
    validate: validatePriorityClass,
  }),
  builtinKind(podDisruptionBudgets, {
    shortNames: ['pdb'],
    subresources: ['status'],
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    validate: validateDisruptionBudget,
  }),
  builtinKind(roles, {
    nameProblems: pathSegmentProblems,
    allowsCreateOnUpdate: true,
    validate: validateRole,
  }),
  builtinKind(roleBindings, {
    nameProblems: pathSegmentProblems,
    allowsCreateOnUpdate: true,
    validate: validateRoleBinding,
  }),
  builtinKind(clusterRoles, {
    nameProblems: pathSegmentProblems,
    allowsCreateOnUpdate: true,
    validate: validateClusterRole,
  }),
  builtinKind(clusterRoleBindings, {
    nameProblems: pathSegmentProblems,
    allowsCreateOnUpdate: true,
    validate: validateClusterRoleBinding,
  }),
  builtinKind(storageClasses, { shortNames: ['sc'], returnsDeleted: true, validate: validateStorageClass }),
];
