import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

/** A checkout with the real set-up script and programs that only write down how they were called. */
function plantCheckout(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-setup-'));
  directories.push(directory);
  for (const folder of ['scripts/setup', 'bin']) mkdirSync(join(directory, folder), { recursive: true });
  cpSync(join(root, 'scripts/setup.sh'), join(directory, 'scripts/setup.sh'));
  writeFileSync(join(directory, 'scripts/setup/debian-packages.txt'), '# none\n');
  writeFileSync(join(directory, 'package.json'), '{}');
  writeFileSync(join(directory, 'package-lock.json'), '{}');
  const npm =
    'echo "npm $*" >>calls; mkdir -p node_modules/.bin; touch node_modules/.bin/node; chmod +x node_modules/.bin/node';
  writeProgram(directory, 'npm', npm);
  return directory;
}

function writeProgram(directory: string, name: string, body: string): void {
  writeFileSync(join(directory, 'bin', name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(directory, 'bin', name), 0o755);
}

function setUp(
  directory: string,
  scope: string,
): { readonly exitCode: number | null; readonly output: string } {
  const env = { PATH: `${join(directory, 'bin')}:/usr/bin:/bin` };
  const run = spawnSync('sh', ['scripts/setup.sh', scope], { cwd: directory, env, encoding: 'utf8' });
  return { exitCode: run.status, output: run.stdout + run.stderr };
}

function calls(directory: string): string[] {
  const path = join(directory, 'calls');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

test('what is installed is not installed again, and nothing is said', () => {
  const directory = plantCheckout();
  assert.equal(setUp(directory, 'all').exitCode, 0);
  assert.deepEqual(setUp(directory, 'all'), { exitCode: 0, output: '' });
  assert.deepEqual(setUp(directory, 'runtime'), { exitCode: 0, output: '' });
  assert.equal(calls(directory).length, 1);
});

test('a runtime installation is completed in place, a changed lock is installed anew', () => {
  const directory = plantCheckout();
  setUp(directory, 'runtime');
  setUp(directory, 'all');
  writeFileSync(join(directory, 'package-lock.json'), '{"changed":true}');
  setUp(directory, 'all');
  writeFileSync(join(directory, 'package-lock.json'), '{"changed":"again"}');
  setUp(directory, 'runtime');
  assert.deepEqual(
    calls(directory).map((call) => call.split(' --ignore-scripts')[0]),
    [
      'npm ci --omit=dev --include=optional',
      'npm install --no-save --include=dev',
      'npm ci --include=dev --include=optional',
      // The tools of whoever develops here stay.
      'npm ci --include=dev --include=optional',
    ],
  );
});

test('a broken installation leaves no stamp behind', () => {
  const directory = plantCheckout();
  writeProgram(directory, 'npm', 'echo "npm $*" >>calls; exit 1');
  assert.equal(setUp(directory, 'all').exitCode, 1);
  assert.equal(setUp(directory, 'all').exitCode, 1);
  assert.equal(calls(directory).length, 2);
});

test('without root, a missing Debian package is named with its command and what is lost, and set-up goes on', () => {
  const directory = plantCheckout();
  const table = 'libnothing1 | runtime | /nonexistent/*.so | a thing is linked against it | nothing works\n';
  writeFileSync(join(directory, 'scripts/setup/debian-packages.txt'), table);
  writeProgram(directory, 'id', 'echo 1000');
  writeProgram(directory, 'sudo', 'exit 1');
  const { exitCode, output } = setUp(directory, 'runtime');
  assert.equal(exitCode, 0);
  assert.match(output, /apt-get install -y libnothing1/);
  assert.match(output, /without libnothing1: nothing works \(a thing is linked against it\)/);
});

test('with root, a missing Debian package is installed, after a refresh of the lists if need be', () => {
  const directory = plantCheckout();
  writeFileSync(
    join(directory, 'scripts/setup/debian-packages.txt'),
    'libnothing1 | runtime | /nonexistent/* | a | b\n',
  );
  writeProgram(directory, 'id', 'echo 0');
  writeProgram(
    directory,
    'apt-get',
    'echo "apt-get $1" >>calls; [ "$1" = update ] && touch updated; [ -e updated ]',
  );
  assert.equal(setUp(directory, 'runtime').exitCode, 0);
  assert.deepEqual(calls(directory).slice(0, 3), ['apt-get install', 'apt-get update', 'apt-get install']);
});

test('the lock holds every platform package that npm ci asks for', async () => {
  const { missingPlatformPackages } = await import('./complete-lock.ts');
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Parameters<
    typeof missingPlatformPackages
  >[0];
  assert.deepEqual(missingPlatformPackages(lock), {});
});
