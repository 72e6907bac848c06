import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import type { StringMap } from './object.ts';
import {
  fieldText,
  labelSelectorOf,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from './selectors.ts';

const labels: StringMap = { app: 'web', tier: 'front', replicas: '3', empty: '' };

const selections: [string, boolean][] = [
  ['', true],
  ['  ', true],
  ['app=web', true],
  ['app==web', true],
  ['app = web , tier=front', true],
  ['app=db', false],
  ['app!=db', true],
  ['missing!=db', true],
  ['app in (web, db)', true],
  ['app in (db)', false],
  ['app notin (db)', true],
  ['missing notin (db)', true],
  ['app', true],
  ['missing', false],
  ['!missing', true],
  ['!app', false],
  ['empty=', true],
  ['empty in (,x)', true],
  ['replicas>2', true],
  ['replicas>3', false],
  ['replicas<4,app', true],
  ['app>1', false],
  ['toString', false],
  ['constructor', false],
];

describe('a label selector', () => {
  for (const [text, want] of selections) {
    test(`'${text}' ${want ? 'selects' : 'does not select'} the example`, () => {
      assert.equal(matchesLabels(parseLabelSelector(text), labels), want);
    });
  }

  for (const text of [
    '=web',
    'app=web tier',
    'app in web',
    'app in (web',
    'a,,b',
    'a b',
    '!',
    'app=_x_',
    'a>x',
    'A/B/C',
  ]) {
    test(`'${text}' is refused`, () => {
      assert.throws(
        () => parseLabelSelector(text),
        (err) => isFault(err, 'invalid'),
      );
    });
  }

  test('any text is either parsed or refused with a fault', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab=!,() <>in/.-') }), (text) => {
        try {
          parseLabelSelector(text);
        } catch (err) {
          assert.ok(isFault(err, 'invalid'), String(err));
        }
      }),
    );
  });

  test('a selector made of equalities selects exactly the labels that have them all', () => {
    const map = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y', ''));
    fc.assert(
      fc.property(map, map, (wanted, given) => {
        const text = Object.entries(wanted)
          .map(([key, value]) => `${key}=${value}`)
          .join(',');
        const want = Object.entries(wanted).every(([key, value]) => given[key] === value);
        assert.equal(matchesLabels(parseLabelSelector(text), given), want);
      }),
    );
  });

  test('the form of a spec means the same as the form of a query', () => {
    const selector = labelSelectorOf({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['front', 'back'] },
        { key: 'legacy', operator: 'DoesNotExist' },
      ],
    });
    assert.deepEqual(selector, parseLabelSelector('app=web,tier in (front,back),!legacy'));
    assert.deepEqual(labelSelectorOf({}), []);
    assert.equal(labelSelectorOf(undefined), undefined);
  });

  test('a spec with an unknown operator or values that do not fit it is refused', () => {
    for (const expression of [
      { key: 'a', operator: 'toString' },
      { key: 'a', operator: 'In' },
      { key: 'a', operator: 'Exists', values: ['x'] },
    ]) {
      assert.throws(
        () => labelSelectorOf({ matchExpressions: [expression] }),
        (err) => isFault(err, 'invalid'),
      );
    }
  });
});

describe('a field selector', () => {
  const pod = {
    metadata: { name: 'a', namespace: 'x' },
    spec: { nodeName: 'n1', hostNetwork: true },
    status: {},
  };

  const cases: [string, boolean][] = [
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a,metadata.namespace=x', true],
    ['metadata.name!=a', false],
    ['spec.nodeName=', false],
    ['status.phase=', true],
    ['status.phase!=Running', true],
    ['spec.hostNetwork=true', true],
  ];
  for (const [text, want] of cases) {
    test(`'${text}' ${want ? 'selects' : 'does not select'} the example`, () => {
      assert.equal(matchesFields(parseFieldSelector(text), pod), want);
    });
  }

  test('escaped commas, equal signs and backslashes come back as they were', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '=', '\\', '!') }), (value) => {
        const escaped = value.replaceAll(/[\\,=]/g, (char) => `\\${char}`);
        assert.deepEqual(parseFieldSelector(`f=${escaped},g!=1`), [
          { field: 'f', operator: '=', value },
          { field: 'g', operator: '!=', value: '1' },
        ]);
      }),
    );
  });

  test('what is no selector is refused', () => {
    for (const text of ['metadata.name', 'a=b=c', 'a=\\x']) {
      assert.throws(
        () => parseFieldSelector(text),
        (err) => isFault(err, 'invalid'),
      );
    }
  });

  test('inherited members are not fields', () => {
    assert.equal(fieldText(pod, 'constructor.name'), '');
  });
});
