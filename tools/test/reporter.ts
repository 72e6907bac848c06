// Loaded by `node --test` inside a test process.
import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { reportOf } from './report.ts';

const root = resolve(import.meta.dirname, '../..');
const reportDescriptor = 3;

// Written at once, not yielded: what happened before a crash must reach the runner.
// biome-ignore lint/style/noDefaultExport: the test runner asks for a reporter's default export
export default async function* reporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string, void> {
  for await (const event of events) {
    const report = reportOf(event, root);
    if (report) writeSync(reportDescriptor, `${JSON.stringify(report)}\n`);
  }
  yield ''; // a reporter's text goes to stdout, which belongs to the tests
}
