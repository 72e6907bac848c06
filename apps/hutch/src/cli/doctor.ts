/** `hutch doctor`: what this machine has, what it lacks, and how to mend that. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findSystemParts, type SystemPart } from '@hutch/node';
import type { DataDir } from '../home/data-dir.ts';
import { readEndpoint } from '../home/endpoint.ts';
import { sweepRuns } from '../home/sweep-runs.ts';
import { failureExitCode } from './exit-codes.ts';
import { formatTable } from './table.ts';
import type { OutputFormat } from './values.ts';

export interface DoctorOptions {
  readonly fix: boolean;
  readonly output: OutputFormat;
}

export async function doctor(dataDir: DataDir, { fix, output }: DoctorOptions): Promise<number> {
  if (fix) await mend(dataDir);
  const parts = [...(await findSystemParts()), homePart(dataDir)];
  const isWell = parts.every(({ isFound, isRequired }) => isFound || !isRequired);
  if (output === 'json') process.stdout.write(`${JSON.stringify({ isWell, parts }, undefined, 2)}\n`);
  else process.stdout.write(describe(parts));
  return isWell ? 0 : failureExitCode;
}

/** Installs the missing system parts where the launcher can, and removes what killed runs left. */
async function mend(dataDir: DataDir): Promise<void> {
  const installer = join(dirname(process.argv[1] ?? ''), '../../tools/launch/system-parts.sh');
  if (existsSync(installer)) spawnSync('sh', [installer], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (process.getuid?.() === 0) await sweepRuns(dataDir, (text) => process.stderr.write(`hutch: ${text}\n`));
}

function homePart(dataDir: DataDir): SystemPart {
  const endpoint = readEndpoint(dataDir);
  const detail = endpoint
    ? `running (pid ${endpoint.pid}), router ${endpoint.router}`
    : `none running in ${dataDir.root}`;
  const base = { name: 'home', isFound: endpoint !== undefined, isRequired: false, detail };
  return endpoint ? base : { ...base, fix: 'hutch up -d, if you want one' };
}

function describe(parts: readonly SystemPart[]): string {
  const verdict = ({ isFound, isRequired }: SystemPart) => (isFound ? 'ok' : isRequired ? 'MISSING' : 'no');
  return formatTable(
    ['PART', 'STATE', 'DETAIL', 'TO MEND'],
    parts.map((part) => [part.name, verdict(part), part.detail, part.isFound ? '' : (part.fix ?? '')]),
  );
}
