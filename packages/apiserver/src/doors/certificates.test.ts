import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeClock } from '../test-rig.ts';
import { ensureCertificates } from './certificates.ts';

const dayMs = 24 * 60 * 60 * 1000;

async function scratch(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'hutch-certs-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

test('what was made is found again, and only its owner can read it', async () => {
  await using directory = await scratch();
  const clock = new FakeClock();
  const first = await ensureCertificates(directory.path, { clock });
  assert.deepEqual(await ensureCertificates(directory.path, { clock }), first);
  for (const name of await readdir(directory.path)) {
    assert.equal((await stat(join(directory.path, name))).mode & 0o777, 0o600, name);
  }
});

test('the serving certificate is for loopback and for what else was named, and is signed by the CA', async () => {
  await using directory = await scratch();
  const { ca, cert } = await ensureCertificates(directory.path, {
    clock: new FakeClock(),
    hosts: ['10.0.0.1', 'box.local'],
  });
  const certificate = new X509Certificate(cert);
  for (const address of ['127.0.0.1', '::1', '10.0.0.1']) assert.ok(certificate.checkIP(address), address);
  for (const host of ['localhost', 'box.local']) assert.ok(certificate.checkHost(host), host);
  assert.ok(certificate.verify(new X509Certificate(ca).publicKey));
  assert.ok(certificate.checkIssued(new X509Certificate(ca)));
  assert.equal(certificate.ca, false);
});

test('it is renewed before it expires, by the same CA', async () => {
  await using directory = await scratch();
  const clock = new FakeClock();
  const first = await ensureCertificates(directory.path, { clock });
  clock.advance(300 * dayMs);
  assert.equal((await ensureCertificates(directory.path, { clock })).cert, first.cert);
  clock.advance(40 * dayMs);
  const renewed = await ensureCertificates(directory.path, { clock });
  assert.notEqual(renewed.cert, first.cert);
  assert.equal(renewed.ca, first.ca);
});

test('a new name makes a new certificate; a torn file makes its pair anew', async () => {
  await using directory = await scratch();
  const clock = new FakeClock();
  const first = await ensureCertificates(directory.path, { clock });
  const named = await ensureCertificates(directory.path, { clock, hosts: ['10.0.0.2'] });
  assert.notEqual(named.cert, first.cert);
  await writeFile(join(directory.path, 'server.key'), 'torn');
  const mended = await ensureCertificates(directory.path, { clock });
  assert.notEqual(mended.cert, named.cert);
  await rm(join(directory.path, 'ca.crt'));
  const again = await ensureCertificates(directory.path, { clock });
  assert.notEqual(again.ca, first.ca);
  assert.ok(new X509Certificate(again.cert).verify(new X509Certificate(again.ca).publicKey));
});
