/** The images that are part of the home itself and are never pulled. */
import { stat } from 'node:fs/promises';
import { Fault } from '@hutch/base';
import { isErrno } from '../files.ts';
import { HostImage } from './host-image.ts';
import type { Image, ImageStore } from './image.ts';

/** `host`: the machine's own tool chain. `directory`: a tree that something else made; good for image volumes. */
export type BuiltinImage = { readonly type: 'host' } | { readonly type: 'directory'; readonly path: string };

export interface BuiltinImagesOptions {
  readonly images: Readonly<Record<string, BuiltinImage>>;
  readonly imageDir: string;
  readonly firstUid: number;
}

export function builtinImages(options: BuiltinImagesOptions): ImageStore {
  const host = new HostImage(options);
  return {
    resolve: async (reference) => {
      const name = reference.replace(/:latest$/, '');
      const image = Object.hasOwn(options.images, name) ? options.images[name] : undefined;
      if (image === undefined) throw unknownImage(reference, Object.keys(options.images));
      if (image.type === 'host') return await host.resolve(reference);
      return await directoryImage(reference, image.path);
    },
  };
}

function unknownImage(reference: string, known: readonly string[]): Fault {
  return new Fault(
    'not-found',
    `image ${JSON.stringify(reference)} is not built in, and this version cannot pull images; use one of ${known.join(', ')}`,
  );
}

async function directoryImage(reference: string, directory: string): Promise<Image> {
  try {
    await stat(directory);
  } catch (err) {
    if (!isErrno(err, 'ENOENT', 'ENOTDIR')) throw err;
    throw new Fault('not-found', `image ${reference}: its directory ${directory} is missing`, { cause: err });
  }
  return {
    reference,
    directory,
    mounts: [],
    user: { uid: 0, gid: 0 },
    env: {},
    workingDir: '/',
    entrypoint: [],
    command: [],
  };
}
