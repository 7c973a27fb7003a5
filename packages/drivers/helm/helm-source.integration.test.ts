import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { HelmSource } from './helm-source.ts';

/** A host with a Go that does what the script says, and no Helm on the PATH. */
async function withGo(script: string | undefined, use: (source: HelmSource) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'helm-source-'));
  try {
    const go = join(directory, 'go');
    if (script !== undefined) await writeFile(go, `#!/bin/sh\n${script}\n`);
    if (script !== undefined) await chmod(go, 0o755);
    const buildDirectory = join(directory, 'tools');
    await use(new HelmSource({ directories: [], buildDirectory, go, helm: 'no-such-helm' }));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function until(claim: () => boolean): Promise<void> {
  for (let left = 3000; left > 0 && !claim(); left--) await pass(20);
  assert.ok(claim(), `this did not become true: ${claim.toString()}`);
}

const builds = `echo build >>"$GOBIN/builds"; printf '#!/bin/sh\\n' >"$GOBIN/helm"; /bin/chmod 755 "$GOBIN/helm"`;

it('builds Helm once, when it is asked for', () =>
  withGo(builds, async (source) => {
    assert.equal(source.find(), undefined);
    assert.match(source.problem()?.reason ?? '', /being built/);
    await until(() => source.problem() === undefined);
    const helm = source.find() ?? '';
    assert.match(helm, /tools\/helm$/);
    assert.equal(await readFile(join(dirname(helm), 'builds'), 'utf8'), 'build\n');
  }));

it('says why Helm could not be built, and does not try for ever', () =>
  withGo('echo "no network" >&2; exit 1', async (source) => {
    assert.match(source.problem()?.reason ?? '', /being built/);
    await until(() => /could not be built: no network/.test(source.problem()?.reason ?? ''));
    assert.match(source.problem()?.wayOut ?? '', /put helm 3 on the PATH/);
  }));

it('says what to install where there is neither Helm nor Go', () =>
  withGo(undefined, async (source) => {
    assert.match(source.problem()?.wayOut ?? '', /apt-get install golang-go/);
    await Promise.resolve();
  }));
