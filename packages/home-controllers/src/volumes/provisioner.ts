/** How the home makes volumes. Whoever has the disk implements it; these controllers only ask. */
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@hutch/kube-meta';

export interface VolumeRequest {
  /** Of the volume to be. Asked for again under the same name when the first answer was lost. */
  readonly name: string;
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
}

/** Where the data are (`hostPath`, `local`, …) and from where they can be reached. */
export type ProvisionedVolume = Partial<PersistentVolume['spec']>;

export interface VolumeProvisioner {
  /** What storage classes call it. */
  readonly name: string;
  /** Makes room for a claim. Must give the same volume when it is asked for the same name again. */
  provision(request: VolumeRequest, signal: AbortSignal): Promise<ProvisionedVolume>;
  /** Removes what `provision` made, data and all. Nothing to remove is a success. */
  remove(volume: PersistentVolume, signal: AbortSignal): Promise<void>;
}
