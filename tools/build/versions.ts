/**
 * Where builds are put: each in a directory of its own, with a link to the newest. What already runs holds on to the
 * build it was started with, and whoever starts meanwhile finds one that is whole.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** Programs that were started before the last few builds are rare, and a build is large. */
const keptVersions = 3;

/** Has `make` fill a directory, then lets `link` point to it. */
export async function publish(
  link: string,
  version: string,
  make: (draft: string) => Promise<void>,
): Promise<void> {
  const versions = `${link}-versions`;
  const place = join(versions, version);
  await mkdir(versions, { recursive: true });
  const draft = await mkdtemp(join(versions, 'draft-'));
  try {
    await make(draft);
    await rm(place, { recursive: true, force: true }); // what a build that was killed left
    await rename(draft, place);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await pointTo(place, link);
  await removeOld(versions);
}

/** A link can be renamed over another, so there is no moment without one. */
async function pointTo(place: string, link: string): Promise<void> {
  const draft = `${link}.${process.pid}`;
  await symlink(relative(dirname(link), place), draft);
  await rename(draft, link);
}

async function removeOld(versions: string): Promise<void> {
  const paths = (await readdir(versions)).map((name) => join(versions, name));
  const aged = await Promise.all(paths.map(async (path) => ({ path, ms: (await stat(path)).mtimeMs })));
  for (const { path } of aged.toSorted((a, b) => b.ms - a.ms).slice(keptVersions)) {
    await rm(path, { recursive: true, force: true });
  }
}
