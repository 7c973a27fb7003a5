import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TarEntry } from '../podman/archive/tar.ts';
import { archived, chunksOf, digestOf, handmade } from './bundle.fixture.ts';
import { bundleId } from './bundle-index.ts';
import { openBundle } from './bundle-reader.ts';

const bundle = handmade({ charts: [{ name: 'web', content: 'chart' }] });
const [chart] = bundle.index.charts;
assert.ok(chart);

/** What comes of reading all of it: its parts, or the refusal. */
async function read(content: Uint8Array): Promise<string> {
  try {
    const { parts } = await openBundle(chunksOf(content, 700));
    const texts: string[] = [];
    for await (const part of parts) {
      let text = '';
      for await (const chunk of part.content()) text += Buffer.from(chunk).toString();
      texts.push(text);
    }
    return texts.join(',');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function indexed(changes: object): Buffer {
  return archived(bundle, { index: { ...bundle.index, ...changes } });
}

describe('a bundle', () => {
  it('is read with its parts; the same content has the same id', async () => {
    assert.equal(await read(archived(bundle)), 'chart');
    assert.equal(
      bundleId(handmade({ charts: [{ name: 'web', content: 'chart' }] }).index),
      bundleId(bundle.index),
    );
    assert.notEqual(
      bundleId(handmade({ charts: [{ name: 'web', content: 'other' }] }).index),
      bundleId(bundle.index),
    );
  });

  const further = (entry: TarEntry): Buffer => archived(bundle, { further: [entry] });
  const other = `sha256:${'a'.repeat(64)}`;
  const refused: readonly [string, Uint8Array, RegExp][] = [
    [
      'a text',
      Buffer.from('no archive '.repeat(100)),
      /no bundle that can be loaded: it does not begin as one/,
    ],
    ['nothing', new Uint8Array(), /no bundle that can be loaded: it does not begin/],
    [
      'another archive',
      archived({ index: bundle.index, parts: new Map() }).subarray(1024),
      /does not begin with bundle.json/,
    ],
    ['no JSON', archived(bundle, { index: undefined }).fill(0x20, 512, 700), /bundle.json is no JSON/],
    [
      'a later format',
      indexed({ formatVersion: 2 }),
      /its format has the version 2, and this Sheaf knows 1; make it again/,
    ],
    [
      'a chart that leads outside',
      indexed({ charts: [{ ...chart, chart: '../../etc/x' }] }),
      /chart is "..\/..\/etc\/x"/,
    ],
    ['a version that leads outside', indexed({ charts: [{ ...chart, version: '1/../2' }] }), /version is/],
    [
      'an image that is an option',
      indexed({ images: [{ reference: '--all', digest: other, mediaType: 'x', parts: [] }] }),
      /reference is "--all"/,
    ],
    [
      'a program of its own',
      indexed({ programs: [{ name: 'sh', version: '1', digest: chart.digest }] }),
      /holds the program "sh", which Sheaf does not use/,
    ],
    [
      'a chart without its part',
      indexed({ charts: [{ ...chart, digest: other }] }),
      /names sha256:a+, which is no part of it/,
    ],
    [
      'a part twice',
      indexed({ parts: [...bundle.index.parts, ...bundle.index.parts] }),
      /names a part twice/,
    ],
    ['a size that is none', indexed({ parts: [{ digest: chart.digest, bytes: -1 }] }), /has the size -1/],
    [
      'a path that leads outside',
      further({ path: '../evil', content: Buffer.from('x') }),
      /holds "\.\.", which its index does not name/,
    ],
    ['a file besides', further({ path: 'run.sh', content: Buffer.from('x') }), /holds "run.sh"/],
    [
      'a link',
      further({ path: `blobs/sha256/${chart.digest.slice(7)}`, target: '/etc/passwd' }),
      /which its index does not name/,
    ],
    ['another size', indexed({ parts: [{ digest: chart.digest, bytes: 6 }] }), /has 5 bytes instead of 6/],
    [
      'another content',
      archived({ index: bundle.index, parts: new Map([[chart.digest, Buffer.from('CHART')]]) }),
      new RegExp(
        `${chart.digest} has the content of ${digestOf(Buffer.from('CHART'))}; bring the file again`,
      ),
    ],
    ['half of it', archived(bundle).subarray(0, 2100), /damaged or cut off/],
  ];
  for (const [what, content, words] of refused)
    it(`is refused with ${what}`, async () => assert.match(await read(content), words));
});
