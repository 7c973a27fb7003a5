import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { isoImage } from './iso-image.ts';

const files = new Map([
  ['openstack/latest/meta_data.json', new TextEncoder().encode('{}')],
  ['user-data', new TextEncoder().encode('#cloud-config\n')],
]);

function withImage(use: (path: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'iso-image-'));
  try {
    const path = join(directory, 'seed.iso');
    writeFileSync(path, isoImage('cidata', files));
    use(path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function isMissing(program: string, context: TestContext): boolean {
  const isThere = spawnSync(program, ['--version']).error === undefined;
  if (!isThere) context.skip(`${program} is not installed`);
  return !isThere;
}

it('blkid finds the label', (context) => {
  if (isMissing('/usr/sbin/blkid', context)) return;
  withImage((path) => {
    const run = spawnSync('/usr/sbin/blkid', ['-p', '-o', 'export', path], { encoding: 'utf8' });
    assert.match(run.stdout, /^LABEL=cidata$/m);
    assert.match(run.stdout, /^TYPE=iso9660$/m);
  });
});

it('isoinfo lists the files by their names', (context) => {
  if (isMissing('isoinfo', context)) return;
  withImage((path) => {
    const run = spawnSync('isoinfo', ['-J', '-f', '-i', path], { encoding: 'utf8' });
    assert.match(run.stdout, /^\/openstack\/latest\/meta_data\.json$/m);
    assert.match(run.stdout, /^\/user-data$/m);
  });
});

it('xorriso lists the files by their names', (context) => {
  if (isMissing('xorriso', context)) return;
  withImage((path) => {
    const run = spawnSync('xorriso', ['-read_fs', 'norock', '-indev', path, '-find', '/'], {
      encoding: 'utf8',
    });
    assert.match(run.stdout, /'\/openstack\/latest\/meta_data\.json'/);
    assert.match(run.stdout, /'\/user-data'/);
  });
});
