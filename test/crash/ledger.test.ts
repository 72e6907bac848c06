import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Found, Ledger } from './ledger.ts';

const whole = (revision: number, value: number): Found => ({ revision, value, isWhole: true });

/** One object, written and acknowledged at revision 5 with value 1. */
function written(): Ledger {
  const ledger = new Ledger();
  ledger.ask('a', { value: 1 });
  ledger.acknowledge('a', 5);
  return ledger;
}

const cases: {
  name: string;
  act?: (ledger: Ledger) => void;
  found: [string, Found][];
  revision: number;
  want: RegExp | undefined;
}[] = [
  { name: 'what was acknowledged is there', found: [['a', whole(5, 1)]], revision: 5, want: undefined },
  {
    name: 'an acknowledged write is lost',
    found: [],
    revision: 5,
    want: /a was acknowledged as 1 at revision 5 and is absent/,
  },
  {
    name: 'an older state came back',
    found: [['a', whole(4, 0)]],
    revision: 5,
    want: /and is 0 at revision 4/,
  },
  {
    name: 'half a write',
    found: [['a', { ...whole(5, 1), isWhole: false }]],
    revision: 5,
    want: /half written/,
  },
  {
    name: 'something nobody wrote',
    found: [
      ['a', whole(5, 1)],
      ['b', whole(6, 2)],
    ],
    revision: 6,
    want: /b was never written/,
  },
  {
    name: 'an unanswered write that happened',
    act: (ledger) => ledger.ask('a', { value: 2 }),
    found: [['a', whole(6, 2)]],
    revision: 6,
    want: undefined,
  },
  {
    name: 'an unanswered write that did not happen',
    act: (ledger) => ledger.ask('a', { value: 2 }),
    found: [['a', whole(5, 1)]],
    revision: 5,
    want: undefined,
  },
  {
    name: 'an unanswered deletion that happened',
    act: (ledger) => ledger.ask('a', undefined),
    found: [],
    revision: 6,
    want: undefined,
  },
  {
    name: 'a refused write that happened',
    act: (ledger) => {
      ledger.ask('a', { value: 2 });
      ledger.refuse('a');
    },
    found: [['a', whole(6, 2)]],
    revision: 6,
    want: /and is 2 at revision 6/,
  },
  {
    name: 'the store went back',
    act: (ledger) => {
      ledger.noteRevision(9);
      ledger.crash();
    },
    found: [['a', whole(5, 1)]],
    revision: 8,
    want: /at revision 8, but 9 was seen/,
  },
  {
    name: 'a revision is given again after a crash',
    act: (ledger) => {
      ledger.noteRevision(9);
      ledger.crash();
      ledger.ask('a', { value: 2 });
      ledger.acknowledge('a', 8);
    },
    found: [['a', whole(8, 2)]],
    revision: 9,
    want: /given revision 8 after 9 was seen/,
  },
  {
    name: 'a revision is given twice',
    act: (ledger) => {
      ledger.ask('b', { value: 2 });
      ledger.acknowledge('b', 5);
    },
    found: [
      ['a', whole(5, 1)],
      ['b', whole(5, 2)],
    ],
    revision: 5,
    want: /revision 5 was given twice/,
  },
];

for (const { name, act, found, revision, want } of cases) {
  test(`ledger: ${name}`, () => {
    const ledger = written();
    act?.(ledger);
    ledger.settle(new Map(found), revision);
    const told = ledger.contradictions();
    if (want) assert.match(told.join('\n'), want);
    else assert.deepEqual(told, []);
  });
}
