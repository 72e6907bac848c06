/** A pod's volumes: made once for the pod, mounted into each container that asks. */
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '@hutch/base';
import type { Container, Pod } from '@hutch/kube-meta';
import type { OciMount } from '../containers/oci.ts';
import { parseQuantity } from '../containers/quantity.ts';
import type { ImageStore } from '../images/image.ts';

export type VolumeSource =
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'memory'; readonly sizeBytes: number | undefined; readonly gid: number | undefined }
  | { readonly type: 'image'; readonly directory: string };

export interface VolumeContext {
  /** The pod's own directory for them. */
  readonly directory: string;
  readonly firstUid: number;
  readonly images: ImageStore;
  readonly signal: AbortSignal;
}

/** Makes what must exist before a container can be created. Finding it made already is fine. */
export async function prepareVolumes(pod: Pod, context: VolumeContext): Promise<Map<string, VolumeSource>> {
  const gid = pod.spec.securityContext?.fsGroup;
  const sources = new Map<string, VolumeSource>();
  for (const volume of pod.spec.volumes ?? []) {
    if (volume.image) {
      const { directory } = await context.images.resolve(volume.image.reference ?? '', context.signal);
      sources.set(volume.name, { type: 'image', directory });
    } else if (volume.emptyDir?.medium === 'Memory') {
      const limit = volume.emptyDir.sizeLimit;
      const sizeBytes = limit === undefined ? undefined : Math.round(parseQuantity(limit));
      sources.set(volume.name, { type: 'memory', sizeBytes, gid });
    } else if (volume.emptyDir) {
      const path = join(context.directory, volume.name);
      await makeShared(path, context.firstUid, gid);
      sources.set(volume.name, { type: 'directory', path });
    } else {
      throw new Fault('unsupported', `volume ${volume.name}: its kind is not supported`); // refused before; a bug if seen
    }
  }
  return sources;
}

/** Open to every user of the pod, as an emptyDir is; the directory above it is closed to the machine's users. */
async function makeShared(path: string, firstUid: number, gid: number | undefined): Promise<void> {
  await mkdir(path, { recursive: true });
  await chown(path, firstUid, firstUid + (gid ?? 0));
  await chmod(path, gid === undefined ? 0o777 : 0o2777); // after chown, which clears the set-group bit
}

/** The mounts of one container, outer paths first so that one may lie inside another. */
export function volumeMounts(container: Container, sources: ReadonlyMap<string, VolumeSource>): OciMount[] {
  const mounts = (container.volumeMounts ?? []).map((mount) => {
    const source = sources.get(mount.name);
    if (!source) throw new Fault('invalid', `container ${container.name}: no volume named ${mount.name}`);
    return desiredMount(mount.mountPath, source, mount.readOnly === true);
  });
  return mounts.sort((a, b) => depth(a.destination) - depth(b.destination));
}

function desiredMount(destination: string, source: VolumeSource, isReadOnly: boolean): OciMount {
  switch (source.type) {
    case 'directory':
      return bind(destination, source.path, isReadOnly);
    case 'image':
      return bind(destination, source.directory, true);
    case 'memory':
      return { destination, type: 'tmpfs', source: 'tmpfs', options: memoryOptions(source, isReadOnly) };
  }
}

function memoryOptions(source: VolumeSource & { type: 'memory' }, isReadOnly: boolean): string[] {
  return [
    isReadOnly ? 'ro' : 'rw',
    'nosuid',
    'nodev',
    ...(source.gid === undefined ? ['mode=0777'] : ['mode=2777', `gid=${source.gid}`]),
    ...(source.sizeBytes === undefined ? [] : [`size=${source.sizeBytes}`]),
  ];
}

function bind(destination: string, source: string, isReadOnly: boolean): OciMount {
  const options = ['rbind', isReadOnly ? 'ro' : 'rw', 'nosuid', 'nodev', 'rprivate'];
  return { destination, type: 'bind', source, options };
}

const depth = (path: string) => path.split('/').filter((part) => part !== '').length;
