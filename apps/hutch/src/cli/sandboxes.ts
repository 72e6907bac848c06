/** `hutch ls`, `hutch rm`, `hutch logs`: the sandboxes of the running home. */
import { Fault, isFault, messageOf } from '@hutch/base';
import type { DataDir } from '../home/data-dir.ts';
import { connect } from './connect.ts';
import { failureExitCode } from './exit-codes.ts';
import { Interrupts } from './interrupt.ts';
import { formatAge, formatTable } from './table.ts';
import type { OutputFormat } from './values.ts';

export async function ls(dataDir: DataDir, output: OutputFormat): Promise<number> {
  const sandboxes = await connect(dataDir).sandboxes.list();
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify(sandboxes, undefined, 2)}\n`);
    return 0;
  }
  if (sandboxes.length === 0) {
    process.stderr.write('no sandboxes; make one with: hutch run --keep -- true\n');
    return 0;
  }
  const now = new Date();
  const rows = sandboxes.map(({ metadata, spec, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    const image = spec.podTemplate.spec.containers[0]?.image ?? '';
    return [
      metadata.name,
      ready?.status ?? 'Unknown',
      ready?.reason ?? '',
      image,
      formatAge(metadata.creationTimestamp, now),
    ];
  });
  process.stdout.write(formatTable(['NAME', 'READY', 'REASON', 'IMAGE', 'AGE'], rows));
  return 0;
}

/** Removes all that can be removed; one that cannot does not stop the others. */
export async function rm(dataDir: DataDir, names: readonly string[]): Promise<number> {
  const hutch = connect(dataDir);
  let failed = false;
  for (const name of names) {
    try {
      await hutch.sandboxes.delete(name);
      process.stdout.write(`${name}\n`);
    } catch (err) {
      failed = true;
      const why = isFault(err, 'not-found') ? 'there is no such sandbox; see: hutch ls' : messageOf(err);
      process.stderr.write(`hutch: could not remove ${name}: ${why}\n`);
    }
  }
  return failed ? failureExitCode : 0;
}

export async function logs(dataDir: DataDir, name: string, { follow }: { follow: boolean }): Promise<number> {
  using interrupts = new Interrupts();
  try {
    const sandbox = await connect(dataDir).sandboxes.get(name, { signal: interrupts.signal });
    for await (const chunk of sandbox.logs({ follow, signal: interrupts.signal }))
      process.stdout.write(chunk);
    return 0;
  } catch (err) {
    if (interrupts.signal.aborted) return 0;
    if (isFault(err, 'not-found'))
      throw new Fault('not-found', `there is no sandbox "${name}"; see: hutch ls`, { cause: err });
    throw err;
  }
}
