/**
 * Columns of the tables that people are shown: those of built-in kinds as kubectl users know them, those of custom
 * kinds from their definition. Adding a kind is one entry; a kind without one shows its name and when it was made.
 */
import { isObject, type JsonObject } from '../json.ts';
import type { ApiObject, Kind, PrinterColumn } from '../kinds/kind.ts';
import { ageText } from './age.ts';
import { parseJsonPath } from './json-path.ts';
import { podCells, podConditions } from './pod-row.ts';
import { at, count, items, selectorText, some, text } from './values.ts';

interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface Columns {
  readonly definitions: readonly ColumnDefinition[];
  readonly cells: (object: ApiObject, now: Date) => readonly unknown[];
  /** What the row as a whole is to be shown as. */
  readonly conditions?: (object: ApiObject) => readonly object[];
}

interface Column {
  readonly name: string;
  readonly cell: (object: ApiObject, now: Date) => unknown;
  readonly type?: string;
  readonly format?: string;
  readonly isWide?: boolean;
}

function columnsOf(...columns: Column[]): Columns {
  return {
    definitions: columns.map(({ name, type = 'string', format = '', isWide = false }) => ({
      name,
      type,
      format,
      description: `${name} of the object`,
      priority: isWide ? 1 : 0,
    })),
    cells: (object, now) => columns.map(({ cell }) => cell(object, now)),
  };
}

const wide = { isWide: true } as const;
/** A bookmark has no name, and is a row like any other. */
const nameOf = ({ metadata }: Partial<ApiObject>) => metadata?.name ?? '';
const name: Column = { name: 'Name', format: 'name', cell: nameOf };
const age: Column = { name: 'Age', cell: ({ metadata }, now) => ageText(metadata.creationTimestamp, now) };
const field = (title: string, path: string, fallback = ''): Column => ({
  name: title,
  cell: (object) => text(at(object, path), fallback),
});

const bindings = columnsOf(
  name,
  { name: 'Role', cell: (o) => `${text(at(o, 'roleRef.kind'))}/${text(at(o, 'roleRef.name'))}` },
  age,
  { name: 'Users', cell: (o) => subjects(o, 'User'), ...wide },
  { name: 'Groups', cell: (o) => subjects(o, 'Group'), ...wide },
  { name: 'ServiceAccounts', cell: (o) => subjects(o, 'ServiceAccount'), ...wide },
);

const builtin: Readonly<Record<string, Columns>> = {
  pods: {
    ...columnsOf(
      name,
      ...['Ready', 'Status', 'Restarts', 'Age'].map((title) => ({ name: title, cell: () => '' })),
      ...['IP', 'Node', 'Nominated Node', 'Readiness Gates'].map((title) => ({
        name: title,
        cell: () => '',
        ...wide,
      })),
    ),
    cells: podCells,
    conditions: podConditions,
  },
  namespaces: columnsOf(name, field('Status', 'status.phase'), age),
  configmaps: columnsOf(
    name,
    { name: 'Data', cell: (o) => count(at(o, 'data')) + count(at(o, 'binaryData')) },
    age,
  ),
  secrets: columnsOf(name, field('Type', 'type'), { name: 'Data', cell: (o) => count(at(o, 'data')) }, age),
  serviceaccounts: columnsOf(name, age),
  services: columnsOf(
    name,
    field('Type', 'spec.type'),
    { name: 'Cluster-IP', cell: (o) => text(items(o, 'spec.clusterIPs')[0], '<none>') },
    { name: 'External-IP', cell: externalIp },
    { name: 'Port(s)', cell: servicePorts },
    age,
    { name: 'Selector', cell: (o) => selectorText({ matchLabels: at(o, 'spec.selector') }), ...wide },
  ),
  'endpointslices.discovery.k8s.io': columnsOf(
    name,
    field('AddressType', 'addressType'),
    { name: 'Ports', cell: (o) => some(items(o, 'ports').map(slicePort), '<unset>') },
    {
      name: 'Endpoints',
      cell: (o) =>
        some(
          items(o, 'endpoints').flatMap((e) => items(e, 'addresses').map((one) => text(one))),
          '<unset>',
        ),
    },
    age,
  ),
  nodes: columnsOf(
    name,
    { name: 'Status', cell: nodeStatus },
    { name: 'Roles', cell: nodeRoles },
    age,
    field('Version', 'status.nodeInfo.kubeletVersion'),
    { name: 'Internal-IP', cell: (o) => nodeAddress(o, 'InternalIP'), ...wide },
    { name: 'External-IP', cell: (o) => nodeAddress(o, 'ExternalIP'), ...wide },
    { ...field('OS-Image', 'status.nodeInfo.osImage', '<unknown>'), ...wide },
    { name: 'Kernel-Version', cell: kernelVersion, ...wide },
    { ...field('Container-Runtime', 'status.nodeInfo.containerRuntimeVersion', '<unknown>'), ...wide },
  ),
  events: eventColumns('involvedObject'),
  'events.events.k8s.io': eventColumns('regarding'),
  persistentvolumes: columnsOf(
    name,
    field('Capacity', 'spec.capacity.storage', '0'),
    { name: 'Access Modes', cell: (o) => accessModes(items(o, 'spec.accessModes')) },
    field('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
    { name: 'Status', cell: phase },
    { name: 'Claim', cell: claimOf },
    field('StorageClass', 'spec.storageClassName'),
    field('VolumeAttributesClass', 'spec.volumeAttributesClassName', '<unset>'),
    field('Reason', 'status.reason'),
    age,
    { ...field('VolumeMode', 'spec.volumeMode', '<unset>'), ...wide },
  ),
  persistentvolumeclaims: columnsOf(
    name,
    { name: 'Status', cell: phase },
    field('Volume', 'spec.volumeName'),
    { name: 'Capacity', cell: (o) => (isBound(o) ? text(at(o, 'status.capacity.storage'), '0') : '') },
    { name: 'Access Modes', cell: (o) => (isBound(o) ? accessModes(items(o, 'status.accessModes')) : '') },
    field('StorageClass', 'spec.storageClassName'),
    field('VolumeAttributesClass', 'spec.volumeAttributesClassName', '<unset>'),
    age,
    { ...field('VolumeMode', 'spec.volumeMode', '<unset>'), ...wide },
  ),
  'storageclasses.storage.k8s.io': columnsOf(
    { ...name, cell: (o) => `${nameOf(o)}${isDefaultClass(o) ? ' (default)' : ''}` },
    field('Provisioner', 'provisioner'),
    field('ReclaimPolicy', 'reclaimPolicy', 'Delete'),
    field('VolumeBindingMode', 'volumeBindingMode', 'Immediate'),
    { name: 'AllowVolumeExpansion', cell: (o) => at(o, 'allowVolumeExpansion') === true },
    age,
  ),
  'leases.coordination.k8s.io': columnsOf(name, field('Holder', 'spec.holderIdentity'), age),
  'networkpolicies.networking.k8s.io': columnsOf(
    name,
    { name: 'Pod-Selector', cell: (o) => selectorText(at(o, 'spec.podSelector')) },
    age,
  ),
  'runtimeclasses.node.k8s.io': columnsOf(name, field('Handler', 'handler'), age),
  'priorityclasses.scheduling.k8s.io': columnsOf(
    name,
    { name: 'Value', type: 'integer', cell: (o) => at(o, 'value') ?? 0 },
    { name: 'Global-Default', type: 'boolean', cell: (o) => at(o, 'globalDefault') === true },
    age,
    field('PreemptionPolicy', 'preemptionPolicy'),
  ),
  'poddisruptionbudgets.policy': columnsOf(
    name,
    field('Min Available', 'spec.minAvailable', 'N/A'),
    field('Max Unavailable', 'spec.maxUnavailable', 'N/A'),
    { name: 'Allowed Disruptions', type: 'integer', cell: (o) => at(o, 'status.disruptionsAllowed') ?? 0 },
    age,
  ),
  'rolebindings.rbac.authorization.k8s.io': bindings,
  'clusterrolebindings.rbac.authorization.k8s.io': bindings,
  resourcequotas: columnsOf(
    name,
    { name: 'Request', cell: (o) => quota(o, false) },
    { name: 'Limit', cell: (o) => quota(o, true) },
    age,
  ),
};

const unlisted = columnsOf(name, {
  name: 'Created At',
  type: 'date',
  cell: ({ metadata }) => metadata.creationTimestamp,
});

export const scaleColumns = columnsOf(
  name,
  { name: 'Desired', type: 'integer', cell: (o) => at(o, 'spec.replicas') ?? 0 },
  { name: 'Available', type: 'integer', cell: (o) => at(o, 'status.replicas') ?? 0 },
  { ...age, type: 'date' },
);

const ofDefinitions = new WeakMap<readonly PrinterColumn[], Columns>();
const ageOnly: readonly PrinterColumn[] = [
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

export function columnsFor({ resource, printerColumns }: Kind): Columns {
  if (!printerColumns) {
    const key = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
    return Object.hasOwn(builtin, key) ? (builtin[key] as Columns) : unlisted;
  }
  const wanted = printerColumns.length === 0 ? ageOnly : printerColumns;
  const known = ofDefinitions.get(wanted);
  if (known) return known;
  const columns = customColumns(wanted);
  ofDefinitions.set(wanted, columns);
  return columns;
}

function customColumns(printed: readonly PrinterColumn[]): Columns {
  const columns = printed.map((column): Column & PrinterColumn => {
    const path = parseJsonPath(column.jsonPath);
    return { ...column, cell: (object, now) => cellOf(column.type, path(object)[0], now) };
  });
  const [first] = columnsOf(name).definitions;
  const definitions = columns.map(
    ({ name: title, type, format = '', description, priority = 0, jsonPath }) => ({
      name: title,
      type,
      format,
      description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
      priority,
    }),
  );
  return {
    definitions: [...(first ? [first] : []), ...definitions],
    cells: (object, now) => [nameOf(object), ...columns.map(({ cell }) => cell(object, now))],
  };
}

/** A value in a column of another type than its own is not shown. */
function cellOf(type: string, value: unknown, now: Date): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageText(value, now);
    default:
      return null;
  }
}

function subjects(binding: ApiObject, kind: string): string {
  return items(binding, 'subjects')
    .filter((subject) => at(subject, 'kind') === kind)
    .map((subject) => {
      const scope = kind === 'ServiceAccount' ? `${text(at(subject, 'namespace'))}/` : '';
      return scope + text(at(subject, 'name'));
    })
    .join(', ');
}

function externalIp(service: ApiObject): string {
  const external = items(service, 'spec.externalIPs').map((ip) => text(ip));
  switch (at(service, 'spec.type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    case 'LoadBalancer': {
      const balanced = items(service, 'status.loadBalancer.ingress').map((one) =>
        text(at(one, 'ip') ?? at(one, 'hostname')),
      );
      return [...new Set(balanced.sort()), ...external].join(',') || '<pending>';
    }
    case 'ExternalName':
      return text(at(service, 'spec.externalName'));
    default:
      return '<unknown>';
  }
}

function servicePorts(service: ApiObject): string {
  const ports = items(service, 'spec.ports').map((port) => {
    const nodePort = at(port, 'nodePort');
    const published = typeof nodePort === 'number' && nodePort > 0 ? `:${nodePort}` : '';
    return `${text(at(port, 'port'))}${published}/${text(at(port, 'protocol'))}`;
  });
  return ports.join(',') || '<none>';
}

function slicePort(port: unknown): string {
  return text(at(port, 'port') ?? at(port, 'name'), '*');
}

function nodeStatus(node: ApiObject): string {
  const ready = items(node, 'status.conditions').find((condition) => at(condition, 'type') === 'Ready');
  const state = !ready ? 'Unknown' : at(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec.unschedulable') === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles({ metadata }: ApiObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(prefix)) return key.length > prefix.length ? [key.slice(prefix.length)] : [];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return [...new Set(roles.sort())].join(',') || '<none>';
}

function nodeAddress(node: ApiObject, type: string): string {
  const found = items(node, 'status.addresses').find((address) => at(address, 'type') === type);
  return text(at(found, 'address'), '<none>');
}

function kernelVersion(node: ApiObject): string {
  const version = text(at(node, 'status.nodeInfo.kernelVersion'), '<unknown>');
  const architecture = text(at(node, 'status.nodeInfo.architecture'));
  return architecture === '' ? version : `${version} (${architecture})`;
}

/** The two event APIs show the same objects under different names. */
function eventColumns(target: 'involvedObject' | 'regarding'): Columns {
  const isCore = target === 'involvedObject';
  const [firstTime, lastTime, total, message, source] = isCore
    ? ['firstTimestamp', 'lastTimestamp', 'count', 'message', 'source']
    : ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp', 'deprecatedCount', 'note', 'deprecatedSource'];
  const firstSeen = (o: ApiObject, now: Date) => ageText(at(o, firstTime) ?? at(o, 'eventTime'), now);
  const lastSeen = (o: ApiObject, now: Date) => {
    const last = at(o, 'series.lastObservedTime') ?? at(o, lastTime);
    return last === undefined || last === null ? firstSeen(o, now) : ageText(last, now);
  };
  const reporter = isCore ? 'reportingComponent' : 'reportingController';
  return columnsOf(
    { name: 'Last Seen', cell: lastSeen },
    field('Type', 'type'),
    field('Reason', 'reason'),
    {
      name: 'Object',
      cell: (o) => {
        const kind = text(at(o, `${target}.kind`)).toLowerCase();
        const subject = text(at(o, `${target}.name`));
        return subject === '' ? kind : `${kind}/${subject}`;
      },
    },
    { ...field('Subobject', `${target}.fieldPath`), ...wide },
    {
      name: 'Source',
      cell: (o) => {
        const component = text(at(o, `${source}.component`)) || text(at(o, reporter));
        const instance = text(at(o, `${source}.host`)) || text(at(o, 'reportingInstance'));
        return instance === '' ? component : `${component}, ${instance}`;
      },
      ...wide,
    },
    { name: 'Message', cell: (o) => text(at(o, message)).trim() },
    { name: 'First Seen', cell: firstSeen, ...wide },
    { name: 'Count', cell: (o) => at(o, 'series.count') ?? (at(o, total) || 1), ...wide },
    { ...name, ...wide },
  );
}

function phase(volume: ApiObject): string {
  return volume.metadata.deletionTimestamp === undefined ? text(at(volume, 'status.phase')) : 'Terminating';
}

function isBound(claim: ApiObject): boolean {
  return text(at(claim, 'spec.volumeName')) !== '';
}

const shortModes: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(modes: readonly unknown[]): string {
  return shortModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function claimOf(volume: ApiObject): string {
  const claim = at(volume, 'spec.claimRef');
  return isObject(claim) ? `${text(claim.namespace)}/${text(claim.name)}` : '';
}

function isDefaultClass({ metadata }: ApiObject): boolean {
  const annotations = metadata.annotations ?? {};
  return [
    'storageclass.kubernetes.io/is-default-class',
    'storageclass.beta.kubernetes.io/is-default-class',
  ].some((key) => annotations[key] === 'true');
}

function quota(object: ApiObject, ofLimits: boolean): string {
  const hard = at(object, 'status.hard');
  const used = at(object, 'status.used');
  const usedOf = (resource: string) => (isObject(used) ? text((used as JsonObject)[resource], '0') : '0');
  return Object.entries(isObject(hard) ? hard : {})
    .filter(([resource]) => resource.startsWith('limits.') === ofLimits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, limit]) => `${resource}: ${usedOf(resource)}/${text(limit)}`)
    .join(', ');
}
