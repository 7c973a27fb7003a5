import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import type { LaunchOrder } from './launch.ts';
import { Launcher } from './launcher.ts';
import { currentBootId, isAlive, parseIdentity, signalProcess } from './process-identity.ts';

const bootId = currentBootId();

async function emptyDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "it's a launch-")));
  after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

function orderOf(directory: string, script: string, changes: Partial<LaunchOrder> = {}): LaunchOrder {
  return { directory, name: 'one', program: '/bin/sh', args: ['-c', script], ...changes };
}

async function untilText(path: string, claim: (text: string) => boolean): Promise<string> {
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (claim(text)) return text;
    await pass(5);
  }
}

describe('the launcher', () => {
  it('becomes the program, with its words, its place and its environment, and writes down who it is', async () => {
    const directory = await emptyDirectory();
    const launcher = new Launcher();
    const script =
      'printf "%s|" "$0" "$1" "$PWD" "$TZ"; [ -e /proc/self/fd/8 ] || echo closed; exec sleep 600';
    const args = ['-c', script, `it's "$HOME" \\ \n`, '; exit'];
    const launch = launcher.launch(orderOf(directory, '', { args, environment: { TZ: "A'B" } }));
    const log = await untilText(join(directory, 'one.log'), (text) => text.endsWith('closed\n'));
    assert.equal(log, `it's "$HOME" \\ \n|; exit|${directory}|A'B|closed\n`);
    assert.equal((await stat(join(directory, 'one.log'))).mode & 0o777, 0o600);
    const identity = parseIdentity(await readFile(join(directory, 'one.process'), 'utf8'));
    assert.ok(identity);
    try {
      assert.ok(isAlive(identity, bootId));
      assert.equal(launch.end, undefined);
      launcher.dispose();
      const again = new Launcher();
      const second = again.launch(orderOf(directory, 'echo second'));
      while (second.end === undefined) await pass(5);
      assert.deepEqual(second.end, { kind: 'refused' });
      again.dispose();
      assert.ok(isAlive(identity, bootId), 'it outlives who launched it');
    } finally {
      signalProcess(identity, bootId, 'SIGKILL');
    }
  });

  it('launches once, also after the program has ended', async () => {
    const directory = await emptyDirectory();
    const launcher = new Launcher();
    launcher.launch(orderOf(directory, 'echo first')).dispose();
    await untilText(join(directory, 'one.log'), (text) => text === 'first\n');
    const second = launcher.launch(orderOf(directory, 'echo second'));
    while (second.end === undefined) await pass(5);
    assert.deepEqual(second.end, { kind: 'refused' });
    assert.equal(await readFile(join(directory, 'one.log'), 'utf8'), 'first\n');
    const identity = parseIdentity(await readFile(join(directory, 'one.process'), 'utf8'));
    launcher.tidy();
    while (existsSync(`/proc/${identity?.pid}`)) await pass(5);
    launcher.dispose();
  });

  it('tells where nothing could be launched, and goes on', async () => {
    const directory = await emptyDirectory();
    const launcher = new Launcher();
    const gone = join(directory, 'gone');
    const launch = launcher.launch(orderOf(gone, 'echo never'));
    while (launch.end === undefined) await pass(5);
    assert.equal(launch.end.kind, 'exited');
    assert.deepEqual(await readdir(directory), []);
    await mkdir(gone);
    launcher.launch(orderOf(gone, 'echo there')).dispose();
    await untilText(join(gone, 'one.log'), (text) => text === 'there\n');
    launcher.dispose();
  });
});
