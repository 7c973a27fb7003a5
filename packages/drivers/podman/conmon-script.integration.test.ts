import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runProgram } from '../qemu/run-program.ts';
import { conmonScript, inputStays } from './conmon-script.ts';

/** Prints its words, one a line, and where it finds the configuration of storage. */
const printer = '#!/bin/sh\nprintf "%s\\n" "$@" "conf: $CONTAINERS_STORAGE_CONF"\n';

async function withScript(use: (script: string, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "conmon's "));
  try {
    const [conmon, script] = [join(directory, 'printer'), join(directory, 'script')];
    await writeFile(conmon, printer, { mode: 0o700 });
    await writeFile(script, conmonScript({ conmon, storageConf: "/a 'b'/storage.conf" }), { mode: 0o700 });
    await use(script, directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function wordsOf(script: string, words: readonly string[]): Promise<readonly string[]> {
  const { output } = await runProgram(script, [...words]);
  return output.trimEnd().split('\n');
}

describe('what podman starts instead of conmon', () => {
  it('keeps all words but where podman runs, which the configuration says', () =>
    withScript(async (script) => {
      const option = (word: string): string[] => ['--exit-command-arg', word];
      const before = [
        '-b',
        '/a b',
        '--exit-command',
        '/usr/bin/podman',
        ...option('--root'),
        ...option('/r r'),
      ];
      const after = [...option('--log-level'), ...option('warning'), ...option('cleanup'), '-t'];
      const words = [...before, ...option('--runroot'), ...option('/very/long'), ...after];
      assert.deepEqual(await wordsOf(script, words), [...before, ...after, "conf: /a 'b'/storage.conf"]);
    }));

  it('says for containers that are marked so that their input stays, and not for commands in them', () =>
    withScript(async (script, directory) => {
      const bundle = join(directory, 'bundle');
      await mkdir(bundle);
      await writeFile(join(bundle, 'config.json'), `{"annotations":{"${inputStays}":"true"}}`);
      const conf = "conf: /a 'b'/storage.conf";
      assert.deepEqual(await wordsOf(script, ['-b', bundle]), ['--leave-stdin-open', '-b', bundle, conf]);
      assert.deepEqual(await wordsOf(script, ['-b', bundle, '-e']), ['-b', bundle, '-e', conf]);
      assert.deepEqual(await wordsOf(script, ['-b', directory]), ['-b', directory, conf]);
    }));
});
