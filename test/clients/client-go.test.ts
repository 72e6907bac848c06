// A client-go program, as its users write them, on both servers: the verbs one by one, then a controller with
// informers, a work queue and leader election.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isFault } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { configMaps, type Draft, type KubeObject, leases } from '@hutch/kube-meta';
import { ensureBuilt, type GoModule } from '../../rigs/kube/index.ts';
import { ForeignProgram, type Line, walk } from './foreign-program.ts';
import { type Server, servers } from './servers.ts';

const directory = join(import.meta.dirname, 'go');
const module: GoModule = {
  name: 'client-go',
  directory,
  sources: globSync('*.go', { cwd: directory }).sort(),
  programs: [{ name: 'client', package: '.' }],
};
/** Of the program and of what it makes others wait for; far above what it takes. */
const patienceMs = 60_000;

const never = new AbortController().signal;
const { program, reason } = await builtProgram();

async function builtProgram(): Promise<{ program: string; reason?: string }> {
  try {
    const place = await ensureBuilt(module, { signal: never, say: console.error });
    return { program: join(place, 'client') };
  } catch (err) {
    if (isFault(err, 'unavailable')) return { program: '', reason: err.message };
    throw err;
  }
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Lease extends KubeObject {
  readonly spec: { readonly holderIdentity?: string; readonly leaseTransitions?: number };
}

interface Encoding {
  readonly name: string;
  readonly contentType: string;
}

/** Left to itself client-go writes built-in kinds as protobuf; older programs, and those told so, write JSON. */
const encodings: readonly Encoding[] = [
  { name: 'protobuf', contentType: '' },
  { name: 'json', contentType: 'application/json' },
];

for (const kind of servers) {
  const skip = reason ?? (await kind.whyNot(never)) ?? false;
  describe(`client-go on ${kind.name}`, { skip }, () => {
    let server: Server;
    before(async () => {
      server = await kind.open(never);
    });
    after(() => server[Symbol.asyncDispose]());

    for (const encoding of encodings) {
      test(`goes through the verbs, speaking ${encoding.name}`, async (t) => {
        const namespace = `walk-${encoding.name}`;
        await server.makeNamespace(namespace);
        await walk(t, [...command(server, namespace, encoding), 'walk']);
      });

      test(`a controller is succeeded by another when it is killed, speaking ${encoding.name}`, async (t) => {
        const signal = AbortSignal.any([t.signal, AbortSignal.timeout(patienceMs)]);
        const namespace = `doubling-${encoding.name}`;
        await server.makeNamespace(namespace);
        await controllersTakeTurns({ server, namespace, encoding, signal });
      });
    }
  });
}

interface Turns {
  readonly server: Server;
  readonly namespace: string;
  readonly encoding: Encoding;
  readonly signal: AbortSignal;
}

async function controllersTakeTurns({ server, namespace, encoding, signal }: Turns): Promise<void> {
  const numbers = new Numbers(server.client, namespace, signal);
  const controller = (identity: string) =>
    new ForeignProgram([...command(server, namespace, encoding), '-identity', identity, 'controller']);
  await numbers.make(0, 20);

  await using one = controller('one');
  await one.until('one leads', has({ event: 'leading' }), signal);
  await using two = controller('two');
  await two.until('two knows the leader', has({ event: 'new-leader', identity: 'one' }), signal);
  await one.until('what was there is doubled', hasDoubled(0, 20), signal);
  await numbers.make(20, 40);
  await one.until('what came later is doubled', hasDoubled(20, 40), signal);
  assert.equal((await numbers.lease()).spec.holderIdentity, 'one');

  one.signal('SIGKILL');
  await numbers.make(40, 50);
  await two.until('two leads', has({ event: 'leading', identity: 'two' }), signal);
  await two.until('what came without a leader is doubled', hasDoubled(40, 50), signal);
  await numbers.delete(0);
  await two.until('the deletion is seen', has({ event: 'gone', name: 'number-0' }), signal);

  two.signal('SIGTERM');
  assert.equal(await two.ended(), 0);
  const { spec } = await numbers.lease();
  assert.equal(spec.holderIdentity || undefined, undefined, 'the lease was not given back');
  assert.equal(spec.leaseTransitions, 1);
  await numbers.assertDoubled(1, 50);
}

/** ConfigMaps with a number each, for a controller to double. */
class Numbers {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #signal: AbortSignal;

  constructor(client: KubeClient, namespace: string, signal: AbortSignal) {
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  async make(from: number, to: number): Promise<void> {
    for (let number = from; number < to; number++) {
      const draft: Draft<ConfigMap> = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...this.#key(number), labels: { doubler: 'on' } },
        data: { number: String(number) },
      };
      await this.#client.create(configMaps, draft, { signal: this.#signal });
    }
  }

  async delete(number: number): Promise<void> {
    await this.#client.delete(configMaps, this.#key(number), { signal: this.#signal });
  }

  async assertDoubled(from: number, to: number): Promise<void> {
    const options = { namespace: this.#namespace, labelSelector: 'doubler=on', signal: this.#signal };
    const { items } = await this.#client.list<ConfigMap>(configMaps, options);
    assert.equal(items.length, to - from);
    for (const { metadata, data = {} } of items)
      assert.equal(data.doubled, String(2 * Number(data.number)), metadata.name);
  }

  /** The one that the controllers contend for. */
  async lease(): Promise<Lease> {
    const key = { namespace: this.#namespace, name: 'doubler' };
    return await this.#client.get<Lease>(leases, key, { signal: this.#signal });
  }

  #key(number: number) {
    return { namespace: this.#namespace, name: `number-${number}` };
  }
}

function command(server: Server, namespace: string, { contentType }: Encoding): [string, ...string[]] {
  const where = ['-kubeconfig', server.kubeconfigFile, '-namespace', namespace];
  return [program, ...where, '-content-type', contentType];
}

function has(wanted: Line): (lines: readonly Line[]) => boolean {
  return (lines) =>
    lines.some((line) => Object.entries(wanted).every(([name, value]) => line[name] === value));
}

function hasDoubled(from: number, to: number): (lines: readonly Line[]) => boolean {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  return (lines) =>
    numbers.every((number) =>
      has({ event: 'doubled', name: `number-${number}`, to: `${2 * number}` })(lines),
    );
}
