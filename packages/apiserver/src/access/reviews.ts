/** Questions in the form of objects: who does this token belong to, may that user do this. */
import { invalid, pathSegmentProblems, type Resource, statusFault, type User } from '@hutch/kube-meta';
import { isObject } from '../json.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';
import { invalidValue, type Problem } from '../problems.ts';
import type { Authenticator } from './authentication.ts';
import type { Attributes, Authorizer } from './authorization.ts';

function reviewKind(
  group: string,
  kind: string,
  review: NonNullable<Kind['review']>,
  namespaced = false,
): Kind {
  const plural = `${kind.toLowerCase()}s`;
  const resource: Resource = { group, version: 'v1', plural, kind, namespaced };
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

  const reviewSubject: NonNullable<Kind['review']> = async (object) => {
    const { user, groups } = specOf(object);
    const name = typeof user === 'string' ? user : '';
    const memberships = Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [];
    const isNobody = name === '' && memberships.length === 0;
    checkQuestion(object, [
      ...(isNobody
        ? [invalidValue('spec.user', name, 'at least one of user or group must be specified')]
        : []),
    ]);
    return accessStatus(reviewedAttributes(object, { name, groups: memberships }));
  };

  return [
    reviewKind('authentication.k8s.io', 'SelfSubjectReview', async (_, { name, groups, uid }) => ({
      userInfo: { username: name, ...(uid === undefined ? {} : { uid }), groups },
    })),
    reviewKind('authentication.k8s.io', 'TokenReview', async (object) => {
      const { token } = specOf(object);
      if (typeof token !== 'string' || token === '') {
        throw statusFault('badRequest', 'token is required for TokenReview in authentication');
      }
      const user = await authenticator({ authorization: `Bearer ${token}` });
      if (!user) return { user: {}, error: 'invalid bearer token' };
      const { name, groups, uid } = user;
      return { authenticated: true, user: { username: name, ...(uid === undefined ? {} : { uid }), groups } };
    }),
    reviewKind('authorization.k8s.io', 'SubjectAccessReview', reviewSubject),
    reviewKind('authorization.k8s.io', 'LocalSubjectAccessReview', reviewSubject, true),
    reviewKind('authorization.k8s.io', 'SelfSubjectAccessReview', async (object, asker) => {
      checkQuestion(object);
      return accessStatus(reviewedAttributes(object, asker));
    }),
  ];
}

/** A review asks one thing, of a resource or of a path. Its refusal names no kind, as Kubernetes' does not. */
function checkQuestion(object: ApiObject, more: readonly Problem[] = []): void {
  const { resourceAttributes, nonResourceAttributes } = specOf(object);
  const ofResource = isObject(resourceAttributes);
  const ofPath = isObject(nonResourceAttributes) ? nonResourceAttributes : undefined;
  const problems = [...more];
  if (ofResource && ofPath) {
    const shown = { Path: ofPath.path ?? '', Verb: ofPath.verb ?? '' };
    const why = 'cannot be specified in combination with resourceAttributes';
    problems.unshift(invalidValue('spec.nonResourceAttributes', shown, why));
  }
  if (!ofResource && !ofPath) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    const message = `Invalid value: null: ${why}`;
    problems.unshift({ field: 'spec.resourceAttributes', reason: 'FieldValueInvalid', message });
  }
  if (problems.length > 0)
    throw invalid({ group: 'authorization.k8s.io', plural: '', kind: '' }, '', problems);
}

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
  const { verb, path } = isObject(nonResourceAttributes) ? nonResourceAttributes : {};
  return { type: 'path', user, verb: text(verb) ?? '', path: text(path) ?? '' };
}
