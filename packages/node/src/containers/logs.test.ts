import assert from 'node:assert/strict';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type LogOptions, parseLogLine, readLog } from './logs.ts';

async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'hutch-logs-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const line = (second: number, tag: string, text: string) =>
  `2030-01-01T00:00:0${second}.000000000+00:00 stdout ${tag} ${text}\n`;
const over = AbortSignal.abort();
const never = new AbortController().signal;

async function read(text: string, options: LogOptions): Promise<string> {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'output.log');
  await writeFile(path, text);
  return Buffer.concat(await Array.fromAsync(readLog({ path, ended: over }, options, never))).toString();
}

const three = line(1, 'F', 'one') + line(2, 'F', 'two') + line(3, 'F', 'three');

const cases: { name: string; text: string; options: LogOptions; want: string }[] = [
  { name: 'time and stream are taken off', text: three, options: {}, want: 'one\ntwo\nthree\n' },
  { name: 'the last lines only', text: three, options: { tailLines: 2 }, want: 'two\nthree\n' },
  { name: 'no lines at all', text: three, options: { tailLines: 0 }, want: '' },
  { name: 'more lines than there are', text: three, options: { tailLines: 9 }, want: 'one\ntwo\nthree\n' },
  { name: 'so many bytes', text: three, options: { limitBytes: 5 }, want: 'one\nt' },
  {
    name: 'since a time',
    text: three,
    options: { sinceTime: new Date('2030-01-01T00:00:02Z') },
    want: 'two\nthree\n',
  },
  {
    name: 'pieces of a line are joined',
    text: line(1, 'P', 'on') + line(1, 'F', 'e'),
    options: {},
    want: 'one\n',
  },
  {
    name: 'the last lines only, however many pieces they were written in',
    text: three + line(4, 'P', 'fo') + line(4, 'P', 'u') + line(4, 'F', 'r') + line(5, 'F', 'five'),
    options: { tailLines: 2 },
    want: 'four\nfive\n',
  },
  {
    name: 'the last line only, all of it that is there',
    text: three + line(4, 'P', 'fo') + line(4, 'P', 'ur'),
    options: { tailLines: 1 },
    want: 'four',
  },
  {
    name: 'the last line only, before one that is being written',
    text: `${three}2030-01`,
    options: { tailLines: 1 },
    want: 'three\n',
  },
  {
    name: 'an unfinished last line is held back',
    text: `${three}2030-01`,
    options: {},
    want: 'one\ntwo\nthree\n',
  },
  { name: 'an empty line stays', text: line(1, 'F', ''), options: {}, want: '\n' },
  {
    name: 'with times',
    text: line(1, 'F', 'one'),
    options: { timestamps: true },
    want: '2030-01-01T00:00:01.000000000+00:00 one\n',
  },
];

for (const { name, text, options, want } of cases) {
  test(`reading output: ${name}`, async () => assert.equal(await read(text, options), want));
}

test('output longer than one read comes back whole', async () => {
  const text = line(1, 'F', 'x'.repeat(1000)).repeat(300);
  assert.equal((await read(text, {})).length, 1001 * 300);
  assert.equal((await read(text, { tailLines: 150 })).length, 1001 * 150);
});

test('following ends when the container has ended, with everything it wrote, across a replaced file', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'output.log');
  await writeFile(path, line(1, 'F', 'one'));
  const end = new AbortController();
  const chunks = readLog({ path, ended: end.signal }, { follow: true }, never);
  const next = async () => Buffer.from((await chunks.next()).value ?? []).toString();
  assert.equal(await next(), 'one\n');
  const second = next();
  await appendFile(path, line(2, 'F', 'two'));
  assert.equal(await second, 'two\n');
  const third = next();
  await writeFile(`${path}.new`, line(3, 'F', 'three'));
  await rename(`${path}.new`, path);
  assert.equal(await third, 'three\n');
  const last = chunks.next();
  end.abort();
  assert.equal((await last).done, true);
});

/** A reader of a file with one line in it, which it has delivered: it is about to find that there is no more. */
async function followed(path: string) {
  await writeFile(path, line(1, 'F', 'one'));
  const end = new AbortController();
  const chunks = readLog({ path, ended: end.signal }, { follow: true }, never);
  const next = async () => Buffer.from((await chunks.next()).value ?? []).toString();
  assert.equal(await next(), 'one\n');
  const leave = async () => {
    end.abort();
    await chunks.return();
  };
  return { end, next, [Symbol.asyncDispose]: leave };
}

test('following misses nothing that is written just before the file is replaced, whenever that is', async () => {
  await using directory = await temporaryDirectory();
  for (let turns = 0; turns < 24; turns++) {
    const path = join(directory.path, `${turns}.log`);
    await using reader = await followed(path);
    const { next } = reader;
    writeFileSync(`${path}.new`, line(3, 'F', 'three'));
    const second = next();
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    appendFileSync(path, line(2, 'F', 'two'));
    renameSync(`${path}.new`, path);
    assert.equal(await second, 'two\n', `after ${turns} turns`);
    assert.equal(await next(), 'three\n', `after ${turns} turns`);
  }
});

test('following delivers what came after a replacement also when the container has ended by then', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'output.log');
  await using reader = await followed(path);
  const { end, next } = reader;
  writeFileSync(`${path}.new`, line(2, 'F', 'two'));
  renameSync(`${path}.new`, path);
  end.abort();
  assert.equal(await next(), 'two\n');
  assert.equal(await next(), '');
});

test('following waits while there is no file', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'output.log');
  await using reader = await followed(path);
  const { next } = reader;
  await rm(path);
  const second = next();
  await writeFile(`${path}.new`, line(2, 'F', 'two'));
  await rename(`${path}.new`, path);
  assert.equal(await second, 'two\n');
});

test('following ends quietly when the reader leaves', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'output.log');
  await writeFile(path, '');
  const leave = new AbortController();
  const chunks = readLog({ path, ended: never }, { follow: true }, leave.signal);
  const first = chunks.next();
  leave.abort();
  assert.equal((await first).done, true);
});

test('any bytes are a line or none, never an error', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseLogLine(Buffer.from(bytes))));
  fc.assert(
    fc.property(fc.string(), (text) => {
      const found = parseLogLine(Buffer.from(`t stdout F ${text}`));
      return Buffer.from(found?.text ?? []).toString() === Buffer.from(text).toString();
    }),
  );
});
