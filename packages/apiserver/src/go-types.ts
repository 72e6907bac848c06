/** How the decoder of the server that clients know calls types. It shows in refusals. */
import type { Resource } from '@hutch/kube-meta';

/** A text in quotes: as in JSON, but for the characters nobody can see. */
export function goQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(/\\u00([01][0-9a-f])|\x7f/g, (_, code: string | undefined) => {
    const named: Record<string, string> = { '07': '\\a', '0b': '\\v' };
    return named[code ?? ''] ?? `\\x${code ?? '7f'}`;
  });
}

/** The type of a JSON value. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The type of objects of a kind as clients send them. */
export function goTypeName(apiVersion: string, kind: string): string {
  return `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`;
}

/** The type of objects of a kind as the server works with them. */
export function goInternalType({ group, kind }: Resource): string {
  return `${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
}
