import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Timings } from './timings.ts';

test('stages add up to the total, and parts of a stage are told but not counted again', () => {
  const timings = new Timings(performance.now());
  timings.mark('one');
  timings.parts({ seen: 0, prepared: 10, started: 25 });
  timings.mark('two');
  const whole = timings.stages.filter(({ isPart }) => !isPart);
  assert.deepEqual(
    whole.map(({ name }) => name),
    ['one', 'two'],
  );
  assert.ok(Math.abs(whole.reduce((sum, { ms }) => sum + ms, 0) - timings.totalMs) < 1e-6);
  assert.deepEqual(
    timings.stages.filter(({ isPart }) => isPart).map(({ name, ms }) => [name, ms]),
    [
      ['prepared', 10],
      ['started', 15],
    ],
  );
  assert.match(timings.toString(), /^ {2}prepared +10\.0 ms$/m);
});
