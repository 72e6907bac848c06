/** Reading query parameters as Kubernetes reads them. */
import {
  type FieldSelector,
  type LabelSelector,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  statusFault,
} from '@hutch/kube-meta';
import type { ApiObject, Kind } from './kinds/kind.ts';

/** Absent is false; a name without a value is true; any spelling of true and false is understood. */
export function readBoolean(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null) return false;
  return !['false', 'f', '0'].includes(text.toLowerCase());
}

export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text))
    throw statusFault('badRequest', `query parameter ${name}: "${text}" is not an integer`);
  return Number(text);
}

/** Undefined when the caller takes any state there is. */
export function readResourceVersion(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '' || text === '0') return undefined;
  if (!/^\d{1,15}$/.test(text)) {
    throw statusFault('badRequest', `resourceVersion: Invalid value: "${text}": invalid resource version`);
  }
  return Number(text);
}

export function isDryRun(query: URLSearchParams): boolean {
  const values = query.getAll('dryRun');
  const unknown = values.find((value) => value !== 'All' && value !== '');
  if (unknown !== undefined) {
    throw statusFault('badRequest', `dryRun: Unsupported value: "${unknown}": supported values: "All"`);
  }
  return values.includes('All');
}

export type Matcher = (object: ApiObject) => boolean;

/** The label and field selectors of a query as one question. */
export function readMatcher(query: URLSearchParams, kind: Kind): Matcher {
  const labels: LabelSelector = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields: FieldSelector = parseFieldSelector(query.get('fieldSelector') ?? '');
  const known = [
    'metadata.name',
    ...(kind.resource.namespaced ? ['metadata.namespace'] : []),
    ...kind.selectableFields,
  ];
  const unknown = fields.find(({ field }) => !known.includes(field));
  if (unknown) {
    throw statusFault('badRequest', `field label not supported: ${unknown.field}`);
  }
  if (labels.length === 0 && fields.length === 0) return () => true;
  return (object) => matchesLabels(labels, object.metadata.labels) && matchesFields(fields, object);
}
