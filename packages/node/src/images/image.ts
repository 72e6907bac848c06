/** What a container or an image volume needs to know of an image, wherever it came from. */
import type { OciMount } from '../containers/oci.ts';

export interface Image {
  readonly reference: string;
  /** A directory that is never written to: the lowest layer of a root, or the source of an image volume. */
  readonly directory: string;
  /** What is mounted over the directory when it is a root. */
  readonly mounts: readonly OciMount[];
  readonly user: { readonly uid: number; readonly gid: number };
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

export interface ImageStore {
  /** A `not-found` fault, with a message for people, when there is no such image and none can be had. */
  resolve(reference: string, signal: AbortSignal): Promise<Image>;
}
