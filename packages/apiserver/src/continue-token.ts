/** Where a listing goes on: a place among the keys, and the state it is a listing of. In Kubernetes' own form. */
import { statusFault } from '@hutch/kube-meta';
import { isObject } from './json.ts';
import { jsonProblem } from './json-text.ts';

const version = 'meta.k8s.io/v1';

export interface Place {
  /** Undefined: whatever state there is now. */
  readonly revision: number | undefined;
  /** The next key, without the prefix of the listing. */
  readonly start: string;
}

export function encodeContinue({ revision = -1, start }: Place): string {
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start })).toString('base64url');
}

export function decodeContinue(token: string): Place {
  const { v = '', rv = 0, start = '' } = parse(token);
  if (v !== version) throw refused(`server does not recognize this encoded version ${String(v)}`);
  if (rv === 0) throw refused(`incorrect encoded start resourceVersion (version ${version})`);
  if (start === '') throw refused(`encoded start key empty (version ${version})`);
  if (!Number.isSafeInteger(rv) || typeof start !== 'string') throw refused('a member has the wrong type');
  // A start that climbs out of its prefix is none of ours.
  if (`/${start}`.split('/').some((part, at) => (at > 0 && part === '') || part === '.' || part === '..')) {
    throw refused(start);
  }
  return { revision: (rv as number) < 0 ? undefined : (rv as number), start };
}

function parse(token: string): Readonly<Record<string, unknown>> {
  const odd = token.length % 4 === 1 ? token.length - 1 : token.search(/[^\w-]/);
  if (odd >= 0) throw refused(`illegal base64 data at input byte ${odd}`);
  const bytes = Buffer.from(token, 'base64url');
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? value : {};
  } catch {
    throw refused(jsonProblem(bytes));
  }
}

function refused(why: string): Error {
  return statusFault('badRequest', `invalid continue token: continue key is not valid: ${why}`);
}
