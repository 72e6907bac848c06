import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from './names.ts';

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const value =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const keyName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const cases: [(text: string) => string[], string, string[]][] = [
  [dnsLabelProblems, 'a', []],
  [dnsLabelProblems, 'a-1', []],
  [dnsLabelProblems, 'a.b', ['must not contain dots']],
  [dnsLabelProblems, 'A', [label]],
  [dnsLabelProblems, '', [label]],
  [dnsLabelProblems, 'a\n', [label]],
  [dnsLabelProblems, 'a'.repeat(64), ['must be no more than 63 characters']],
  [dnsSubdomainProblems, 'a.b-c.d', []],
  [dnsSubdomainProblems, 'a..b', [subdomain]],
  [dnsSubdomainProblems, '-a', [subdomain]],
  [dnsSubdomainProblems, 'a'.repeat(254), ['must be no more than 253 characters']],
  [labelValueProblems, '', []],
  [labelValueProblems, 'My_value.1', []],
  [labelValueProblems, '-a', [value]],
  [labelKeyProblems, 'app', []],
  [labelKeyProblems, 'example.com/App', []],
  [labelKeyProblems, '/app', ['prefix part must be non-empty']],
  [labelKeyProblems, 'example.com/', ['name part must be non-empty', keyName]],
  [labelKeyProblems, 'Example.com/app', [`prefix part ${subdomain}`]],
  [pathSegmentProblems, 'Any_thing', []],
  [pathSegmentProblems, '..', ["may not be '..'"]],
  [pathSegmentProblems, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
];

for (const [check, text, want] of cases) {
  test(`${check.name} of ${JSON.stringify(text.slice(0, 20))}`, () => {
    assert.deepEqual(check(text), want);
  });
}

test('a key with two slashes is told what a qualified name is', () => {
  const [problem, ...rest] = labelKeyProblems('a/b/c');
  assert.equal(rest.length, 0);
  assert.match(problem ?? '', /^a valid label key must consist .* 'example\.com\/MyName'\)$/);
});

test('labels joined by dots are a subdomain, and each label alone is one too', () => {
  const labels = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
  fc.assert(
    fc.property(fc.array(labels, { minLength: 1, maxLength: 5 }), (parts) => {
      assert.deepEqual(dnsSubdomainProblems(parts.join('.')), []);
      for (const part of parts) assert.deepEqual(dnsLabelProblems(part), []);
    }),
  );
});

test('long hostile texts are refused quickly', () => {
  const started = performance.now();
  for (const text of ['-'.repeat(200_000), `a${'-'.repeat(200_000)}`, 'a.'.repeat(100_000)]) {
    assert.notDeepEqual(dnsSubdomainProblems(text), []);
    assert.notDeepEqual(labelKeyProblems(text), []);
  }
  assert.ok(performance.now() - started < 1_000);
});
