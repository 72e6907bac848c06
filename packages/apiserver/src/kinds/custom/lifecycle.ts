/**
 * What happens to a definition after it was written: its names are accepted if nobody else in its group has them,
 * then its kinds are served; and when it is to go, its objects go first.
 *
 * Kubernetes does this in controllers of its API server, a moment later. Here it is done before the write is
 * answered, one definition at a time, so that two that want one name cannot both have it.
 */
import { isTerminating, type ObjectMeta } from '@hutch/kube-meta';
import type { Storage } from '@hutch/storage';
import { timestamp } from '../../metadata.ts';
import { type ApiObject, type House, storagePrefix } from '../kind.ts';
import {
  conditionOf,
  type Definition,
  type DefinitionCondition,
  definedResource,
  isConditionTrue,
  type Names,
  versionsOf,
} from './definition.ts';

const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** A definition that was told to go is held until it says itself that it is going. */
export function isDefinitionHeld(object: ApiObject): boolean {
  return !isConditionTrue(object as Definition, 'Terminating');
}

export function terminateDefinition(object: ApiObject): ApiObject {
  const { metadata } = object;
  const finalizers = [...new Set([...(metadata.finalizers ?? []), cleanupFinalizer])];
  const terminating: DefinitionCondition = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: metadata.deletionTimestamp ?? null,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  const marked = { ...object, metadata: { ...metadata, finalizers } };
  return withConditions(marked as Definition, [terminating]);
}

const queues = new WeakMap<Storage, Promise<void>>();

/** One after the other, for each store. */
export async function settleDefinition(object: ApiObject, house: House): Promise<void> {
  const before = queues.get(house.storage) ?? Promise.resolve();
  const settled = before.then(() => settle(object as Definition, house));
  queues.set(
    house.storage,
    settled.catch(() => {}), // the one who wrote it hears of it; the next is not held up
  );
  await settled;
}

async function settle(object: Definition, house: House): Promise<void> {
  const current = read(object.metadata.name, house);
  if (current && isTerminating(current)) await removeObjects(current, house);
  else if (current) await accept(current, house);
  // A name that was let go of may be what another one waits for.
  for (const other of all(house)) {
    const isWaiting = other.spec.group === object.spec.group && !isConditionTrue(other, 'NamesAccepted');
    if (isWaiting && !isTerminating(other)) await accept(other, house);
  }
}

const prefix = storagePrefix({
  resource: { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions', namespaced: false },
});

function read(name: string, { storage }: House): Definition | undefined {
  return storage.get(prefix + name)?.value as Definition | undefined;
}

function all({ storage }: House): Definition[] {
  return storage.list(prefix).entries.map(({ value }) => value as Definition);
}

/** Changes the stored definition, if it is still the one that was meant. */
async function change(
  { metadata }: Definition,
  { storage }: House,
  decide: (definition: Definition) => Definition | undefined,
): Promise<void> {
  await storage.write(prefix + metadata.name, (head, revision) => {
    const current = head?.value as Definition | undefined;
    const after = current?.metadata.uid === metadata.uid ? decide(current) : undefined;
    if (!after) return { type: 'keep' };
    const stamped: ObjectMeta = { ...after.metadata, resourceVersion: String(revision) };
    return { type: 'put', value: { ...after, metadata: stamped } };
  });
}

// ---- names ----------------------------------------------------------------------------------------------

async function accept(definition: Definition, house: House): Promise<void> {
  const now = timestamp(house.clock.now());
  const taken = takenNames(definition, house);
  const { names, accepted } = decideNames(definition, taken);
  const isNews =
    JSON.stringify(names) !== JSON.stringify(definition.status?.acceptedNames) ||
    conditionOf(definition, 'NamesAccepted')?.reason !== accepted.reason;
  if (isNews) {
    await change(definition, house, (current) =>
      withConditions(
        { ...current, status: { ...current.status, acceptedNames: names } },
        [accepted, establishing(current, accepted)].map((one) => stamped(one, current, now)),
      ),
    );
  }
  await change(definition, house, (current) => {
    const isReady = isConditionTrue(current, 'NamesAccepted') && !isConditionTrue(current, 'Established');
    return isReady ? withConditions(current, [stamped(established, current, now)]) : undefined;
  });
}

interface Taken {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function takenNames({ metadata, spec }: Definition, house: House): Taken {
  const others = all(house)
    .filter((other) => other.spec.group === spec.group && other.metadata.uid !== metadata.uid)
    .flatMap(({ status }) => status?.acceptedNames ?? []);
  return {
    resources: new Set(others.flatMap((one) => [one.plural, one.singular ?? '', ...(one.shortNames ?? [])])),
    kinds: new Set(others.flatMap((one) => [one.kind, one.listKind ?? ''])),
  };
}

/** Each name is accepted on its own; the last one that is taken gives the reason. */
export function decideNames(
  { spec, status }: Definition,
  { resources, kinds }: Taken,
): { names: Names; accepted: DefinitionCondition } {
  const before = status?.acceptedNames ?? { plural: '', kind: '' };
  const wanted = spec.names;
  const names: Record<string, unknown> = { ...before };
  let accepted: DefinitionCondition = {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  const ask = (field: keyof Names, conflicts: readonly string[], reason: string) => {
    if (conflicts.length === 0) {
      if (wanted[field] !== undefined) names[field] = wanted[field];
      return;
    }
    const texts = conflicts.map((name) => `${JSON.stringify(name)} is already in use`);
    const message = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
    accepted = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  const isTaken = (name: string, old: string | undefined, used: ReadonlySet<string>) =>
    name !== old && used.has(name) ? [name] : [];

  ask('plural', isTaken(wanted.plural, before.plural, resources), 'PluralConflict');
  ask('singular', isTaken(wanted.singular ?? '', before.singular, resources), 'SingularConflict');
  const fresh = (wanted.shortNames ?? []).filter((name) => !before.shortNames?.includes(name));
  ask(
    'shortNames',
    fresh.filter((name) => resources.has(name)),
    'ShortNamesConflict',
  );
  ask('kind', isTaken(wanted.kind, before.kind, kinds), 'KindConflict');
  ask('listKind', isTaken(wanted.listKind ?? '', before.listKind, kinds), 'ListKindConflict');
  ask('categories', [], '');
  return { names: names as unknown as Names, accepted };
}

const established: DefinitionCondition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};

function establishing(definition: Definition, accepted: DefinitionCondition): DefinitionCondition {
  const before = conditionOf(definition, 'Established');
  if (before?.status === 'True') return before;
  if (accepted.status === 'True') return { ...established, status: 'False', reason: 'Installing' };
  return (
    before ?? {
      type: 'Established',
      status: 'False',
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    }
  );
}

/** The time of a condition is when its status changed, not when it was last written. */
function stamped(condition: DefinitionCondition, definition: Definition, now: string): DefinitionCondition {
  const before = conditionOf(definition, condition.type);
  const { type, status, reason, message } = condition;
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  return { type, status, lastTransitionTime, ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

function withConditions(definition: Definition, changed: readonly DefinitionCondition[]): Definition {
  const before = definition.status?.conditions ?? [];
  const kept = before.map((one) => changed.find(({ type }) => type === one.type) ?? one);
  const added = changed.filter(({ type }) => !before.some((one) => one.type === type));
  return { ...definition, status: { ...definition.status, conditions: [...kept, ...added] } };
}

// ---- deletion -------------------------------------------------------------------------------------------

/** Objects with finalizers are marked, and hold the definition until whoever holds them lets go. */
async function removeObjects(definition: Definition, house: House): Promise<void> {
  if (!definition.metadata.finalizers?.includes(cleanupFinalizer)) return;
  const { storage, clock } = house;
  const version = versionsOf(definition)[0]?.name ?? '';
  const objects = storagePrefix({ resource: definedResource(definition, version) });
  const now = timestamp(clock.now());
  const entries = storage.list(objects).entries;
  await Promise.all(
    entries.map(({ key }) => storage.write(key, (head, revision) => removal(head?.value, revision, now))),
  );
  if (storage.list(objects).entries.length === 0) await release(definition, house);
  else await change(definition, house, inProgress);
}

/** Told while something still holds one of its objects. */
function inProgress(current: Definition): Definition | undefined {
  const before = conditionOf(current, 'Terminating');
  const reason = 'InstanceDeletionInProgress';
  if (!before || before.reason === reason) return undefined;
  return withConditions(current, [{ ...before, reason, message: 'CustomResource deletion is in progress' }]);
}

function removal(value: unknown, revision: number, now: string) {
  const object = value as ApiObject | undefined;
  if (!object) return { type: 'keep' } as const;
  const { metadata } = object;
  const resourceVersion = String(revision);
  if ((metadata.finalizers ?? []).length === 0) {
    return { type: 'delete', value: { ...object, metadata: { ...metadata, resourceVersion } } } as const;
  }
  if (isTerminating(object)) return { type: 'keep' } as const;
  const generation = (metadata.generation ?? 0) + 1;
  const marked = {
    ...metadata,
    resourceVersion,
    generation,
    deletionTimestamp: now,
    deletionGracePeriodSeconds: 0,
  };
  return { type: 'put', value: { ...object, metadata: marked } } as const;
}

async function release(definition: Definition, { storage }: House): Promise<void> {
  await storage.write(prefix + definition.metadata.name, (head, revision) => {
    const current = head?.value as Definition | undefined;
    if (current?.metadata.uid !== definition.metadata.uid) return { type: 'keep' };
    const others = (current?.metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer);
    const metadata = { ...current.metadata, resourceVersion: String(revision) };
    if (others.length === 0) return { type: 'delete', value: { ...current, metadata } };
    return { type: 'put', value: { ...current, metadata: { ...metadata, finalizers: others } } };
  });
}

/** Called when an object of a definition that is going has gone: it may have been the last. */
export async function objectGone(name: string, house: House): Promise<void> {
  const definition = read(name, house);
  if (definition && isTerminating(definition)) await settleDefinition(definition, house);
}
