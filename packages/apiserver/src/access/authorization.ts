/** Who may do what. Decided from values alone, so that a review can ask on behalf of another. */
import { resourceText, statusFault, type User } from '@hutch/kube-meta';
import type { RequestTarget } from '../request-target.ts';

export interface ResourceAttributes {
  readonly type: 'resource';
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly version?: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Absent at the cluster scope and for all namespaces. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface PathAttributes {
  readonly type: 'path';
  readonly user: User;
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

export interface Verdict {
  readonly isAllowed: boolean;
  readonly reason?: string;
}

export type Authorizer = (attributes: Attributes) => Verdict;

/** The form of a rule of a Role, with `namespaces` in place of the binding that would confine it. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  /** `pods`, `pods/log`, `*`, and a subresource of everything as in `*` + `/status`. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly namespaces?: readonly string[];
  /** A path, or the beginning of one followed by `*`. */
  readonly nonResourceURLs?: readonly string[];
}

export interface RulesBySubject {
  readonly users?: Readonly<Record<string, readonly Rule[]>>;
  readonly groups?: Readonly<Record<string, readonly Rule[]>>;
}

const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

/** What Kubernetes grants to everybody, and to everybody who is somebody. */
const baseRules: Readonly<Record<string, readonly Rule[]>> = {
  'system:masters': [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ],
  'system:unauthenticated': [{ verbs: ['get'], nonResourceURLs: publicPaths }],
  'system:authenticated': [
    { verbs: ['get'], nonResourceURLs: [...publicPaths, '/api', '/api/*', '/apis', '/apis/*', '/openapi/*'] },
    { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews'] },
  ],
};

/** Decides from fixed rules by user name and by group. What no rule allows is not allowed. */
export function rulesAuthorizer({ users = {}, groups = {} }: RulesBySubject): Authorizer {
  return (attributes) => {
    const { user } = attributes;
    const rules = [
      own(users, user.name),
      ...groupsOf(user).flatMap((group) => [own(baseRules, group), own(groups, group)]),
    ].flat();
    return { isAllowed: rules.some((rule) => allows(rule, attributes)) };
  };
}

function own(rules: Readonly<Record<string, readonly Rule[]>>, name: string): readonly Rule[] {
  return Object.hasOwn(rules, name) ? (rules[name] ?? []) : [];
}

function groupsOf({ groups }: User): readonly string[] {
  const isKnown = !groups.includes('system:unauthenticated') && !groups.includes('system:authenticated');
  return isKnown ? [...groups, 'system:authenticated'] : groups;
}

function allows(rule: Rule, attributes: Attributes): boolean {
  if (!covers(rule.verbs, attributes.verb)) return false;
  if (attributes.type === 'path') {
    return (rule.nonResourceURLs ?? []).some((pattern) => coversPath(pattern, attributes.path));
  }
  const { group, resource, subresource, name, namespace } = attributes;
  if (!covers(rule.apiGroups ?? [], group)) return false;
  if (rule.resourceNames && (name === undefined || !rule.resourceNames.includes(name))) return false;
  if (rule.namespaces && (namespace === undefined || !rule.namespaces.includes(namespace))) return false;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return (rule.resources ?? []).some(
    (pattern) =>
      pattern === '*' || pattern === full || (subresource !== undefined && pattern === `*/${subresource}`),
  );
}

function covers(patterns: readonly string[], value: string): boolean {
  return patterns.includes('*') || patterns.includes(value);
}

function coversPath(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

export function attributesOf(target: RequestTarget, user: User): Attributes {
  if (target.type === 'path') return { type: 'path', user, verb: target.verb, path: target.path };
  const { verb, group, version, plural, subresource, namespace, name } = target;
  return { type: 'resource', user, verb, group, version, resource: plural, subresource, namespace, name };
}

export function forbidden(attributes: Attributes, reason = ''): Error {
  const { user, verb } = attributes;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (attributes.type === 'path') {
    return statusFault(
      'forbidden',
      `forbidden: User "${user.name}" cannot ${verb} path "${attributes.path}"${tail}`,
      {},
    );
  }
  const { group, resource, subresource, namespace, name } = attributes;
  const what = resourceText({ group, plural: resource });
  const subject = name === undefined ? what : `${what} "${name}"`;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${subject} is forbidden: User "${user.name}" cannot ${verb} resource "${full}" in API group "${group}" ${scope}${tail}`;
  return statusFault('forbidden', message, {
    ...(name === undefined ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}
