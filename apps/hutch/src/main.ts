// The executable. Everything it can do is in cli/program.ts.
import type { Writable } from 'node:stream';
import { runProgram } from './cli/program.ts';

async function main(): Promise<never> {
  const exitCode = await runProgram(process.argv.slice(2), process.env);
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // Not `process.exitCode`: a terminal left open as stdin would keep the program alive.
  process.exit(exitCode);
}

/** What was written to a pipe may still be on its way, and exiting would cut it off. */
function flushed(stream: Writable): Promise<void> {
  if (stream.writableLength === 0) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('drain', resolve);
    stream.once('error', () => resolve()); // nobody reads any more
  });
}

void main();
