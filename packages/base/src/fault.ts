/** What can go wrong, as programs see it. People read the message. The list is part of our contract. */
export type FaultCode =
  | 'not-found'
  | 'already-exists'
  | 'conflict'
  | 'expired'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'too-large'
  | 'too-many-requests'
  | 'unsupported'
  | 'unavailable'
  | 'timeout'
  | 'queue-full'
  | 'internal';

const brand = Symbol.for('hutch.fault');
const terminalBrand = Symbol.for('hutch.fault.terminal');

/**
 * An expected failure. Anything else that is thrown is a bug and is reported as one.
 *
 * The message says what we were doing and to which object, in lower case and without a full stop.
 */
export class Fault extends Error {
  override readonly name: string = 'Fault';
  readonly [brand] = true;
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Works across two copies of this package, where instanceof does not. */
export function isFault<C extends FaultCode>(err: unknown, ...codes: C[]): err is Fault & { code: C } {
  if (!(err instanceof Error && brand in err)) return false;
  return codes.length === 0 || (codes as string[]).includes((err as Fault).code);
}

/** Marks an error as one that no retry will mend: a work queue drops the key instead of backing off. */
export function terminal<E extends Error>(err: E): E {
  return Object.defineProperty(err, terminalBrand, { value: true });
}

export function isTerminal(err: unknown): boolean {
  return err instanceof Error && terminalBrand in err;
}

/** Awaits and swallows exactly one kind of expected failure; everything else is rethrown. */
export async function ignoring<T>(code: FaultCode, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (err) {
    if (isFault(err, code)) return undefined;
    throw err;
  }
}

/** The end of an exhaustive switch. The compiler proves it is never reached; a wrong cast is told at once. */
export function unreachable(value: never): never {
  throw new Error(`unreachable case: ${JSON.stringify(value)}`);
}

/** The text of anything that was thrown, for a log line or a message. */
export function messageOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
