/** The one way Kubernetes writes a quantity: what a server stores of `0.5`, `1024Ki` and `1000m`. */
import { Fault } from '@hutch/base';
import { quantityNanos } from './quantity.ts';

const form = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const formWords = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const nano = 10n ** 9n;

/** Answers with the text itself when it is canonical; an `invalid` fault, in Kubernetes' words, for no quantity. */
export function canonicalQuantity(text: string): string {
  const match = form.exec(text);
  if (!match || text === '') {
    throw new Fault('invalid', `quantities must match the regular expression '${formWords}'`);
  }
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  const isExponent = /^[eE][-+]?[0-9]+$/.test(suffix);
  const isBinary = binarySuffixes.indexOf(suffix) > 0;
  if (!isExponent && !isBinary && !decimalSuffixes.includes(suffix)) {
    throw new Fault('invalid', "unable to parse quantity's suffix");
  }
  if (whole + fraction === '') throw new Fault('invalid', 'unable to parse numeric part of quantity');
  if (isWrittenAlready(whole.replace(/^0+/, '') || '0', fraction, suffix)) return text;
  const nanos = quantityNanos(`${sign}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}${suffix}`);
  if (nanos === 0n) return '0';
  const isWhole = nanos % nano === 0n;
  const isSmall = nanos > -1024n * nano && nanos < 1024n * nano;
  if (isBinary && isWhole && !isSmall) return scaled(nanos / nano, 1024n, binarySuffixes);
  return isExponent ? withExponent(nanos) : scaled(nanos, 1000n, decimalSuffixes);
}

/** Texts that Kubernetes passes on as they are. Its rule is a shortcut: `1.500` is among them, `0.5` is not. */
function isWrittenAlready(whole: string, fraction: string, suffix: string): boolean {
  const digits = whole + fraction;
  const binary = binarySuffixes.indexOf(suffix);
  if (digits.length > 15) return false;
  if (binary > 0) return fraction === '' && (BigInt(digits) & 7n) !== 0n && digits.length + binary * 3 < 15;
  const power = /^[eE]/.test(suffix) && suffix !== 'E' ? Number(suffix.slice(1)) : decimalPower(suffix);
  const scale = power - fraction.length;
  return scale >= -9 && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

function decimalPower(suffix: string): number {
  return (decimalSuffixes.indexOf(suffix) - 3) * 3;
}

function scaled(value: bigint, step: bigint, suffixes: readonly string[]): string {
  let number = value;
  let at = 0;
  while (at < suffixes.length - 1 && number % step === 0n) {
    number /= step;
    at++;
  }
  return `${number}${suffixes[at]}`;
}

function withExponent(nanos: bigint): string {
  let number = nanos;
  let exponent = -9;
  while (number % 1000n === 0n) {
    number /= 1000n;
    exponent += 3;
  }
  return exponent === 0 ? `${number}` : `${number}e${exponent}`;
}
