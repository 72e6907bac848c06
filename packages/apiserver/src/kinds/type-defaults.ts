/** What members of built-in types are when a client leaves them out, by type: wherever such a value stands. */
import { isObject, type JsonObject } from '../json.ts';
import type { TypeDefaults } from '../schema/typed.ts';

const filesMode = { defaultMode: 0o644 };
const rbacGroup = 'rbac.authorization.k8s.io';

function pulled(image: unknown): string {
  return isFloating(typeof image === 'string' ? image : '') ? 'Always' : 'IfNotPresent';
}

/** An image without a tag, or with `latest`, may be another one tomorrow. */
function isFloating(image: string): boolean {
  if (image.includes('@') || image === '') return false;
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1];
  return tag === undefined || tag === 'latest';
}

const containerDefaults = ({ image }: JsonObject) => ({
  imagePullPolicy: pulled(image),
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
});

function hasMembers(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}

export const typeDefaults: TypeDefaults = {
  'core.v1.PodSpec': () => ({
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    securityContext: {},
    schedulerName: 'default-scheduler',
  }),
  'core.v1.Container': containerDefaults,
  'core.v1.EphemeralContainer': containerDefaults,
  'core.v1.Volume': (volume) => (Object.keys(volume).some((key) => key !== 'name') ? {} : { emptyDir: {} }),
  'core.v1.ImageVolumeSource': ({ reference }) => ({ pullPolicy: pulled(reference) }),
  'core.v1.Probe': () => ({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  'core.v1.HTTPGetAction': () => ({ path: '/', scheme: 'HTTP' }),
  'core.v1.GRPCAction': () => ({ service: '' }),
  'core.v1.ObjectFieldSelector': () => ({ apiVersion: 'v1' }),
  'core.v1.SecretVolumeSource': () => filesMode,
  'core.v1.ConfigMapVolumeSource': () => filesMode,
  'core.v1.DownwardAPIVolumeSource': () => filesMode,
  'core.v1.ProjectedVolumeSource': () => filesMode,
  'core.v1.HostPathVolumeSource': () => ({ type: '' }),
  'core.v1.ServiceAccountTokenProjection': () => ({ expirationSeconds: 3600 }),
  'core.v1.NamespaceStatus': () => ({ phase: 'Active' }),
  'core.v1.NodeStatus': ({ capacity }) => (hasMembers(capacity) ? { allocatable: capacity } : {}),
  'core.v1.PersistentVolumeSpec': () => ({
    persistentVolumeReclaimPolicy: 'Retain',
    volumeMode: 'Filesystem',
  }),
  'core.v1.PersistentVolumeStatus': () => ({ phase: 'Pending' }),
  'core.v1.PersistentVolumeClaimSpec': () => ({ volumeMode: 'Filesystem' }),
  'core.v1.PersistentVolumeClaimStatus': () => ({ phase: 'Pending' }),
  'core.v1.EndpointPort': () => ({ protocol: 'TCP' }),
  'core.v1.Secret': () => ({ type: 'Opaque' }),
  'core.v1.LimitRangeItem': ({ type, max = {}, min = {}, default: given = {}, defaultRequest = {} }) => {
    if (type !== 'Container') return {};
    const limits = { ...(max as object), ...(given as object) };
    return {
      default: limits,
      defaultRequest: { ...(min as object), ...limits, ...(defaultRequest as object) },
    };
  },
  'rbac.v1.RoleRef': () => ({ apiGroup: rbacGroup }),
  'rbac.v1.Subject': ({ kind }) => (kind === 'User' || kind === 'Group' ? { apiGroup: rbacGroup } : {}),
  'storage.v1.StorageClass': () => ({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  'networking.v1.NetworkPolicyPort': () => ({ protocol: 'TCP' }),
  'networking.v1.NetworkPolicySpec': ({ egress }) => ({
    policyTypes: Array.isArray(egress) && egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'],
  }),
  'discovery.v1.EndpointPort': () => ({ name: '', protocol: 'TCP' }),
  'scheduling.v1.PriorityClass': () => ({ preemptionPolicy: 'PreemptLowerPriority' }),
  'apiextensions.v1.ServiceReference': () => ({ port: 443 }),
};
