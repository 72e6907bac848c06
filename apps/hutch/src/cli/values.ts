/** Reads the values people give to flags. A value that makes no sense is a `UsageFault` naming the flag. */
import { Fault } from '@hutch/base';

/** The command line is wrong; nothing was done. */
export class UsageFault extends Fault {
  override readonly name: string = 'UsageFault';
  constructor(message: string) {
    super('invalid', message);
  }
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `90`, `90s`, `500ms`, `2m`, `1h`: seconds when no unit is given. */
export function parseDurationMs(flag: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  const ms = match ? Number(match[1]) * (unitsMs[match[2] ?? 's'] as number) : 0;
  if (ms < 1) throw new UsageFault(`${flag} ${text}: not a duration; write 30, 90s, 500ms, 2m or 1h`);
  return Math.round(ms);
}

/** `NAME=value`, or `NAME` alone to pass on the caller's own value. */
export function parseEnv(pairs: readonly string[], own: NodeJS.ProcessEnv): Record<string, string> {
  const env: Record<string, string> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = at < 0 ? pair : pair.slice(0, at);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new UsageFault(`--env ${pair}: "${name}" is not a variable name; write NAME=value`);
    }
    const value = at < 0 ? own[name] : pair.slice(at + 1);
    if (value !== undefined) env[name] = value;
  }
  return env;
}

const cpuPattern = /^(\d+(\.\d+)?|\d+m)$/;
const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

function bytesOf(text: string): number {
  const [, amount = '', unit = ''] = /^([\d.]+)(.*)$/.exec(text) ?? [];
  return Number(amount) * (unitBytes[unit] ?? Number.NaN);
}

const memoryPattern = /^\d+(\.\d+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$/;

export function parseCpu(text: string): string {
  if (!cpuPattern.test(text) || Number.parseFloat(text) <= 0) {
    throw new UsageFault(`--cpu ${text}: not an amount of CPU; write 2, 0.5 or 500m`);
  }
  return text;
}

export function parseMemory(text: string): string {
  if (!memoryPattern.test(text) || Number.parseFloat(text) <= 0) {
    throw new UsageFault(`--memory ${text}: not an amount of memory; write 512Mi, 2Gi or 500M`);
  }
  if (bytesOf(text) < minMemoryBytes) {
    throw new UsageFault(`--memory ${text}: a sandbox needs at least 16Mi`);
  }
  return text;
}

const namePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function parseName(text: string): string {
  if (!namePattern.test(text)) {
    throw new UsageFault(
      `sandbox name "${text}": use at most 63 lower-case letters, digits and "-", starting and ending with a letter or digit`,
    );
  }
  return text;
}

/** A path that is empty would be the current directory, which nobody means. */
export function parseDataDir(text: string): string {
  if (text === '') throw new UsageFault('--data-dir is empty: name a directory, or leave it out');
  if (text.includes(',') || text.includes('\n')) {
    throw new UsageFault(`--data-dir ${text}: commas and line breaks cannot be mounted; choose another name`);
  }
  return text;
}

/** Less than this is used up before the first line of any program runs. */
const minMemoryBytes = 16 << 20;

export type OutputFormat = 'text' | 'json';

export function parseOutput(text: string): OutputFormat {
  if (text !== 'text' && text !== 'json') throw new UsageFault(`--output ${text}: choose text or json`);
  return text;
}
