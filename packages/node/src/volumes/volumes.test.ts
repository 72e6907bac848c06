import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { aContainer, anImage, aPod } from '../test-objects.ts';
import { prepareVolumes, type VolumeSource, volumeMounts } from './volumes.ts';

const sources = new Map<string, VolumeSource>([
  ['data', { type: 'directory', path: '/pods/x/data' }],
  ['tools', { type: 'image', directory: '/images/tools' }],
  ['fast', { type: 'memory', sizeBytes: 1024, gid: 50 }],
]);

test('outer mounts come first and nothing mounted may carry devices or set-user-id', () => {
  const mounts = volumeMounts(
    aContainer({
      volumeMounts: [
        { name: 'fast', mountPath: '/data/deep/fast' },
        { name: 'tools', mountPath: '/data/tools' },
        { name: 'data', mountPath: '/data', readOnly: true },
      ],
    }),
    sources,
  );
  assert.deepEqual(mounts, [
    {
      destination: '/data',
      type: 'bind',
      source: '/pods/x/data',
      options: ['rbind', 'ro', 'nosuid', 'nodev', 'rprivate'],
    },
    {
      destination: '/data/tools',
      type: 'bind',
      source: '/images/tools',
      options: ['rbind', 'ro', 'nosuid', 'nodev', 'rprivate'],
    },
    {
      destination: '/data/deep/fast',
      type: 'tmpfs',
      source: 'tmpfs',
      options: ['rw', 'nosuid', 'nodev', 'mode=2777', 'gid=50', 'size=1024'],
    },
  ]);
});

test('an emptyDir is open to the users of the pod, and making it again is fine', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hutch-volumes-'));
  try {
    const images = { resolve: async () => anImage() };
    const context = {
      directory,
      firstUid: process.getuid?.() ?? 0,
      images,
      signal: new AbortController().signal,
    };
    const pod = aPod({
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'tools', image: { reference: 'x' } },
      ],
    });
    await prepareVolumes(pod, context);
    const found = await prepareVolumes(pod, context);
    assert.deepEqual(found.get('tools'), { type: 'image', directory: '/images/host' });
    assert.equal((await stat(join(directory, 'data'))).mode & 0o7777, 0o777);
  } finally {
    await rm(directory, { recursive: true });
  }
});
