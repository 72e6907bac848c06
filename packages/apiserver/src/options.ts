/** The options of a request, from its query: read as Kubernetes reads them, refused in its words. */
import { invalid, type StatusCause, statusFault } from '@hutch/kube-meta';
import { forbiddenField, invalidValue, type Problem, tooLong, unsupportedValue } from './problems.ts';
import { readBoolean, readInteger, readResourceVersion } from './query.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly isDryRun: boolean;
  readonly fieldValidation: FieldValidation;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions';

export function invalidOptions(kind: OptionsKind, problems: readonly Problem[]): Error {
  const resource = { group: 'meta.k8s.io', plural: kind, kind };
  return invalid(resource, '', problems as readonly Required<StatusCause>[]);
}

const maxManagerLength = 128;

export function readWriteOptions(query: URLSearchParams, kind: OptionsKind): WriteOptions {
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const problems = [
    ...(kind === 'PatchOptions' && query.has('force')
      ? [forbiddenField('force', 'may not be specified for non-apply patch')]
      : []),
    ...managerProblems(query.get('fieldManager') ?? ''),
    ...dryRunProblems(dryRun),
    ...(['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)
      ? []
      : [unsupportedValue('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn'])]),
  ];
  if (problems.length > 0) throw invalidOptions(kind, problems);
  return {
    isDryRun: dryRun.includes('All'),
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
  };
}

export function dryRunProblems(values: readonly unknown[]): Problem[] {
  return values.every((value) => value === 'All') ? [] : [unsupportedValue('dryRun', values, ['All'])];
}

function managerProblems(manager: string): Problem[] {
  const unprintable = [...manager].flatMap((char, at) => {
    if (!/\p{C}/u.test(char)) return [];
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return [invalidValue('fieldManager', manager, `invalid character U+${code} (at position ${at})`)];
  });
  return [
    ...(Buffer.byteLength(manager) > maxManagerLength ? [tooLong('fieldManager', maxManagerLength)] : []),
    ...unprintable,
  ];
}

export interface ListOptions {
  /** Undefined: the newest state there is. */
  readonly resourceVersion: number | undefined;
  /** Whether `resourceVersion` is the one state wanted, and not just the oldest that will do. */
  readonly isExact: boolean;
  /** Any state will do. Kubernetes answers these from its cache, which knows no pages. */
  readonly takesAny: boolean;
  readonly limit: number | undefined;
  readonly continueToken: string | undefined;
}

const exact = 'Exact';
const notOlder = 'NotOlderThan';
const matchField = 'resourceVersionMatch';

export function readListOptions(query: URLSearchParams): ListOptions {
  readInteger(query, 'timeoutSeconds'); // means nothing to a list, but must be a number
  const limit = readInteger(query, 'limit') ?? 0;
  const asked = query.get('resourceVersion') ?? '';
  const match = query.get(matchField) ?? '';
  const continueToken = query.get('continue') || undefined;
  const problems: Problem[] = [];
  if (match !== '') {
    const refuse = (why: string) => problems.push(forbiddenField(matchField, why));
    if (asked === '') refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (continueToken !== undefined) refuse('resourceVersionMatch is forbidden when continue is provided');
    if (match !== exact && match !== notOlder) {
      problems.push(unsupportedValue(matchField, match, [exact, notOlder, '']));
    }
    if (match === exact && asked === '0') {
      refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (query.has('sendInitialEvents')) {
    problems.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (problems.length > 0) throw invalidOptions('ListOptions', problems);
  const resourceVersion = readListVersion(query);
  return {
    resourceVersion,
    isExact: match === exact || (match === '' && limit > 0 && resourceVersion !== undefined),
    takesAny: asked === '0',
    limit: limit > 0 ? limit : undefined,
    continueToken,
  };
}

/** Lists word this refusal in a way of their own. */
function readListVersion(query: URLSearchParams): number | undefined {
  try {
    return readResourceVersion(query);
  } catch (err) {
    throw statusFault('badRequest', `invalid resource version: ${(err as Error).message}`, undefined, err);
  }
}

export interface WatchOptions {
  readonly resourceVersion: number | undefined;
  /** Begin with everything there is. */
  readonly sendsInitial: boolean;
  readonly wantsBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

export function readWatchOptions(query: URLSearchParams): WatchOptions {
  const timeoutSeconds = readInteger(query, 'timeoutSeconds');
  const match = query.get(matchField) ?? '';
  const hasInitial = query.has('sendInitialEvents');
  const problems: Problem[] = [];
  if (hasInitial && match !== notOlder) {
    const why = `sendInitialEvents requires setting resourceVersionMatch to ${notOlder}`;
    problems.push(forbiddenField(matchField, why));
  }
  if (match !== '') {
    if (!hasInitial) {
      const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
      problems.push(forbiddenField(matchField, why));
    }
    if (match !== notOlder) problems.push(unsupportedValue(matchField, match, [notOlder]));
  }
  // A watch from no version counts as one that has named its match.
  const asked = query.get('resourceVersion') ?? '';
  const hasMatch = match !== '' || (!hasInitial && (asked === '' || asked === '0'));
  if (hasMatch && query.get('continue')) {
    problems.push(forbiddenField(matchField, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  if (problems.length > 0) throw invalidOptions('ListOptions', problems);
  const resourceVersion = readResourceVersion(query);
  return {
    resourceVersion,
    // A watch from no particular version shows what is there first, asked or not.
    sendsInitial: hasInitial ? readBoolean(query, 'sendInitialEvents') : resourceVersion === undefined,
    wantsBookmarks: readBoolean(query, 'allowWatchBookmarks'),
    timeoutSeconds: timeoutSeconds !== undefined && timeoutSeconds > 0 ? timeoutSeconds : undefined,
  };
}
