/**
 * All kinds the home follows: those it was told of, and every custom kind while its definition stands.
 *
 * Flow: the definitions are followed like any other kind. Once one is established its objects are followed
 * too; when it goes, or its stored version changes, that copy is given up. Listeners hear the changes of
 * all copies, whenever they were begun.
 */
import { type Log, messageOf, runTogether } from '@hutch/base';
import type { Change, Informer } from '@hutch/controller';
import { type KubeObject, keyOf, type Resource, resourceText } from '@hutch/kube-meta';
import { type Definition, servedResource } from './definitions.ts';

type KindListener = (change: Change<KubeObject>, informer: Informer<KubeObject>) => void;

export interface FollowedKinds {
  /** As they are now: custom kinds come and go. */
  list(): readonly Informer<KubeObject>[];
  /** What makes a kind custom; undefined for the built-in ones. */
  definitionOf(resource: Resource): Definition | undefined;
  onChange(listener: KindListener): () => void;
  /** Resolves when every kind known at the start has been seen whole. */
  readonly synced: Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface FollowedKindsOptions {
  /** Followed from the start to the end, the definitions among them. */
  readonly fixed: readonly Informer<KubeObject>[];
  readonly definitions: Informer<Definition>;
  readonly follow: (resource: Resource) => Informer<KubeObject>;
  readonly log: Log;
}

interface Custom {
  readonly informer: Informer<KubeObject>;
  readonly stop: AbortController;
}

export function createFollowedKinds(options: FollowedKindsOptions): FollowedKinds {
  const { fixed, definitions, follow, log } = options;
  const listeners = new Set<KindListener>();
  const custom = new Map<string, Custom>();
  const running = new Set<Promise<void>>();
  const fixedNames = new Set(fixed.map(({ resource }) => resourceText(resource)));

  const tellFrom = (informer: Informer<KubeObject>) =>
    informer.onChange((change) => {
      for (const listener of listeners) listener(change, informer);
    });
  for (const informer of fixed) tellFrom(informer);

  function begin(resource: Resource, signal: AbortSignal): void {
    const name = resourceText(resource);
    const stop = new AbortController();
    const informer = follow(resource);
    custom.set(name, { informer, stop });
    tellFrom(informer);
    const run: Promise<void> = informer
      .run(AbortSignal.any([signal, stop.signal]))
      .catch((err: unknown) => {
        // A custom kind that cannot be read (its conversion fails, say) must not take the home down.
        log.warn('custom kind not followed', { resource: name, reason: messageOf(err) });
        if (custom.get(name)?.informer === informer) custom.delete(name);
      })
      .finally(() => running.delete(run));
    running.add(run);
  }

  function end(name: string): void {
    custom.get(name)?.stop.abort();
    custom.delete(name);
  }

  /** Undefined: there is nothing to follow, or no more. */
  function take(definition: Definition | undefined, name: string, signal: AbortSignal): void {
    const resource = definition && servedResource(definition);
    const known = custom.get(name);
    if (known && known.informer.resource.version === resource?.version) return;
    if (known) end(name);
    if (resource && !fixedNames.has(resourceText(resource))) begin(resource, signal);
  }

  async function untilSynced(): Promise<void> {
    await Promise.all(fixed.map(({ synced }) => synced));
    // One that ends before it was whole has nothing to wait for.
    await Promise.all([...custom.values()].map(({ informer }) => informer.synced.catch(() => {})));
  }
  const synced = untilSynced();
  synced.catch(() => {}); // nobody has to wait for it

  return {
    list: () => [...fixed, ...[...custom.values()].map(({ informer }) => informer)],
    definitionOf: (resource) => definitions.get({ name: `${resource.plural}.${resource.group}` }),
    synced,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async run(signal) {
      const stopListening = definitions.onChange(({ type, object }) =>
        take(type === 'deleted' ? undefined : object, keyOf(object).name, signal),
      );
      try {
        await runTogether(
          signal,
          fixed.map((informer) => (shared) => informer.run(shared)),
        );
      } finally {
        stopListening();
        for (const name of [...custom.keys()]) end(name);
        await Promise.all(running);
      }
    },
  };
}
