import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGoNewEnough } from './go-tool-chain.ts';

const cases: { printed: string; want: boolean }[] = [
  { printed: 'go version go1.26.8 linux/amd64', want: true },
  { printed: 'go version go1.26 linux/arm64', want: true },
  { printed: 'go version go1.27rc1 linux/amd64', want: true },
  { printed: 'go version go2.0 linux/amd64', want: true },
  { printed: 'go version go1.25.9 linux/amd64', want: false },
  { printed: 'go version go1.3 linux/amd64', want: false },
  { printed: 'go version devel go1.27-abcdef linux/amd64', want: false },
  { printed: 'Go, a board game', want: false },
];

for (const { printed, want } of cases) {
  test(`go: "${printed}" is ${want ? '' : 'not '}new enough`, () => {
    assert.equal(isGoNewEnough(printed), want);
  });
}
