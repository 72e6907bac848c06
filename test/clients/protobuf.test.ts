// Objects in the real server's own protobuf, brought to ours: it must make of them what it makes of their JSON.
// Then bodies that are wrong, brought to both: they must be refused in the same words.
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { type Sample, samples } from './protobuf-objects.ts';
import { type Server, type ServerAddress, servers } from './servers.ts';

const json = 'application/json';
const protobuf = 'application/vnd.kubernetes.protobuf';
const namespace = 'protobuf';

const never = new AbortController().signal;
const [ourKind, realKind] = servers;
const skip = (await realKind?.whyNot(never)) ?? false;

interface Exchange {
  readonly type?: string;
  readonly accept?: string;
  readonly body?: string | Buffer;
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

function send(
  { url, ca, token }: ServerAddress,
  [method, path]: readonly [method: string, path: string],
  { type = json, accept = json, body }: Exchange = {},
): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept,
    ...(body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, ca, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

type JsonRecord = Record<string, unknown>;

function parsed({ body }: Answer): JsonRecord {
  return JSON.parse(body.toString()) as JsonRecord;
}

/** Without what a server gives to each write anew. */
function comparable(answer: Answer): unknown {
  const object = parsed(answer);
  const { uid, creationTimestamp, resourceVersion, ...metadata } = object.metadata as JsonRecord;
  return { status: answer.status, object: { ...object, metadata } };
}

/** An object as the real server has it, status and all, in JSON and in protobuf; fit for being brought elsewhere. */
async function bothForms(
  address: ServerAddress,
  at: string,
  { status, ...object }: Sample['object'],
): Promise<readonly [Exchange, Exchange]> {
  const text = (value: unknown) => JSON.stringify(value).replaceAll('NAMESPACE', namespace);
  const created = await send(address, ['POST', at], { body: text(object) });
  assert.equal(created.status, 201, created.body.toString());
  const one = `${at}/${object.metadata.name}`;
  if (status !== undefined) {
    const patch = { type: 'application/merge-patch+json', body: text({ status }) };
    const patched = await send(address, ['PATCH', `${one}/status`], patch);
    assert.equal(patched.status, 200, patched.body.toString());
  }
  // Controllers may be at it too: the two forms are of one version, or both are asked for again.
  for (;;) {
    const before = await send(address, ['GET', one]);
    const { body } = await send(address, ['GET', one], { accept: protobuf });
    const after = await send(address, ['GET', one]);
    if (before.body.equals(after.body)) {
      return [
        { type: json, body: withoutIdentity(parsed(before)) },
        { type: protobuf, body: withoutIdentityInBytes(body) },
      ];
    }
  }
}

function withoutIdentity(object: JsonRecord): string {
  const { uid, resourceVersion, ...metadata } = object.metadata as JsonRecord;
  return JSON.stringify({ ...object, metadata });
}

/** In protobuf what comes last counts, so that metadata with an empty uid and version can simply be added. */
function withoutIdentityInBytes(body: Buffer): Buffer {
  const [type, raw] = [...envelopeFields(body)];
  if (!type || !raw) throw new Error('no object in the envelope');
  return envelope(type, Buffer.concat([raw, field(1, field(5, ''), field(6, ''))]));
}

// ---- protobuf, as much of it as is needed to take an envelope apart and to make bad ones ----------------

const magic = Buffer.from('k8s\0');

function varint(value: number): Buffer {
  return value < 0x80
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value & 0x7f) | 0x80]), varint(value >>> 7)]);
}

/** Text, or a message of such fields. */
function field(number: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content]);
}

function envelope(type: Buffer, raw: Buffer): Buffer {
  return Buffer.concat([magic, field(1, type), field(2, raw)]);
}

/** Its fields have small numbers and are all of bytes. */
function* envelopeFields(body: Buffer): Generator<Buffer, void, void> {
  let at = magic.length;
  while (at < body.length) {
    at++; // the tag
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = body[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    yield body.subarray(at, at + length);
    at += length;
  }
}

const typeOf = (apiVersion: string, kind: string) => Buffer.concat([field(1, apiVersion), field(2, kind)]);
const configMap = (hex: string) => envelope(typeOf('v1', 'ConfigMap'), Buffer.from(hex, 'hex'));
const named = field(1, field(1, 'a')).toString('hex');

interface WrongBody {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly body: Buffer;
}

const wrongBodies: readonly WrongBody[] = [
  { name: 'no protobuf', body: Buffer.from('nonsense') },
  { name: 'JSON', body: Buffer.from('{"metadata":{"name":"a"}}') },
  { name: 'a prefix alone', body: magic },
  { name: 'nothing', body: Buffer.alloc(0) },
  { name: 'an envelope that is cut off', body: Buffer.concat([magic, Buffer.from([0x0a, 0x20])]) },
  { name: 'an envelope of nothing', body: envelope(Buffer.alloc(0), Buffer.alloc(0)) },
  { name: 'a message that is cut off', body: configMap('0a05') },
  { name: 'a length that is cut off', body: configMap('0aff') },
  { name: 'a length that is negative', body: configMap('0affffffffffffffffff01') },
  { name: 'a number of eleven bytes', body: configMap('ffffffffffffffffffff01') },
  { name: 'a number for a map', body: configMap('1001') },
  { name: 'field zero', body: configMap('0201') },
  { name: 'an end of no group', body: configMap('0c') },
  { name: 'a shape that does not exist', body: configMap('a606') },
  { name: 'a kind of another resource', body: envelope(typeOf('v1', 'Secret'), Buffer.from(named, 'hex')) },
  { name: 'a kind that does not exist', body: envelope(typeOf('v1', 'Nonsense'), Buffer.from(named, 'hex')) },
  { name: 'a version that does not exist', body: envelope(typeOf('v9', 'ConfigMap'), Buffer.alloc(0)) },
  { name: 'a deletion with no options', method: 'DELETE', path: '/none', body: Buffer.from('nonsense') },
  {
    name: 'a deletion with broken options',
    method: 'DELETE',
    path: '/none',
    body: envelope(typeOf('v1', 'DeleteOptions'), Buffer.from([0x0a, 0x01, 0x00])),
  },
  { name: 'a deletion with something else', method: 'DELETE', path: '/none', body: configMap('') },
];

describe('protobuf bodies', { skip }, () => {
  const opened = new AsyncDisposableStack(); // also when only one of them could be
  let ours: Server;
  let real: Server;
  before(async () => {
    if (!ourKind || !realKind) throw new Error('two servers are compared');
    ours = opened.use(await ourKind.open(never));
    real = opened.use(await realKind.open(never));
    for (const { address, makeNamespace } of [ours, real]) {
      await makeNamespace(namespace);
      // Its controller makes it too, but pods do not wait.
      const body = JSON.stringify({ metadata: { name: 'default' } });
      await send(address, ['POST', `/api/v1/namespaces/${namespace}/serviceaccounts`], { body });
    }
  });
  after(() => opened.disposeAsync());

  for (const { path, object } of samples) {
    const { apiVersion, kind, metadata } = object;
    const at = path.replace('NAMESPACE', namespace);
    test(`${apiVersion} ${kind} ${metadata.name} is read like its JSON`, async () => {
      const [plain, binary] = await bothForms(real.address, at, object);
      const create = ['POST', `${at}?dryRun=All&fieldValidation=Strict`] as const;
      const created = await send(ours.address, create, plain);
      assert.equal(created.status, 201, created.body.toString());
      assert.deepEqual(comparable(await send(ours.address, create, binary)), comparable(created));

      if (object.status === undefined) return;
      const stored = await send(ours.address, ['POST', at], plain);
      assert.equal(stored.status, 201, stored.body.toString());
      const update = ['PUT', `${at}/${metadata.name}/status`] as const;
      const updated = await send(ours.address, update, plain);
      assert.equal(updated.status, 200, updated.body.toString());
      assert.deepEqual(comparable(await send(ours.address, update, binary)), comparable(updated));
    });
  }

  for (const { name, method = 'POST', path = '', body } of wrongBodies) {
    test(`${name} is refused alike`, async () => {
      const target = [method, `/api/v1/namespaces/${namespace}/configmaps${path}`] as const;
      const sent = { type: protobuf, body };
      const their = parsed(await send(real.address, target, sent));
      assert.equal(their.kind, 'Status');
      assert.deepEqual(parsed(await send(ours.address, target, sent)), their);
    });
  }
});
