/**
 * Who is who inside a home, and what each may do. Our own parts are users like any other: none of them
 * is an administrator, in process as over HTTP.
 */
import type { Rule } from '@hutch/apiserver';
import type { User } from '@hutch/kube-meta';
import { keysSecret } from '@hutch/routing';

const part = (name: string): User => ({ name: `system:hutch:${name}`, groups: ['system:authenticated'] });

export const accounts = {
  /** The person who owns the data directory. */
  admin: { name: 'hutch:admin', groups: ['system:masters', 'system:authenticated'] },
  /** Makes the namespaces and kinds a home starts with, then is not used again. */
  founder: { name: 'system:hutch:founder', groups: ['system:masters', 'system:authenticated'] },
  sandboxController: part('sandbox-controller'),
  homeControllers: part('home-controllers'),
  node: part('node'),
  router: part('router'),
} as const satisfies Record<string, User>;

const read = ['get', 'list', 'watch'];
const agents = 'agents.x-k8s.io';

/** RBAC-shaped rules by user name. */
export const rules: Readonly<Record<string, readonly Rule[]>> = {
  [accounts.sandboxController.name]: [
    {
      apiGroups: [agents],
      resources: ['sandboxes', 'sandboxes/status'],
      verbs: [...read, 'update', 'patch', 'delete'],
    },
    {
      apiGroups: [''],
      resources: ['pods', 'services', 'persistentvolumeclaims'],
      verbs: [...read, 'create', 'update', 'patch', 'delete'],
    },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  ],
  [accounts.homeControllers.name]: [
    { apiGroups: ['*'], resources: ['*'], verbs: [...read, 'patch', 'update', 'delete'] },
    {
      apiGroups: [''],
      resources: ['pods/binding', 'serviceaccounts', 'configmaps', 'persistentvolumes', 'events'],
      verbs: ['create'],
    },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['create'] },
    { apiGroups: [''], resources: ['namespaces/finalize'], verbs: ['update'] },
  ],
  [accounts.node.name]: [
    { apiGroups: [''], resources: ['pods'], verbs: [...read, 'delete'] },
    {
      apiGroups: [''],
      resources: ['pods/status', 'nodes', 'nodes/status'],
      verbs: [...read, 'create', 'update', 'patch'],
    },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  ],
  [accounts.router.name]: [
    { apiGroups: [agents], resources: ['sandboxes'], verbs: read },
    // A request to create names nothing yet, so only its namespace can confine it.
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'], namespaces: [keysSecret.namespace] },
    {
      apiGroups: [''],
      resources: ['secrets'],
      verbs: ['get', 'update'],
      namespaces: [keysSecret.namespace],
      resourceNames: [keysSecret.name],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ],
};
