// The whole surface of @hutch/api. It loads anywhere: no node: imports, and no schema library
// (the schemas live behind @hutch/api/schemas, the finished CRDs behind @hutch/api/crds).
export {
  sandboxHeaders,
  type TokenGrant,
  type TokenRequest,
  tokenExchangePath,
  tokenHeader,
} from './access.ts';
export {
  type ConditionDraft,
  findCondition,
  isConditionTrue,
  removeCondition,
  timestampText,
  upsertCondition,
} from './conditions.ts';
export {
  adoptableLabel,
  claimUidLabel,
  createdByLabel,
  isReservedAnnotation,
  isReservedLabel,
  knownCreators,
  podNameAnnotation,
  propagatedAnnotationsAnnotation,
  propagatedLabelsAnnotation,
  templateRefHashLabel,
  traceContextAnnotation,
  trackingLabel,
  warmPoolLabel,
} from './metadata.ts';
export { nameHash, serviceFqdn, trackingSelector, volumeClaimName } from './names.ts';
export {
  defaultResources,
  type NewSandboxOptions,
  newSandbox,
  sandboxContainerName,
  workspacePath,
} from './new-sandbox.ts';
export {
  hostImage,
  hutchPrefix,
  injectedRuntimePort,
  runtimeAnnotation,
  runtimeCommand,
  runtimeImage,
  runtimeMountPath,
} from './runtime.ts';
export {
  extensionsGroup,
  isSandboxReady,
  type OperatingMode,
  type PersistentVolumeClaimSpec,
  type PersistentVolumeClaimTemplate,
  type PodTemplate,
  podNameOf,
  type Sandbox,
  type SandboxConditionType,
  type SandboxReason,
  type SandboxSpec,
  type SandboxStatus,
  type ShutdownPolicy,
  sandboxDefaults,
  sandboxes,
  sandboxGroup,
  shouldRun,
} from './sandbox.ts';
