import { isIPv4, isIPv6 } from 'node:net';

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const base64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

type Check = (text: string) => boolean;

/** The formats that are checked; a schema may name others, which mean nothing. */
export const textFormats: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['date-time', (text) => dateTime.test(text) && isRealDate(text.slice(0, 10))],
  ['datetime', (text) => dateTime.test(text) && isRealDate(text.slice(0, 10))],
  ['date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isRealDate(text)],
  ['byte', (text) => base64.test(text)],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['uri', (text) => URL.canParse(text)],
  ['uuid', (text) => uuid.test(text)],
]);

/** JavaScript rolls the 30th of February over; we do not. */
function isRealDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

export function fitsNumberFormat(value: number, format: string | undefined): boolean {
  if (format === 'int32') return value >= -(2 ** 31) && value < 2 ** 31;
  if (format === 'int64') return value >= -(2 ** 63) && value < 2 ** 63;
  return true;
}
