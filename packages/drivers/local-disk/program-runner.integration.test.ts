import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '@sheaf/drivers/system';
import { signal } from '@sheaf/ports/disk-bench.fixture';
import { findProgram, ProgramFailure, ProgramRunner } from './program-runner.ts';

const runner = await ProgramRunner.open(systemClock);
const tools = (await Promise.all(['prlimit', 'setpriv'].map(findProgram))).every(
  (path) => path !== undefined,
);
const needsTools = { skip: tools ? false : 'prlimit and setpriv are not installed (package util-linux)' };

function shell(script: string, limits = {}): Promise<string> {
  return runner.run({ program: 'sh', arguments: ['-c', script], limits }, signal);
}

function failure(words: RegExp) {
  return (error: unknown): boolean => error instanceof ProgramFailure && words.test(error.message);
}

test('programs: get words as they are, and an environment of their own', async () => {
  const odd = ['$(id)', '; false', '', 'a b', '--x'];
  assert.equal(
    await runner.run({ program: 'printf', arguments: ['%s|', ...odd], limits: {} }, signal),
    odd.map((word) => `${word}|`).join(''),
  );
  const names = (await shell('env')).split('\n').map((line) => line.split('=')[0] ?? '');
  assert.deepEqual(
    names.filter((name) => !['PWD', 'OLDPWD', '_', 'SHLVL', 'PATH', 'LC_ALL', ''].includes(name)),
    [],
  );
});

test('programs: end with their own words, when their time is over, and when nobody waits', async () => {
  await assert.rejects(shell('echo why >&2; exit 3'), failure(/^why$/));
  await assert.rejects(
    runner.run({ program: 'no-such-program', arguments: [], limits: {} }, signal),
    failure(/no-such-program/),
  );
  await assert.rejects(shell('exec sleep 1000', { timeoutMs: 20 }), failure(/without a word \(killed\)/));
  const abort = new AbortController();
  const running = runner.run({ program: 'sleep', arguments: ['1000'], limits: {} }, abort.signal);
  abort.abort(new Error('nobody waits'));
  await assert.rejects(running, /nobody waits/);
});

test('programs: have only so much memory, processor and file', needsTools, async () => {
  await assert.rejects(
    shell('dd if=/dev/zero of=/dev/null bs=200M count=1', { memoryBytes: 100_000_000 }),
    failure(/memory/),
  );
  await assert.rejects(
    shell('while :; do :; done', { processorSeconds: 1 }),
    failure(/Killed|without a word/),
  );
  await assert.rejects(
    shell('f=$(mktemp); sh -c "echo x > $f"; code=$?; rm $f; exit $code', { fileBytes: 0 }),
    failure(/./),
  );
});

test('programs: see no network where it can be taken away', async (context) => {
  if (spawnSync('unshare', ['--net', 'true']).status !== 0)
    return context.skip('taking the network away needs root');
  const links = (await shell('cat /proc/net/dev'))
    .split('\n')
    .flatMap((line) => /^ *(\S+):/.exec(line)?.[1] ?? []);
  assert.deepEqual(links, ['lo']);
  return undefined;
});

test('programs: do not outlive this process', needsTools, async () => {
  const source = `
    import { systemClock } from '@sheaf/drivers/system';
    import { ProgramRunner } from ${JSON.stringify(join(import.meta.dirname, 'program-runner.ts'))};
    const runner = await ProgramRunner.open(systemClock);
    const child = runner.start({ program: 'sleep', arguments: ['1000'], limits: {} });
    child.on('spawn', () => process.stdout.write(String(child.pid)));
  `;
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = await new Promise<number>((resolve) =>
    parent.stdout.once('data', (text) => resolve(Number(text))),
  );
  const isAlive = (): boolean => {
    const path = `/proc/${pid}/stat`;
    return existsSync(path) && !readFileSync(path, 'utf8').includes(') Z ');
  };
  assert.ok(isAlive());
  parent.kill('SIGKILL');
  while (isAlive()) await new Promise((resolve) => setTimeout(resolve, 5));
});
