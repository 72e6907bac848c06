/**
 * A certificate authority and the API server's certificate, made with `openssl` for one rig. The product has code
 * for this too, but the judge must not share a mistake with the judged.
 */
import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '@hutch/base';
import { runChild } from '../../tools/child.ts';

/** Paths of PEM files. */
export interface RigCertificates {
  readonly caFile: string;
  /** What clients have to trust, as PEM. */
  readonly ca: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Sign and check the tokens of service accounts. */
  readonly accountKeyFile: string;
  readonly accountPublicKeyFile: string;
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '3650'];

export async function makeCertificates(
  directory: string,
  hosts: readonly string[],
  signal: AbortSignal,
): Promise<RigCertificates> {
  const path = (file: string) => join(directory, file);
  const request = async (...args: string[]) => {
    const command = ['openssl', 'req', '-x509', ...newKey, ...args];
    const { code, output } = await runChild(command, { cwd: directory, signal, timeoutMs: 30_000 });
    if (code !== 0) throw new Fault('unavailable', `make a certificate with openssl: ${output.trim()}`);
  };
  const ca = ['-subj', '/CN=rig-ca', '-keyout', 'ca.key', '-out', 'ca.crt'];
  await request(...ca, '-addext', 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature');
  await request(
    ...['-CA', 'ca.crt', '-CAkey', 'ca.key', '-subj', '/CN=kube-apiserver'],
    ...['-keyout', 'apiserver.key', '-out', 'apiserver.crt'],
    ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', 'extendedKeyUsage=serverAuth'],
    ...['-addext', `subjectAltName=${hosts.join(',')}`],
  );
  const accounts = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await writeFile(path('accounts.key'), accounts.privateKey, { mode: 0o600 });
  await writeFile(path('accounts.pub'), accounts.publicKey);
  return {
    caFile: path('ca.crt'),
    ca: await readFile(path('ca.crt'), 'utf8'),
    certificateFile: path('apiserver.crt'),
    keyFile: path('apiserver.key'),
    accountKeyFile: path('accounts.key'),
    accountPublicKeyFile: path('accounts.pub'),
  };
}
