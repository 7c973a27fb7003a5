import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { packagedRepository } from '@sheaf/drivers/helm';
import { findHelm } from '../../tools.ts';
import { addonsAreMissing } from '../addon-host.ts';
import { makeBundles } from './bundle-source.ts';
import { lonelinessIsMissing, runLonely } from './lonely-host.ts';

const missing = addonsAreMissing ?? (await lonelinessIsMissing());

it('three add-ons of a bundle come and go on a host without a network, and nothing tries one; a fourth says what it misses', {
  skip: missing ?? false,
}, async () => {
  const helm = await findHelm();
  assert.ok('path' in helm);
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-offline-'));
  try {
    const { shown, repository, registry } = await makeBundles(directory, helm.path);
    const fixed = (text: string): string =>
      text
        .replaceAll(repository, 'REPOSITORY')
        .replaceAll(registry, 'REGISTRY')
        .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
        .replaceAll(/\b[0-9a-f]{16}\b/g, 'ID')
        .replaceAll(/\d+ bytes/g, 'SIZE');
    assert.deepEqual(shown.map(fixed).filter(isNotOfHelm).toSorted(), [
      '  chart    first 1.0.0 of http://harvester-cluster-repo.cattle-system.svc/charts',
      '  chart    second 1.0.0 of REPOSITORY',
      '  chart    third 1.0.0 of oci://registry.example.org/charts',
      '  for      Addon default/first',
      '  for      Addon default/second',
      '  for      chart third-1.0.0.tgz',
      '  image    REGISTRY/test/guest@sha256:DIGEST',
      '  image    registry.example.org/test/guest:latest',
      '  image    registry.example.org/test/third:1',
      `bundle ID for linux/${process.arch === 'x64' ? 'amd64' : process.arch}, SIZE, whole`,
    ]);
    const told = JSON.parse(fixed(await runLonely('./scene.ts', directory))) as Story;
    assert.deepEqual(
      { ...told, loaded: told.loaded.filter(isNotOfHelm).toSorted(), missing: told.missing.split('; ') },
      {
        loaded: [
          'bundle ID: 3 charts, 3 images',
          'loaded ID',
          'loaded the image REGISTRY/test/guest@sha256:DIGEST',
          'loaded the image registry.example.org/test/guest:latest',
          'loaded the image registry.example.org/test/third:1',
          'stored the chart first 1.0.0',
          'stored the chart second 1.0.0',
          'stored the chart third 1.0.0',
        ],
        isLoadedAgain: true,
        listed: 1,
        releases: ['first-1.0.0 deployed', 'second-1.0.0 deployed', 'third-1.0.0 deployed'],
        tries: 0,
        missing: [
          'ContentMissing: its installation begins',
          `the chart fourth 1.0.0 of ${packagedRepository}, which names its images, is not on this host`,
          `${packagedRepository} cannot be reached: dial tcp harvester-cluster-repo.cattle-system.svc:80: getaddrinfo EAI_AGAIN harvester-cluster-repo.cattle-system.svc`,
          'needs someone: load a bundle: sheaf bundle load FILE, made where there is a network with: sheaf bundle create FILE --addon default/fourth',
          'or mend the network: it is looked again each minute',
        ],
        areTriesSeen: true,
      },
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

interface Story {
  readonly loaded: readonly string[];
  readonly missing: string;
}

/** It is stored where the host has none of its own. */
function isNotOfHelm(line: string): boolean {
  return !/\bprogram\b/.test(line);
}
