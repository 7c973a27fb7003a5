import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readManifest } from './image-manifest.ts';
import { readReference, sourceOf } from './image-reference.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('names of container images', () => {
  const cases: readonly [string, string][] = [
    ['fedora', 'docker://fedora:latest'],
    ['quay.io/containerdisks/fedora:43', 'docker://quay.io/containerdisks/fedora:43'],
    ['localhost:5000/a/b_c--d', 'docker://localhost:5000/a/b_c--d:latest'],
    [`quay.io/a/b:1@${digest}`, `docker://quay.io/a/b@${digest}`],
  ];
  for (const [text, source] of cases)
    it(`${text}: ${source}`, () => assert.equal(sourceOf(readReference(text)), source));

  for (const text of [
    '',
    '--help',
    'a b',
    'docker://a',
    'a:',
    '../a',
    'a@sha256:1',
    'a\n',
    `${'a'.repeat(600)}`,
  ])
    it(`${JSON.stringify(text.slice(0, 20))} is none`, () =>
      assert.throws(() => readReference(text), /is no name of a container image/));
});

describe('manifests', () => {
  it('name layers, lowest first', () => {
    const text = JSON.stringify({ layers: [{ digest, size: 7 }] });
    assert.deepEqual(readManifest(text, 'amd64'), { kind: 'image', layers: [{ digest, bytes: 7 }] });
  });

  it('of several machines name that of this one', () => {
    const of = (architecture: string) => ({ digest, platform: { os: 'linux', architecture } });
    const text = JSON.stringify({ manifests: [{ ...of('arm64'), digest: 'sha256:x' }, of('amd64')] });
    assert.deepEqual(readManifest(text, 'amd64'), { kind: 'elsewhere', digest });
    assert.throws(() => readManifest(text, 's390x'), /none of it for linux\/s390x/);
  });

  const hostile: readonly [string, RegExp][] = [
    ['no', /is no JSON/],
    ['[]', /is not a manifest/],
    ['{"schemaVersion":1,"fsLayers":[]}', /form of the registry that is not known/],
    ['{"layers":[{"digest":"sha256:../../x","size":1}]}', /is no digest/],
    [`{"layers":[{"digest":"${digest}","size":-1}]}`, /has no size/],
    [
      JSON.stringify({ layers: Array.from({ length: 600 }, () => ({ digest, size: 1 })) }),
      /more than 512 layers/,
    ],
  ];
  for (const [text, words] of hostile)
    it(`${text.slice(0, 40)} is refused`, () => assert.throws(() => readManifest(text, 'amd64'), words));
});
