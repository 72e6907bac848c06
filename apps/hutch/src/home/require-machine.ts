/** What a machine must have before a home can be started on it: said all at once, before anything is made. */
import { Fault } from '@hutch/base';
import { findSystemParts } from '@hutch/node';

export function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new Fault(
    'forbidden',
    'making sandboxes needs root: run it with sudo, or ask whoever runs `hutch up` here for a token',
  );
}

/** Only asked when a start has failed: looking costs more than starting. */
export async function explainFailure(err: unknown): Promise<unknown> {
  const missing = (await findSystemParts()).filter(({ isFound, isRequired }) => isRequired && !isFound);
  if (missing.length === 0) return err;
  const list = missing
    .map(({ name, detail, fix }) => `${name}: ${detail}${fix ? ` (${fix})` : ''}`)
    .join('; ');
  return new Fault('unavailable', `this machine lacks what sandboxes need: ${list}; see: hutch doctor`, {
    cause: err,
  });
}
