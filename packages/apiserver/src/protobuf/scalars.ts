/** Messages that are one value in JSON: times, quantities, numbers or names, and JSON itself. */
import { Fault } from '@hutch/base';
import { jsonProblem } from '../json-text.ts';
import { type WireReader, wireTypes } from './wire.ts';

/** Reads the fields of a small message; those it does not name are passed over. */
function readParts(
  reader: WireReader,
  message: string,
  parts: Readonly<Record<number, readonly [wireType: number, read: () => void]>>,
): void {
  while (!reader.isDone) {
    const { number, wireType } = reader.tag(message);
    const part = parts[number];
    if (!part) {
      reader.skip(wireType);
      continue;
    }
    const [wanted, read] = part;
    if (wireType !== wanted) {
      throw new Fault('invalid', `proto: wrong wireType = ${wireType} for field ${number} of ${message}`);
    }
    read();
  }
}

interface Moment {
  readonly seconds: number;
  readonly nanos: number;
}

/** Undefined for no bytes at all: that is how a time that was never set travels. */
function readMoment(reader: WireReader): Moment | undefined {
  if (reader.isDone) return undefined;
  let seconds = 0;
  let nanos = 0;
  readParts(reader, 'Timestamp', {
    1: [wireTypes.varint, () => (seconds = reader.int64())],
    2: [wireTypes.varint, () => (nanos = reader.int32())],
  });
  return { seconds, nanos };
}

/** What JSON can say: the years 0 to 9999. */
const firstSecond = Date.parse('0000-01-01T00:00:00Z') / 1000;
const lastSecond = Date.parse('9999-12-31T23:59:59Z') / 1000;

function secondsText(seconds: number): string {
  if (seconds < firstSecond || seconds > lastSecond) {
    throw new Fault('invalid', `proto: time ${seconds} is outside of the years 0 to 9999`);
  }
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

/** To the second: fractions are not kept. */
export function timeFrom(reader: WireReader): string | null {
  const moment = readMoment(reader);
  return moment ? `${secondsText(moment.seconds)}Z` : null;
}

const microsPerSecond = 1_000_000;

export function microTimeFrom(reader: WireReader): string | null {
  const moment = readMoment(reader);
  if (!moment) return null;
  const micros = Math.trunc(moment.nanos / 1000); // may be more than a second, or less than none
  const carried = Math.floor(micros / microsPerSecond);
  const rest = micros - carried * microsPerSecond;
  return `${secondsText(moment.seconds + carried)}.${String(rest).padStart(6, '0')}Z`;
}

/** As it was sent: whoever reads the type says whether it is one. */
export function quantityFrom(reader: WireReader): string {
  let text = '0';
  readParts(reader, 'Quantity', { 1: [wireTypes.bytes, () => (text = reader.text())] });
  return text;
}

export function intOrStringFrom(reader: WireReader): number | string {
  let type = 0;
  let number = 0;
  let text = '';
  readParts(reader, 'IntOrString', {
    1: [wireTypes.varint, () => (type = reader.int64())],
    2: [wireTypes.varint, () => (number = reader.int32())],
    3: [wireTypes.bytes, () => (text = reader.text())],
  });
  if (type !== 0 && type !== 1) throw new Fault('invalid', 'impossible IntOrString.Type');
  return type === 0 ? number : text;
}

export function jsonFrom(reader: WireReader): unknown {
  let text = '';
  readParts(reader, 'RawExtension', { 1: [wireTypes.bytes, () => (text = reader.text())] });
  if (text === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Fault('invalid', jsonProblem(text), { cause });
  }
}
