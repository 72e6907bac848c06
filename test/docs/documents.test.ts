import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { namedPaths, npmScripts } from './commands.ts';

const root = resolve(import.meta.dirname, '../..');
const folders = ['apps', 'packages', 'tools', 'test', 'bench', 'docs', 'rigs', 'hutch'];
const documents = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md', 'apps/*/README.md'], {
  cwd: root,
});

for (const document of documents) {
  const text = readFileSync(join(root, document), 'utf8');

  test(`${document} names only files that are there`, () => {
    const missing = namedPaths(text, folders).filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(missing, []);
  });

  test(`${document} names only npm scripts that are there, and they lead to files that are there`, () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const name of npmScripts(text)) {
      const script = scripts[name];
      assert.ok(script, `npm run ${name}`);
      const [, file] = /^node (\S+)/.exec(script) ?? [];
      if (file) assert.ok(existsSync(join(root, file)), file);
    }
  });
}
