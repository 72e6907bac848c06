/** Volumes, claims on them, and the classes they are made by. */
import {
  compareQuantities,
  dnsSubdomainProblems,
  jsonEquals,
  labelKeyProblems,
  type PersistentVolume,
  type PersistentVolumeClaim,
  quantityNanos,
  type StorageClass,
  storageClasses,
} from '@hutch/kube-meta';
import { isObject, omit } from '../json.ts';
import { timestamp } from '../metadata.ts';
import { forbiddenField, invalidValue, type Problem, required, unsupportedValue } from '../problems.ts';
import { invalidBy, labelSelectorOf, oneOf, unchanged } from './checks.ts';
import type { ApiObject, Around } from './kind.ts';
import { nodeSelectorProblems } from './pod/scheduling.ts';
import { volumesProblems } from './pod/volumes.ts';

type ClaimSpec = PersistentVolumeClaim['spec'];
type VolumeSpec = PersistentVolume['spec'];
type Amounts = Readonly<Record<string, string>>;

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
const volumeModes = ['Block', 'Filesystem'];
const defaultClass = 'storageclass.kubernetes.io/is-default-class';
const legacyClass = 'volume.beta.kubernetes.io/storage-class';

/** What is in use is not taken away: whoever watches over that removes these. */
function withFinalizer(object: ApiObject, finalizer: string): ApiObject {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}

// ---- claims ---------------------------------------------------------------------------------------------

export function prepareClaim(object: ApiObject, around: Around): ApiObject {
  const spec = (isObject(object.spec) ? object.spec : {}) as unknown as ClaimSpec;
  const isOpen = spec.storageClassName === undefined && !object.metadata.annotations?.[legacyClass];
  const chosen = isOpen ? defaultClassName(around) : undefined;
  const { dataSource, dataSourceRef } = spec;
  const prepared = {
    ...spec,
    ...(chosen === undefined ? {} : { storageClassName: chosen }),
    ...(dataSource && !dataSourceRef ? { dataSourceRef: dataSource } : {}),
    ...(dataSourceRef && !dataSource && !dataSourceRef.namespace
      ? { dataSource: omit(dataSourceRef, 'namespace') }
      : {}),
  };
  return withFinalizer(
    { ...object, spec: prepared, status: { phase: 'Pending' } },
    'kubernetes.io/pvc-protection',
  );
}

/** The newest of those that say they are the default. */
function defaultClassName(around: Around): string | undefined {
  const classes = around
    .list(storageClasses)
    .filter(({ metadata }) => metadata.annotations?.[defaultClass] === 'true')
    .sort((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1));
  return classes[0]?.metadata.name;
}

function modeProblems(modes: readonly string[], path: string): Problem[] {
  const isMixed =
    modes.includes('ReadWriteOncePod') &&
    modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode));
  return [
    ...modes
      .filter((mode) => !accessModes.includes(mode))
      .map((mode) => unsupportedValue(path, mode, accessModes)),
    ...(isMixed ? [forbiddenField(path, 'may not use ReadWriteOncePod with other access modes')] : []),
  ];
}

function storageOf(amounts: object | undefined): string | undefined {
  return (amounts as Amounts | undefined)?.storage;
}

function positive(path: string, amount: string): Problem[] {
  return quantityNanos(amount) > 0n ? [] : [invalidValue(path, amount, 'must be greater than zero')];
}

export function validateClaim(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const spec = object.spec as ClaimSpec;
  const modes = spec.accessModes ?? [];
  const size = storageOf(spec.resources?.requests);
  return [
    ...(modes.length === 0 ? [required('spec.accessModes', 'at least 1 access mode is required')] : []),
    ...labelSelectorOf('spec.selector', spec.selector),
    ...modeProblems(modes, 'spec.accessModes'),
    ...(size === undefined
      ? [required('spec.resources[storage]')]
      : positive('spec.resources[storage]', size)),
    ...(spec.storageClassName
      ? invalidBy('spec.storageClassName', spec.storageClassName, dnsSubdomainProblems(spec.storageClassName))
      : []),
    ...(spec.volumeMode === undefined || volumeModes.includes(spec.volumeMode)
      ? []
      : [unsupportedValue('spec.volumeMode', spec.volumeMode, volumeModes)]),
    ...(old ? claimChangeProblems(object, old) : []),
  ];
}

function claimChangeProblems(object: ApiObject, old: ApiObject): Problem[] {
  const [spec, before] = [object.spec as ClaimSpec, old.spec as ClaimSpec];
  const isBound = (object.status as { phase?: string } | undefined)?.phase === 'Bound';
  const open: string[] = [
    ...(before.volumeName ? [] : ['volumeName']),
    ...(before.storageClassName === undefined ? ['storageClassName'] : []),
    ...(isBound ? ['resources', 'volumeAttributesClassName'] : []),
  ];
  const detail =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  const [size = '0', oldSize = '0'] = [
    storageOf(spec.resources?.requests),
    storageOf(before.resources?.requests),
  ];
  const capacity = storageOf((old.status as { capacity?: object } | undefined)?.capacity) ?? '0';
  const shrinks = compareQuantities(size, oldSize) < 0 && compareQuantities(size, capacity) <= 0;
  return [
    ...(jsonEquals(omit(spec, ...open), omit(before, ...open)) ? [] : [forbiddenField('spec', detail)]),
    ...(shrinks
      ? [forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity')]
      : []),
    ...unchanged('volumeMode', spec.volumeMode, before.volumeMode),
  ];
}

// ---- volumes --------------------------------------------------------------------------------------------

export function prepareVolume(object: ApiObject, { now }: Around): ApiObject {
  const status = { phase: 'Pending', lastPhaseTransitionTime: timestamp(now) };
  return withFinalizer({ ...object, status }, 'kubernetes.io/pv-protection');
}

/** Members of a volume's spec that say nothing of where the data is. */
const common: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

function sourceOf(spec: VolumeSpec): object {
  return omit(spec, ...common);
}

export function validateVolume(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const spec = object.spec as VolumeSpec;
  const {
    capacity,
    persistentVolumeReclaimPolicy: policy,
    nodeAffinity,
    storageClassName = '',
    volumeMode,
  } = spec;
  const modes = spec.accessModes ?? [];
  const amounts = (capacity ?? {}) as Amounts;
  const source = sourceOf(spec);
  const isLocal = 'local' in source;
  return [
    ...(modes.length === 0 ? [required('spec.accessModes')] : []),
    ...modeProblems(modes, 'spec.accessModes'),
    ...(Object.keys(amounts).length === 0 ? [required('spec.capacity')] : []),
    ...(amounts.storage === undefined || Object.keys(amounts).length > 1
      ? [unsupportedValue('spec.capacity', capacity ?? null, ['storage'])]
      : []),
    ...Object.entries(amounts).flatMap(([name, amount]) => positive(`spec.capacity[${name}]`, amount)),
    ...(policy === undefined || reclaimPolicies.includes(policy)
      ? []
      : [unsupportedValue('spec.persistentVolumeReclaimPolicy', policy, reclaimPolicies)]),
    ...(nodeAffinity?.required
      ? nodeSelectorProblems(
          nodeAffinity.required.nodeSelectorTerms,
          'spec.nodeAffinity.required.nodeSelectorTerms',
        )
      : nodeAffinity
        ? [required('spec.nodeAffinity.required', 'must specify required node constraints')]
        : []),
    ...sourceProblems(source),
    ...(isLocal && !nodeAffinity
      ? [required('spec.nodeAffinity', 'Local volume requires node affinity')]
      : []),
    ...(storageClassName === ''
      ? []
      : invalidBy('spec.storageClassName', storageClassName, dnsSubdomainProblems(storageClassName))),
    ...(volumeMode === undefined || volumeModes.includes(volumeMode)
      ? []
      : [unsupportedValue('spec.volumeMode', volumeMode, volumeModes)]),
    ...(old ? volumeChangeProblems(spec, old.spec as VolumeSpec) : []),
  ];
}

function sourceProblems(source: object): Problem[] {
  if (Object.keys(source).length === 0) return [required('spec', 'must specify a volume type')];
  // The same rules as for a pod's volume, told of another place.
  const { problems } = volumesProblems([{ name: 'v', ...source } as never], 'spec');
  return problems.map((problem) => ({ ...problem, field: problem.field.replace('spec[0]', 'spec') }));
}

function volumeChangeProblems(spec: VolumeSpec, before: VolumeSpec): Problem[] {
  const detail = 'spec.persistentvolumesource is immutable after creation';
  return [
    ...(jsonEquals(sourceOf(spec), sourceOf(before))
      ? []
      : [forbiddenField('spec.persistentvolumesource', detail)]),
    ...unchanged('volumeMode', spec.volumeMode, before.volumeMode),
  ];
}

// ---- classes --------------------------------------------------------------------------------------------

export function validateStorageClass(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const one = object as unknown as StorageClass;
  const { provisioner, parameters = {}, reclaimPolicy = '', volumeBindingMode } = one;
  if (old) {
    const before = old as unknown as StorageClass;
    return (['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const).flatMap((field) =>
      unchanged(field, one[field], before[field]),
    );
  }
  return [
    ...(provisioner === ''
      ? [required('provisioner')]
      : invalidBy('provisioner', provisioner.toLowerCase(), labelKeyProblems(provisioner.toLowerCase()))),
    ...Object.keys(parameters)
      .filter((key) => key === '')
      .map((key) => invalidValue('parameters', key, 'field can not be empty.')),
    ...(reclaimPolicy === '' || reclaimPolicy === 'Delete' || reclaimPolicy === 'Retain'
      ? []
      : [unsupportedValue('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain'])]),
    ...oneOf('volumeBindingMode', volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']),
  ];
}
