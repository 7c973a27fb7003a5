import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import type { ContainerImages } from '@sheaf/ports';
import { guestImage } from '@sheaf/testkit/containers/index';
import { findStoredChart } from '../helm/chart-store.ts';
import { type Blob, packImage } from '../podman/archive/image-archive.ts';
import { Registry } from '../podman/archive/registry.fixture.ts';
import { PodmanWorld, podmanIsMissing } from '../podman/podman-world.fixture.ts';
import { systemClock } from '../system/system-clock.ts';
import { archived, chunksOf, digestOf, type HandmadeBundle, handmade, repo } from './bundle.fixture.ts';
import { bundleId } from './bundle-index.ts';
import { DirectoryBundles } from './directory-bundles.ts';
import { hostPlatform } from './host-platform.ts';
import { makeBundle } from './make-bundle.ts';

const { signal } = new AbortController();
const tag = 'registry.example.org/test/one:1';
const bundle = handmade({
  charts: [
    { name: 'web', content: 'chart of web' },
    { name: 'shop', content: 'chart of shop' },
  ],
  images: [guestImage(tag)],
});
const id = bundleId(bundle.index);

describe('bundles of a host', { skip: podmanIsMissing ?? false }, () => {
  let made: Promise<PodmanWorld> | undefined;
  after(async () => {
    await (await made)?.dispose();
  });

  interface Scene {
    readonly directory: string;
    readonly images: ContainerImages;
    /** As after a restart. */
    open(hasHelm?: boolean): DirectoryBundles;
    chart(name: string): Promise<string>;
    world: PodmanWorld;
  }

  async function withHost(use: (scene: Scene) => Promise<void>): Promise<void> {
    made ??= PodmanWorld.make();
    const world = await made;
    const { images, containers } = world.open();
    const directory = await world.makeDirectory('host');
    const charts = join(directory, 'charts');
    const options = {
      charts,
      tools: join(directory, 'tools'),
      images,
      clock: systemClock,
      logger: silentLogger,
    };
    try {
      await use({
        directory,
        images,
        world,
        open: (hasHelm = true) =>
          new DirectoryBundles({
            ...options,
            directory: join(directory, 'bundles'),
            hasProgram: () => hasHelm,
          }),
        chart: async (name) => {
          const path = findStoredChart(charts, { repo, chart: name, version: '1.0.0' });
          return path === undefined ? 'none' : await readFile(path, 'utf8');
        },
      });
    } finally {
      for (const { tags, id: image } of await images.list(signal))
        if (!tags.includes(world.guestTag)) await images.remove(image, signal);
      containers.dispose();
      await rm(directory, { recursive: true, force: true });
    }
  }

  async function load(bundles: DirectoryBundles, content: Uint8Array): Promise<readonly string[]> {
    const words: string[] = [];
    for await (const news of bundles.load(chunksOf(content, 65_536), signal))
      words.push(`${news.step} ${'name' in news ? news.name : news.id}`);
    return words;
  }

  it('are loaded, again with nothing to do, known after a restart, and removed with what is theirs alone', () =>
    withHost(async ({ open, chart, images }) => {
      const bundles = open();
      let changes = 0;
      bundles.onChange(() => changes++);
      const placed = ['chart-stored web 1.0.0', 'chart-stored shop 1.0.0'];
      assert.deepEqual(await load(bundles, archived(bundle)), [
        `received ${id}`,
        ...placed,
        `image-loaded ${tag}`,
        `done ${id}`,
      ]);
      assert.deepEqual((await load(bundles, archived(bundle))).slice(3), [
        `image-present ${tag}`,
        `done ${id}`,
      ]);
      const other = handmade({ charts: [{ name: 'web', content: 'chart of web' }] });
      await load(bundles, archived(other));
      const restarted = open();
      assert.deepEqual(
        restarted.list().map((each) => each.id),
        [id, bundleId(other.index)],
      );
      assert.ok(restarted.hasImage(tag) && !restarted.hasImage('registry.example.org/test/two:1'));
      assert.deepEqual(await restarted.remove(id, signal), { kept: [] });
      assert.deepEqual([await chart('web'), await chart('shop')], ['chart of web', 'none']);
      assert.equal(await images.find(tag, signal), undefined);
      assert.ok(!restarted.hasImage(tag));
      await assert.rejects(restarted.remove(id, signal), /there is no bundle .*sheaf bundle ls/);
      assert.equal(changes, 3);
    }));

  it('have changed nothing when half of one has come, and the next load does not take the first half again', () =>
    withHost(async ({ open, chart, directory, images }) => {
      const whole = archived(bundle);
      // In the middle of the layer, which is the last part.
      await assert.rejects(load(open(), whole.subarray(0, whole.length - 300_000)), /damaged or cut off/);
      assert.deepEqual([await chart('web'), await images.find(tag, signal)], ['none', undefined]);
      const bundles = open();
      assert.deepEqual(bundles.list(), []);
      const incoming = join(directory, 'bundles', 'incoming');
      const kept = (await readdir(incoming)).filter((name) => !name.includes('.'));
      assert.equal(kept.length, bundle.parts.size - 1);
      // What has come whole is not looked at again: a sender could leave it out.
      const [layer] = [...bundle.parts].toReversed();
      assert.ok(layer);
      const rest: HandmadeBundle = { index: bundle.index, parts: new Map([layer]) };
      assert.equal((await load(bundles, archived(rest))).at(-1), `done ${id}`);
      assert.equal(await chart('web'), 'chart of web');
      assert.deepEqual(await readdir(join(directory, 'bundles')), [`${id}.json`]);
    }));

  it('are refused in words: for another platform, without room, while another is loaded, without a part', () =>
    withHost(async ({ open, chart }) => {
      const bundles = open();
      const { index, parts } = bundle;
      const elsewhere = { index: { ...index, platform: 'linux/s390x' }, parts };
      await assert.rejects(
        load(bundles, archived(elsewhere)),
        /made for linux\/s390x, and this host is linux/,
      );
      const huge = {
        index: { ...index, parts: index.parts.map((part) => ({ ...part, bytes: 2 ** 50 })) },
        parts,
      };
      await assert.rejects(
        load(bundles, archived(huge)),
        /needs \d+ bytes while it is loaded, and \d+ are free/,
      );
      const [, ...fewer] = parts;
      await assert.rejects(
        load(bundles, archived({ index, parts: new Map(fewer) })),
        /sha256:\w+ is missing; bring/,
      );
      const first = bundles.load(chunksOf(archived(bundle)), signal);
      await first.next();
      await assert.rejects(load(bundles, archived(bundle)), /another bundle is being loaded; try again/);
      await first.return(undefined);
      assert.equal(await chart('web'), 'none');
      assert.equal((await load(bundles, archived(bundle))).at(-1), `done ${id}`);
    }));

  it('bring Helm to a host that has none', () =>
    withHost(async ({ open, directory }) => {
      const withHelm = archived(handmade({ helm: '#!/bin/sh\n' }));
      const path = join(directory, 'tools', 'helm');
      assert.equal((await load(open(), withHelm)).length, 2);
      await assert.rejects(stat(path), /ENOENT/);
      assert.ok((await load(open(false), withHelm)).includes('program-stored helm v3.22.0'));
      assert.equal((await stat(path)).mode & 0o777, 0o755);
    }));

  it('forget a record that cannot be read, and are loaded anew', () =>
    withHost(async ({ open, directory }) => {
      await load(open(), archived(bundle));
      await writeFile(join(directory, 'bundles', `${id}.json`), '{');
      const bundles = open();
      assert.deepEqual(bundles.list(), []);
      assert.equal((await load(bundles, archived(bundle))).at(-1), `done ${id}`);
      assert.equal(open().list().length, 1);
    }));

  it('carry images as registries have them: by the digest of a list, of an old manifest, and by a tag', () =>
    withHost(async ({ open, directory, images, world }) => {
      const { registry, references } = await openRegistry();
      try {
        const options = {
          helm: 'none',
          chartsDirectory: join(directory, 'none'),
          engineDirectory: world.layout.directory,
          isInsecure: true,
          print: () => undefined,
          signal,
        };
        const wish = { charts: [], images: [...references, world.guestTag], carriesHelm: false };
        const [one, two] = [join(directory, 'one'), join(directory, 'two')];
        const { index } = await makeBundle({ ...wish, path: one }, options);
        await makeBundle({ ...wish, path: two }, options);
        const content = await readFile(one);
        assert.ok(content.equals(await readFile(two)), 'the same content makes the same bytes');
        await assert.rejects(
          makeBundle({ ...wish, path: two }, options),
          /is there already; name another file/,
        );
        await assert.rejects(
          makeBundle({ ...wish, path: join(directory, 'none', 'bundle') }, options),
          /there is no directory .*none; make it first/,
        );
        const absent = {
          ...wish,
          images: [`${registry.address}/test/none:1`],
          path: join(directory, 'three'),
        };
        await assert.rejects(makeBundle(absent, options), /test\/none:1 cannot be had: .*skopeo login/);
        assert.deepEqual((await readdir(directory)).toSorted(), ['one', 'two']);
        await registry.close();
        await load(open(), content);
        for (const { reference } of index.images)
          assert.ok(await images.find(reference, signal), `${reference} is there`);
        assert.deepEqual(
          index.images.map(({ reference }) => reference),
          [...references, world.guestTag].toSorted(),
        );
      } finally {
        await registry.close();
      }
    }));
});

interface ListRegistry {
  readonly registry: Registry;
  readonly references: readonly string[];
}

/** With an image of Docker's format behind a list that has one for another machine, too. */
async function openRegistry(): Promise<ListRegistry> {
  const image = packImage(guestImage('127.0.0.1/test/old:1'));
  const docker = 'application/vnd.docker';
  const config = { ...image.config, mediaType: `${docker}.container.image.v1+json` };
  const layer = { ...image.layer, mediaType: `${docker}.image.rootfs.diff.tar.gzip` };
  const manifestType = `${docker}.distribution.manifest.v2+json`;
  const manifest = blobOf(manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config: descriptor(config),
    layers: [descriptor(layer)],
  });
  const listType = `${docker}.distribution.manifest.list.v2+json`;
  const [os = '', architecture = ''] = hostPlatform().split('/');
  const foreign = { mediaType: manifestType, digest: digestOf(Buffer.from('foreign')), size: 7 };
  const list = blobOf(listType, {
    schemaVersion: 2,
    mediaType: listType,
    manifests: [
      { ...foreign, platform: { os: 'plan9', architecture: 'mips' } },
      { ...descriptor(manifest), platform: { os, architecture } },
    ],
  });
  const images = [
    { ...image, config, layer, manifest },
    { ...image, config, layer, name: '127.0.0.1/test/list:1', manifest: list },
    { ...image, config, layer, name: '127.0.0.1/test/list:inner', manifest },
  ];
  const registry = await Registry.open({ images });
  const { address } = registry;
  const references = [
    `${address}/test/list@${list.digest}`,
    `${address}/test/list:1`,
    `${address}/test/old@${manifest.digest}`,
  ];
  return { registry, references };
}

function blobOf(mediaType: string, value: unknown): Blob {
  const bytes = Buffer.from(JSON.stringify(value));
  return { mediaType, digest: digestOf(bytes), bytes };
}

function descriptor({ mediaType, digest, bytes }: Blob): Record<string, unknown> {
  return { mediaType, digest, size: bytes.length };
}
