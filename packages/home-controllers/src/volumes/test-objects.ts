/** Volumes, claims and classes for tables: a case states only what it is about. */
import type {
  DraftMeta,
  ObjectMeta,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '@hutch/kube-meta';

interface Given<T extends { readonly spec: unknown; readonly status?: unknown }> {
  readonly metadata?: DraftMeta;
  readonly spec?: Partial<T['spec']>;
  readonly status?: T['status'];
}

function someMeta(name: string, given: DraftMeta = {}): ObjectMeta {
  const uid = `uid-of-${given.name ?? name}`;
  return { name, uid, resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z', ...given };
}

export function aVolume({ metadata, spec, status }: Given<PersistentVolume> = {}): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: someMeta('volume', metadata),
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'fast', ...spec },
    status: status ?? { phase: 'Available' },
  };
}

export function aClaim({ metadata, spec, status }: Given<PersistentVolumeClaim> = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: someMeta('claim', { namespace: 'default', ...metadata }),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'fast',
      ...spec,
    },
    status: status ?? { phase: 'Pending' },
  };
}

export function aClass(
  name: string,
  { metadata, ...given }: Partial<Omit<StorageClass, 'metadata'>> & { metadata?: DraftMeta } = {},
): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: someMeta(name, metadata),
    provisioner: 'example.test/maker',
    ...given,
  };
}

/** How a volume names the claim it is tied to. */
export const tiedTo = ({ metadata }: PersistentVolumeClaim, uid: string | undefined = metadata.uid) => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  ...(uid === '' ? {} : { uid }),
});

export const onNode = (name: string) => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'In' as const, values: [name] }] }],
  },
});
