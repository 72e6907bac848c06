import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { codeBlocks, transcript } from '../docs/commands.ts';
import { Machine, root, skip } from './support.ts';

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const blocks = codeBlocks(read('README.md'));

describe('the README tells the truth', { skip }, () => {
  test('its first command prints what it says', async () => {
    await using machine = new Machine();
    for (const { text } of blocks.filter(({ language }) => language === 'console')) {
      for (const { command, output } of transcript(text)) {
        const result = sh(command, machine);
        assert.deepEqual([result.status, result.stdout], [0, output], result.stderr);
      }
    }
  });

  test('every command line in it works, in the order they stand', async () => {
    await using machine = new Machine();
    const scripts = blocks.filter(({ language, text }) => language === 'sh' && text.includes('./hutch'));
    assert.ok(scripts.length >= 2);
    for (const { text } of scripts) {
      const result = sh(`set -e\n${text}`, machine);
      assert.equal(result.status, 0, `${text}\n${result.stderr}`);
    }
  });

  test('its program works', async () => {
    await using machine = new Machine();
    await machine.up();
    const token = readFileSync(join(machine.dataDir, 'admin.token'), 'utf8').trim();
    const snippet = blocks.find(({ language }) => language === 'ts')?.text ?? '';
    const program = snippet
      .replace(
        "'http://127.0.0.1:8080', token",
        `${JSON.stringify(machine.endpoint().router)}, token: ${JSON.stringify(token)}`,
      )
      .concat('process.stdout.write(stdout);');
    const result = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.deepEqual([result.status, result.stdout], [0, '42\n'], result.stderr);
  });
});

function sh(script: string, machine: Machine) {
  return spawnSync('sh', ['-c', script], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, HUTCH_DATA_DIR: machine.dataDir },
  });
}
