/** Values of built-in types that have one written form: each reads any form there is and answers with that one. */
import { Fault } from '@hutch/base';
import { canonicalQuantity, quantityNanos } from '@hutch/kube-meta';

const milli = 1_000_000n;

function refused(message: string): Fault {
  return new Fault('invalid', message);
}

export function quantityOf(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return canonicalQuantity('x'); // refuses it
  return canonicalQuantity(String(value).trim());
}

/** Amounts of resources are kept to the thousandth, rounded up. */
export function milliQuantityOf(value: unknown): string {
  const text = quantityOf(value);
  const nanos = quantityNanos(text);
  const rest = nanos % milli;
  if (rest === 0n) return text;
  return canonicalQuantity(`${(nanos - rest) / milli + (nanos > 0n ? 1n : 0n)}m`);
}

export function intOrStringOf(value: unknown): string | number {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') {
    throw refused(`json: cannot unmarshal ${goKind(value)} into Go value of type int32`);
  }
  if (!Number.isInteger(value) || Math.abs(value) > 2 ** 31) {
    throw refused(`json: cannot unmarshal number ${value} into Go value of type int32`);
  }
  return value;
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Standard base64 with its padding; line breaks in it are ignored. */
export function bytesOf(text: string): string {
  const plain = text.replace(/[\r\n]/g, '');
  const body = /^[A-Za-z0-9+/]*/.exec(plain)?.[0] ?? '';
  const isWhole = plain.length % 4 === 0 && plain === body + '='.repeat(plain.length - body.length);
  if (isWhole && plain.length - body.length <= 2) return Buffer.from(plain, 'base64').toString('base64');
  throw refused(`illegal base64 data at input byte ${illegalByte(plain, body)}`);
}

/** Where a decoder that reads four characters at a time gives up. */
function illegalByte(plain: string, body: string): number {
  const isCut = body.length === plain.length;
  if (isCut) return Math.floor(body.length / 4) * 4;
  return plain[body.length] === '=' && body.length % 4 >= 2 ? plain.length : body.length;
}

const rfc3339 = '2006-01-02T15:04:05Z07:00';
const rfc3339Micro = '2006-01-02T15:04:05.000000Z07:00';

export function timeOf(value: unknown): string {
  const { date } = parseTime(value, rfc3339);
  return `${date.toISOString().slice(0, 19)}Z`;
}

export function microTimeOf(value: unknown): string {
  const { date, fraction } = parseTime(value, rfc3339Micro);
  return `${date.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

interface Part {
  /** As the layout writes it. */
  readonly name: string;
  readonly form: RegExp;
  readonly isOptional?: true;
}

const parts: readonly Part[] = [
  { name: '2006', form: /^\d{4}/ },
  { name: '-', form: /^-/ },
  { name: '01', form: /^\d{2}/ },
  { name: '-', form: /^-/ },
  { name: '02', form: /^\d{2}/ },
  { name: 'T', form: /^T/ },
  { name: '15', form: /^\d{1,2}/ },
  { name: ':', form: /^:/ },
  { name: '04', form: /^\d{2}/ },
  { name: ':', form: /^:/ },
  { name: '05', form: /^\d{2}/ },
];

/** In the words of Go's own parser: the first part that is not there is told. */
function parseTime(value: unknown, layout: string): { date: Date; fraction: string } {
  if (typeof value !== 'string') {
    throw refused(`json: cannot unmarshal ${goKind(value)} into Go value of type string`);
  }
  const isMicro = layout === rfc3339Micro;
  const fraction: Part = isMicro
    ? { name: '.000000', form: /^\.\d{6}(?!\d)/ }
    : { name: '', form: /^[.,]\d+/, isOptional: true };
  const zone: Part = { name: 'Z07:00', form: /^(Z|[+-]\d{2}:\d{2})/ };
  const read: string[] = [];
  let rest = value;
  for (const { name, form, isOptional } of [...parts, fraction, zone]) {
    const found = form.exec(rest)?.[0];
    if (found === undefined && !isOptional) {
      throw refused(
        `parsing time ${quoted(value)} as "${layout}": cannot parse ${quoted(rest)} as "${name}"`,
      );
    }
    read.push(found ?? '');
    rest = rest.slice(found?.length ?? 0);
  }
  if (rest !== '') throw refused(`parsing time ${quoted(value)}: extra text: ${quoted(rest)}`);
  const [year, , month, , day, , hour, , minute, , second] = read.map(Number);
  const wrong = outOfRange([
    Number(year),
    Number(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ]);
  if (wrong !== undefined) throw refused(`parsing time ${quoted(value)}: ${wrong} out of range`);
  const text = `${read.slice(0, 6).join('')}${String(hour).padStart(2, '0')}${read.slice(7, 11).join('')}`;
  return { date: new Date(text + (read[12] ?? 'Z')), fraction: (read[11] ?? '').slice(1) };
}

function outOfRange([year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0]: readonly number[]):
  | string
  | undefined {
  if (month < 1 || month > 12) return 'month';
  if (hour > 23) return 'hour';
  if (minute > 59) return 'minute';
  if (second > 59) return 'second';
  return day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate() ? 'day' : undefined;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
