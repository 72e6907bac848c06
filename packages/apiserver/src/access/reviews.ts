/** Questions in the form of objects: who does this token belong to, may that user do this. */
import { invalid, pathSegmentProblems, type Resource, statusFault, type User } from '@hutch/kube-meta';
import { isObject } from '../json.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';
import { invalidValue } from '../problems.ts';
import type { Authenticator } from './authentication.ts';
import type { Attributes, Authorizer } from './authorization.ts';

function reviewKind(group: string, kind: string, review: NonNullable<Kind['review']>): Kind {
  const plural = `${kind.toLowerCase()}s`;
  const resource: Resource = { group, version: 'v1', plural, kind, namespaced: false };
  return {
    resource,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    verbs: ['create'],
    subresources: [],
    storedVersion: 'v1',
    selectableFields: [],
    nameProblems: pathSegmentProblems,
    hasGeneration: false,
    allowsUnconditionalUpdate: false,
    statusWritesMetadata: false,
    returnsDeleted: false,
    normalise: (object) => object,
    validate: () => [],
    review,
  };
}

export function reviewKinds(deps: { authenticator: Authenticator; authorizer: Authorizer }): Kind[] {
  const { authenticator, authorizer } = deps;
  const accessStatus = (attributes: Attributes) => {
    const { isAllowed, reason } = authorizer(attributes);
    return { allowed: isAllowed, ...(reason === undefined ? {} : { reason }) };
  };

  return [
    reviewKind('authentication.k8s.io', 'TokenReview', async (object) => {
      const { token } = specOf(object);
      const user =
        typeof token === 'string' ? await authenticator({ authorization: `Bearer ${token}` }) : undefined;
      if (!user) return { user: {}, error: 'invalid bearer token' };
      const { name, groups, uid } = user;
      return { authenticated: true, user: { username: name, ...(uid === undefined ? {} : { uid }), groups } };
    }),
    reviewKind('authorization.k8s.io', 'SubjectAccessReview', async (object) => {
      const { user, groups } = specOf(object);
      const name = typeof user === 'string' ? user : '';
      const memberships = Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [];
      if (name === '' && memberships.length === 0) {
        const problem = invalidValue('spec.user', name, 'at least one of user or group must be specified');
        throw invalid(subjectAccessReviews, '', [problem]);
      }
      return accessStatus(reviewedAttributes(object, { name, groups: memberships }));
    }),
    reviewKind('authorization.k8s.io', 'SelfSubjectAccessReview', async (object, asker) =>
      accessStatus(reviewedAttributes(object, asker)),
    ),
  ];
}

const subjectAccessReviews = {
  group: 'authorization.k8s.io',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
};

function specOf(object: ApiObject): Readonly<Record<string, unknown>> {
  return isObject(object.spec) ? object.spec : {};
}

function reviewedAttributes(object: ApiObject, user: User): Attributes {
  const { resourceAttributes, nonResourceAttributes } = specOf(object);
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  if (isObject(resourceAttributes)) {
    const { verb, group, resource, subresource, namespace, name } = resourceAttributes;
    return {
      type: 'resource',
      user,
      verb: text(verb) ?? '',
      group: text(group) ?? '',
      resource: text(resource) ?? '',
      subresource: text(subresource),
      namespace: text(namespace),
      name: text(name),
    };
  }
  if (isObject(nonResourceAttributes)) {
    const { verb, path } = nonResourceAttributes;
    return { type: 'path', user, verb: text(verb) ?? '', path: text(path) ?? '' };
  }
  throw statusFault(
    'badRequest',
    'exactly one of nonResourceAttributes or resourceAttributes must be specified',
  );
}
