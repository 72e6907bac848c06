import { isIP, isIPv4, isIPv6 } from 'node:net';

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const base64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

const hostname = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i;

type Check = (text: string) => boolean;

/** The formats that are checked; a schema may name others, which mean nothing. */
export const textFormats: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['date-time', (text) => dateTime.test(text) && isRealDate(text.slice(0, 10))],
  ['datetime', (text) => dateTime.test(text) && isRealDate(text.slice(0, 10))],
  ['date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isRealDate(text)],
  ['byte', (text) => base64.test(text)],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['ip', (text) => isIP(text) !== 0],
  ['cidr', isRange],
  ['mac', (text) => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(text)],
  ['email', (text) => /^[^@\s]+@[^@\s]+$/.test(text)],
  ['hostname', (text) => text.length <= 255 && hostname.test(text)],
  [
    'duration',
    (text) =>
      /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)([\d.]+(ns|us|µs|ms|s|m|h))*$/.test(text) || text === '0',
  ],
  ['password', () => true],

  ['uri', (text) => URL.canParse(text)],
  ['uuid', (text) => uuid.test(text)],
]);

function isRange(text: string): boolean {
  const [ip = '', bits = '', ...more] = text.split('/');
  const max = isIPv4(ip) ? 32 : isIPv6(ip) ? 128 : -1;
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= max;
}

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
