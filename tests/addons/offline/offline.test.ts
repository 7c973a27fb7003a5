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
    const repository = await makeBundles(directory, helm.path);
    const told = fixed(await runLonely('./scene.ts', directory)).replaceAll(repository, 'REPOSITORY');
    const story = JSON.parse(told) as Story;
    assert.deepEqual(
      {
        ...story,
        loaded: story.loaded.filter(isNotOfHelm).toSorted(),
        shown: story.shown.toSorted(),
        missing: story.missing.split('; '),
      },
      {
        loaded: [
          'bundle ID: 3 charts, 3 images',
          'loaded ID',
          'loaded the image registry.example.org/test/guest:latest',
          'loaded the image registry.example.org/test/third:1',
          'stored the chart first 1.0.0',
          'stored the chart second 1.0.0',
          'stored the chart third 1.0.0',
          'the image registry.example.org/test/third@sha256:DIGEST is there already',
        ],
        releases: ['first-1.0.0 deployed', 'second-1.0.0 deployed', 'third-1.0.0 deployed'],
        shown: [
          `  chart    first 1.0.0 of ${packagedRepository}`,
          '  chart    third 1.0.0 of oci://registry.example.org/charts',
          '  for      Addon default/first',
          '  for      Addon default/third',
          '  image    registry.example.org/test/guest:latest',
          '  image    registry.example.org/test/third:1',
          'bundle ID for PLATFORM, SIZE, whole',
        ],
        tries: 0,
        missing: [
          'ContentMissing: its installation begins',
          `the chart fourth 1.0.0 of ${packagedRepository}, which names its images, is not on this host`,
          `${packagedRepository} cannot be reached: dial tcp harvester-cluster-repo.cattle-system.svc:80: getaddrinfo EAI_AGAIN harvester-cluster-repo.cattle-system.svc`,
          'needs someone: load a bundle: sheaf bundle load FILE, made where there is a network with: sheaf bundle create FILE --addon default/fourth',
          'or mend the network: it is looked again each minute',
        ],
        areTriesSeen: true,
        // All of them are one image under several names, which the other bundle has, too.
        removed: [
          'removed ID',
          'the image registry.example.org/test/third:1 stays: a pod or another bundle needs it',
          'the image registry.example.org/test/third@sha256:DIGEST stays: a pod or another bundle needs it',
        ],
        left: 1,
      },
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

interface Story {
  readonly loaded: readonly string[];
  readonly shown: readonly string[];
  readonly missing: string;
}

/** What differs from run to run. */
function fixed(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
    .replaceAll(/\b[0-9a-f]{16}\b/g, 'ID')
    .replaceAll(/linux\/\w+, \d+ bytes/g, 'PLATFORM, SIZE');
}

/** It is stored where the host has none of its own. */
function isNotOfHelm(line: string): boolean {
  return !/\bprogram\b/.test(line);
}
