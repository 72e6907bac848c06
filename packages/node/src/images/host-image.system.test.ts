/** The host image as it is built on this machine. Needs root: its files belong to others. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HostImage } from './host-image.ts';

test('a file system that is mounted below /usr later is in the next image, and one that went is not', async () => {
  const imageDir = await mkdtemp(join(tmpdir(), 'hutch-host-image-'));
  try {
    let mountinfo = '';
    const image = new HostImage({ imageDir, firstUid: 0, readMountinfo: () => mountinfo });
    const below = async () => {
      const { mounts, directory } = await image.resolve('host');
      return { directory, below: mounts.filter(({ destination }) => destination.startsWith('/usr/')) };
    };
    const first = await below();
    assert.deepEqual(first.below, []);
    mountinfo = '90 27 0:40 / /usr/src rw - tmpfs late rw\n';
    const second = await below();
    assert.deepEqual(
      second.below.map(({ destination, options }) => [destination, options.includes('ro')]),
      [['/usr/src', true]],
    );
    assert.equal(second.directory, first.directory, 'the skeleton is the same');
    mountinfo = '';
    assert.deepEqual((await below()).below, []);
  } finally {
    await rm(imageDir, { recursive: true });
  }
});
