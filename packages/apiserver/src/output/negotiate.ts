/** What form of an answer a client accepts, from its Accept header. We write JSON (which is YAML too). */
import { statusFault } from '@hutch/kube-meta';

const shapes = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;

/** What an object is turned into before it is sent. */
type Shape = 'object' | (typeof shapes)[number];

export interface OutputForm {
  readonly shape: Shape;
  /** Of a shape other than the object's own. */
  readonly apiVersion: string;
  readonly mediaType: string;
}

interface Clause {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

const served = ['application/json', 'application/yaml'];

const protobuf = 'application/vnd.kubernetes.protobuf';

/**
 * What refusals name: the list every Kubernetes server shows, also for kinds that it serves in fewer forms. Clients
 * that can do with JSON accept it besides, so none is led astray.
 */
export const named: readonly string[] = [...served, protobuf];

const plain: OutputForm = { shape: 'object', apiVersion: '', mediaType: 'application/json' };

/**
 * The first form among those a client accepts that we can give. Clients that do not care are given JSON.
 * Built-in kinds refuse what is no media type of theirs before they look at its parameters, in other words.
 */
export function negotiateOutput(
  accept: string | undefined,
  { isCustom = false, isList = false }: { isCustom?: boolean | undefined; isList?: boolean } = {},
): OutputForm {
  if (!accept || accept === 'application/json') return plain; // by far the most
  // Built-in kinds know a whole wildcard, but none of one type.
  const clauses = parseAccept(accept).filter(
    ({ type }) => isCustom || type === '*/*' || !type.endsWith('/*'),
  );
  for (const clause of clauses) {
    const mediaType = served.find((type) => covers(clause.type, type));
    const form = mediaType === undefined ? undefined : formOf(clause, mediaType);
    if (form) return form;
  }
  const isForeign = !clauses.some(({ type }) => named.some((one) => covers(type, one)));
  if (isCustom || !isForeign) throw notAcceptable();
  const streams = isList ? ['application/json;stream=watch', `${protobuf};stream=watch`] : [];
  throw noRepresentation([...named, ...streams]);
}

/** Whether a document we have in JSON can be shown. */
export function checkAcceptsJson(accept: string | undefined, refuse: () => Error): void {
  if (!accept) return;
  if (!parseAccept(accept).some(({ type }) => served.some((one) => covers(type, one)))) throw refuse();
}

export function noRepresentation(available: readonly string[]): Error {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`;
  return statusFault('notAcceptable', message, {});
}

/** The form of discovery that was asked for, as `group/version` of the aggregated list; undefined for the plain one. */
export function aggregatedDiscoveryVersion(accept: string | undefined): string | undefined {
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    if (!served.some((one) => covers(type, one))) continue;
    if (!parameters.has('as')) return undefined;
    const isList = parameters.get('as') === 'APIGroupDiscoveryList';
    if (isList && parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('v') === 'v2') {
      return 'apidiscovery.k8s.io/v2';
    }
  }
  return undefined;
}

export function notAcceptable(
  message = `only the following media types are accepted: ${named.join(', ')}`,
): Error {
  return statusFault('notAcceptable', message);
}

function formOf({ parameters }: Clause, mediaType: string): OutputForm | undefined {
  const stream = parameters.get('stream');
  if (stream !== undefined && stream !== '' && stream !== 'watch') return undefined;
  if (parameters.has('sv') && parameters.get('sv') !== '') return undefined;
  const shape = parameters.get('as');
  if (shape === undefined && !parameters.has('g') && !parameters.has('v')) return { ...plain, mediaType };
  const group = parameters.get('g');
  const version = parameters.get('v');
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  const known = shapes.find((one) => one === shape);
  return known && { shape: known, apiVersion: `${group}/${version}`, mediaType };
}

function covers(pattern: string, type: string): boolean {
  return (
    pattern === type || pattern === '*/*' || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1)))
  );
}

/** Best first: by what the client prefers, then the more specific. */
function parseAccept(accept: string): Clause[] {
  const clauses = accept.split(',').map((text): Clause => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    const parameters = new Map(
      rest.map((part): [string, string] => {
        const equals = part.indexOf('=');
        return equals < 0 ? [part, ''] : [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
      }),
    );
    const quality = Number(parameters.get('q') ?? '1');
    return { type: type.toLowerCase(), quality: Number.isNaN(quality) ? 1 : quality, parameters };
  });
  const vagueness = ({ type }: Clause) => (type === '*/*' ? 2 : type.endsWith('/*') ? 1 : 0);
  return clauses
    .filter(({ type }) => type !== '')
    .sort((a, b) => b.quality - a.quality || vagueness(a) - vagueness(b));
}
