/**
 * What must be known of a pod after the agent died: who it is and which slot of the network it has. Written before
 * anything is made for the pod; the rest is read from what the containers themselves left in their directories.
 */
import { readdir } from 'node:fs/promises';
import type { Log } from '@hutch/base';
import { isErrno, namesIn, readRecord, replaceFile } from '../files.ts';
import { containerDirectory, type HomeLayout, type PodLayout, podLayout } from '../home.ts';

export interface LedgerEntry {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined once its network is gone: the pod is over and only its output is kept. */
  readonly slot?: number | undefined;
}

export function writeLedger(pod: PodLayout, entry: LedgerEntry): void {
  replaceFile(pod.ledger, JSON.stringify(entry));
}

export function readLedgerEntry(pod: PodLayout, log: Log): Promise<LedgerEntry | undefined> {
  return readRecord<LedgerEntry>(pod.ledger, log);
}

/** All pods that left a trace. */
export async function readLedger(home: HomeLayout, log: Log): Promise<LedgerEntry[]> {
  const uids = await namesIn(home.pods);
  return await Promise.all(
    uids.map(async (uid) => {
      const entry = await readLedgerEntry(podLayout(home, uid), log);
      // a directory without an entry: the agent died before it made anything for the pod
      return { ...(entry ?? { namespace: '', name: '' }), uid };
    }),
  );
}

export interface RecordedContainer {
  readonly name: string;
  readonly attempt: number;
  readonly directory: string;
}

/** Every start that left a directory, oldest first for each container. */
export async function recordedContainers(pod: PodLayout): Promise<RecordedContainer[]> {
  const found: RecordedContainer[] = [];
  for (const name of await namesIn(pod.containers)) {
    const attempts = (await attemptsOf(pod, name)).sort((a, b) => a - b);
    for (const attempt of attempts) {
      found.push({ name, attempt, directory: containerDirectory(pod, name, attempt) });
    }
  }
  return found;
}

async function attemptsOf(pod: PodLayout, name: string): Promise<number[]> {
  try {
    const entries = await readdir(`${pod.containers}/${name}`);
    return entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  } catch (err) {
    if (isErrno(err, 'ENOENT', 'ENOTDIR')) return [];
    throw err;
  }
}
