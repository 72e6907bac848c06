/**
 * An API server in a process of its own, to be killed. Says on stdout where it listens, and ends when
 * its stdin does, so that it never outlives the suite. SIGUSR2 sets its clock back by an hour.
 */
import { parseArgs } from 'node:util';
import {
  bearerTokens,
  createApiServer,
  ensureCertificates,
  rulesAuthorizer,
  serveHttp,
  serveHttps,
} from '@hutch/apiserver';
import { type Clock, pause, silentLog } from '@hutch/base';
import { openMemoryStorage, openSqliteStorage } from '@hutch/storage';

const { values } = parseArgs({
  options: {
    /** A file; without it the store is in memory. */
    store: { type: 'string' },
    token: { type: 'string' },
    'max-bytes': { type: 'string' },
    /** A directory for certificates: serves HTTPS. */
    certificates: { type: 'string' },
  },
});

let behindMs = 0;
process.on('SIGUSR2', () => {
  behindMs += 3_600_000;
});
const clock: Clock = { now: () => new Date(Date.now() - behindMs), sleep: pause };

const maxBytes = values['max-bytes'];
const limits = maxBytes === undefined ? {} : { maxBytes: Number(maxBytes) };
const storage = values.store === undefined ? openMemoryStorage() : openSqliteStorage(values.store, limits);
const server = createApiServer({
  storage,
  clock,
  authenticator: bearerTokens([
    { token: values.token ?? '', user: { name: 'tester', groups: ['system:masters'] } },
  ]),
  authorizer: rulesAuthorizer({}),
  log: silentLog,
});

const certificates =
  values.certificates === undefined ? undefined : await ensureCertificates(values.certificates, { clock });
const door = certificates
  ? await serveHttps(server, { key: certificates.key, cert: certificates.cert })
  : await serveHttp(server);

process.stdout.write(`${JSON.stringify({ url: door.url, ca: certificates?.ca })}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
