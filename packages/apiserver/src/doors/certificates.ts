/**
 * The server's own certificate authority and serving certificate, kept in a directory and renewed in time.
 *
 * The library that makes certificates is loaded only when one has to be made: most starts find good ones.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '@hutch/base';

export interface Certificates {
  /** What clients have to trust, as PEM. Stays the same when the serving certificate is renewed. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  readonly clock: Clock;
  /** Names and addresses the server is reached by, besides loopback. */
  readonly hosts?: readonly string[];
}

const dayMs = 24 * 60 * 60 * 1000;
const authorityLifeMs = 3650 * dayMs;
const servingLifeMs = 365 * dayMs;
const renewBeforeMs = 30 * dayMs;
const loopback = ['localhost', '127.0.0.1', '::1', 'kubernetes', 'kubernetes.default.svc'];
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

interface Pair {
  readonly cert: string;
  readonly key: string;
}

export async function ensureCertificates(
  directory: string,
  options: CertificateOptions,
): Promise<Certificates> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const now = options.clock.now();
  const hosts = [...loopback, ...(options.hosts ?? [])];

  let authority = await readPair(directory, 'ca');
  if (!authority || !isFresh(authority, now)) {
    authority = await makeAuthority(now);
    await writePair(directory, 'ca', authority);
  }
  let serving = await readPair(directory, 'server');
  if (!serving || !isFresh(serving, now) || !isServing(serving, authority, hosts)) {
    serving = await makeServing(authority, hosts, now);
    await writePair(directory, 'server', serving);
  }
  return { ca: authority.cert, ...serving };
}

function isFresh({ cert, key }: Pair, now: Date): boolean {
  const certificate = new X509Certificate(cert);
  const from = Date.parse(certificate.validFrom);
  const until = Date.parse(certificate.validTo);
  if (now.getTime() < from || now.getTime() > until - renewBeforeMs) return false;
  return certificate.checkPrivateKey(createPrivateKey(key));
}

function isServing({ cert }: Pair, authority: Pair, hosts: readonly string[]): boolean {
  const certificate = new X509Certificate(cert);
  if (!certificate.verify(new X509Certificate(authority.cert).publicKey)) return false;
  return hosts.every(
    (host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined,
  );
}

async function loadX509() {
  await import('reflect-metadata'); // has to be there before the library is
  return await import('@peculiar/x509');
}

async function makeAuthority(now: Date): Promise<Pair> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: 'CN=hutch-ca',
    ...validity(now, authorityLifeMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: certificate.toString('pem'), key: await privateKeyPem(keys.privateKey) };
}

async function makeServing(authority: Pair, hosts: readonly string[], now: Date): Promise<Pair> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const issuer = new x509.X509Certificate(authority.cert);
  const der = createPrivateKey(authority.key).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=hutch-apiserver',
    issuer: issuer.subject,
    ...validity(now, servingLifeMs),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return { cert: certificate.toString('pem'), key: await privateKeyPem(keys.privateKey) };
}

/** A little into the past, for clocks that do not quite agree. */
function validity(now: Date, lifeMs: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - 60_000), notAfter: new Date(now.getTime() + lifeMs) };
}

/** Positive and never empty: the first byte has neither its highest bit set nor is it zero. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

async function privateKeyPem(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}

/** Undefined when there is none, or what is there cannot be read as a certificate and key: it is made again. */
async function readPair(directory: string, name: string): Promise<Pair | undefined> {
  try {
    const [cert, key] = await Promise.all(
      ['crt', 'key'].map((ending) => readFile(join(directory, `${name}.${ending}`), 'utf8')),
    );
    new X509Certificate(cert as string);
    createPrivateKey(key as string);
    return { cert: cert as string, key: key as string };
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM') throw err;
    return undefined;
  }
}

/** The key first: a certificate is only there when its key is. A cut in between makes both anew. */
async function writePair(directory: string, name: string, { cert, key }: Pair): Promise<void> {
  await writeWhole(join(directory, `${name}.key`), key);
  await writeWhole(join(directory, `${name}.crt`), cert);
}

async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  {
    await using file = await open(fresh, 'w', 0o600);
    await file.writeFile(text);
    await file.sync();
  }
  await chmod(fresh, 0o600); // also when the file was left over with another mode
  await rename(fresh, path);
}
